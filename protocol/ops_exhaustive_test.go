// Every interleaving of three agents and six kinds of operations, up to a depth, keeps the invariants.

package protocol

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// invariants are those of docs/durability.md; checked also checks each operation against its own (a function of its
// record, which is replay; an index that follows from the ledgers; what was spent).
var invariants = map[string]func(before, after *opsWorld, op Operation, tr *change.Transition) string{
	"ledgers only grow": func(before, after *opsWorld, _ Operation, tr *change.Transition) string {
		for l, was := range before.ledgers {
			now := bytes.Split(after.ledgers[l], []byte("\n"))
			for i, line := range bytes.Split(bytes.TrimSuffix(was, []byte("\n")), []byte("\n")) {
				amended := slices.ContainsFunc(tr.Amends,
					func(a ledger.Amend) bool { return a.Ledger == l && bytes.Equal(a.Old, line) })
				if i >= len(now) || !bytes.Equal(now[i], line) && !amended {
					return fmt.Sprintf("line %d of %s changed", i+1, l)
				}
			}
		}
		return ""
	},
	"a turn is accepted once": func(_, after *opsWorld, _ Operation, _ *change.Transition) string {
		seen := make(map[string]bool)
		for _, row := range after.rows(wire.LedgerHistory) {
			if id := row.String("turn_id"); run.AcceptedRow(row, after.state.Run()) {
				if seen[id] {
					return id + " is accepted twice"
				}
				seen[id] = true
			}
		}
		return ""
	},
	"an accepted turn is not active": func(_, after *opsWorld, _ Operation, _ *change.Transition) string {
		for _, row := range after.rows(wire.LedgerHistory) {
			if id := row.String("turn_id"); run.AcceptedRow(row, after.state.Run()) &&
				after.state.ActiveTurns.Has(id) {
				return id + " is both"
			}
		}
		return ""
	},
	"a gate opens on its evidence": func(before, after *opsWorld, op Operation, _ *change.Transition) string {
		if before.state.Run() != after.state.Run() || before.state.Phase == after.state.Phase &&
			(after.state.Status != wire.StatusCompleted || before.state.Status == wire.StatusCompleted) {
			return ""
		}
		gate := after.cfg.Gate(after.cfg.Route(before.state.Phase).ExitGate)
		for _, p := range gate.RequiresFiles {
			if _, ok := before.work[p]; !ok {
				return "it opened without " + p
			}
		}
		if gate.RequiresHuman &&
			!slices.Contains([]string{(&ApprovePhase{}).Name(), (&ApproveCompletion{}).Name()}, op.Name()) {
			return "it opened by " + op.Name()
		}
		return ""
	},
	"an empty budget gives nothing out": func(before, after *opsWorld, _ Operation, _ *change.Transition) string {
		left := before.state.BudgetStatus.RemainingUSD
		if left != nil && *left <= 0 && after.state.ActiveTurns.Len() > before.state.ActiveTurns.Len() {
			return fmt.Sprintf("a turn with %v left", *left)
		}
		return ""
	},
	"what was spent stays spent": func(before, after *opsWorld, _ Operation, _ *change.Transition) string {
		if before.state.Run() == after.state.Run() &&
			after.state.BudgetStatus.SpentUSD < before.state.BudgetStatus.SpentUSD {
			return fmt.Sprint(before.state.BudgetStatus.SpentUSD, after.state.BudgetStatus.SpentUSD)
		}
		return ""
	},
	"a blocked run gives nothing out": func(before, after *opsWorld, _ Operation, _ *change.Transition) string {
		if before.state.Status == wire.StatusBlocked && after.state.Status == wire.StatusBlocked &&
			after.state.ActiveTurns.Len() > before.state.ActiveTurns.Len() {
			return "it gave a turn out"
		}
		return ""
	},
}

// clone returns an independent copy of the world.
func (w *opsWorld) clone() *opsWorld {
	c := *w
	c.ledgers, c.files, c.work, c.staged = maps.Clone(w.ledgers), maps.Clone(w.files), maps.Clone(w.work),
		maps.Clone(w.staged)
	for l := range c.ledgers {
		c.ledgers[l] = slices.Clip(c.ledgers[l])
	}
	c.revs = slices.Clip(w.revs)
	return &c
}

var drawn = regexp.MustCompile(
	`(turn|run|esc|hesc|gate|sess|evt)_[0-9a-f]{8,}|[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// key is the same for worlds that differ only in names and times.
func (w *opsWorld) key() string {
	names := make(map[string]string)
	text := string(w.state.Encode()) + string(w.index.Encode())
	for _, id := range slices.Sorted(maps.Keys(w.staged)) {
		text += "staged " + id
	}
	return drawn.ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s, "T") && strings.Contains(s, ":") {
			return "time"
		}
		if names[s] == "" {
			names[s] = fmt.Sprintf("#%d", len(names))
		}
		return names[s]
	})
}

// moves returns what three agents and the person can ask for: six kinds of operations.
func (w *opsWorld) moves() map[string]func(*opsWorld) Operation {
	out := map[string]func(*opsWorld) Operation{
		"approve":  func(w *opsWorld) Operation { return w.approval() },
		"escalate": func(*opsWorld) Operation { return &Escalate{Reason: "look"} },
		"unblock":  func(*opsWorld) Operation { return &Reactivate{Reason: "looked"} },
	}
	for _, role := range []string{"pm", "dev", "qa"} {
		out["assign "+role] = func(w *opsWorld) Operation { return w.assignment(role) }
	}
	for i, id := range w.state.ActiveTurns.Keys() {
		out[fmt.Sprintf("accept %d", i)] = func(w *opsWorld) Operation {
			w.stage(id, "cost", ojson.NewObject("usd", 0.4))
			return w.acceptance(id)
		}
		out[fmt.Sprintf("accept %d and ask", i)] = func(w *opsWorld) Operation {
			ask := []any{"cost", ojson.NewObject("usd", 0.4), "phase_transition_request",
				w.cfg.NextPhase(w.state.Phase)}
			if w.cfg.NextPhase(w.state.Phase) == "" {
				ask = []any{"cost", ojson.NewObject("usd", 0.4), "run_completion_request", true}
			}
			w.stage(id, ask...)
			return w.acceptance(id)
		}
		out[fmt.Sprintf("reject %d", i)] = func(w *opsWorld) Operation { return w.rejection(id, "thin") }
	}
	return out
}

// TestExhaustive visits every reachable state once, and tries every operation in it.
func TestExhaustive(t *testing.T) {
	testrepo.Thorough(t)
	depth := 3
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		depth = 6
	}
	for _, evidence := range []bool{false, true} {
		w := startedWorld(t, func(cfg *ojson.Object) {
			set(cfg, "budget",
				obj(`{"per_run_max_usd": 1, "per_turn_max_usd": 0.5, "on_exceed": "pause_and_escalate"}`))
			set(cfg, "rules.max_turn_retries", 1)
		})
		if evidence {
			w.write("docs/plan.md", "plan")
			w.write("docs/build.md", "build")
			w.commit()
		}
		seen, wave := map[string]bool{w.key(): true}, []*opsWorld{w}
		applied, refused := 0, 0
		for range depth {
			var next []*opsWorld
			for _, from := range wave {
				moves := from.moves()
				for _, name := range slices.Sorted(maps.Keys(moves)) {
					to := from.clone()
					op := moves[name](to)
					if op == nil {
						continue
					}
					before := to.clone()
					tr, err := to.apply(op)
					applied++
					if err != nil {
						refused++
						continue
					}
					for what, broken := range invariants {
						if why := broken(before, to, op, tr); why != "" {
							t.Fatalf("%s: %s, after %s in %s", what, why, name, before.state.Encode())
						}
					}
					if k := to.key(); !seen[k] {
						seen[k] = true
						next = append(next, to)
					}
				}
			}
			wave = next
		}
		t.Logf("evidence %v: %d states to depth %d, %d operations, %d of them refused", evidence, len(seen), depth,
			applied, refused)
		if len(seen) < 50 || refused == 0 {
			t.Errorf("only %d states, %d refusals", len(seen), refused)
		}
	}
}

// TestInvariantsTell violates each of them by hand.
func TestInvariantsTell(t *testing.T) {
	w := startedWorld(t, func(cfg *ojson.Object) {
		set(cfg, "budget", obj(`{"per_run_max_usd": 1, "per_turn_max_usd": 0.5, "on_exceed": "pause_and_escalate"}`))
	})
	turn := w.assign("pm")
	before := w.clone()
	w.stage(turn.TurnID, "cost", ojson.NewObject("usd", 0.4))
	op := w.acceptance(turn.TurnID)
	tr := w.must(op)
	alter := func(w *opsWorld, change func(s *run.State)) {
		w.state = w.state.Clone()
		change(w.state)
	}
	for what, change := range map[string]func(before, after *opsWorld){
		"ledgers only grow": func(_, after *opsWorld) {
			after.ledgers[wire.LedgerEvents] = after.ledgers[wire.LedgerEvents][1:]
		},
		"a turn is accepted once": func(_, after *opsWorld) {
			h := after.ledgers[wire.LedgerHistory]
			after.ledgers[wire.LedgerHistory] = append(slices.Clone(h), h...)
		},
		"an accepted turn is not active": func(before, after *opsWorld) { after.state = before.state },
		"a gate opens on its evidence": func(_, after *opsWorld) {
			alter(after, func(s *run.State) { s.Phase = "build" })
		},
		"an empty budget gives nothing out": func(before, after *opsWorld) {
			*before, *after = *after, *before
			alter(before, func(s *run.State) { s.BudgetStatus.RemainingUSD = new(0.0) })
		},
		"what was spent stays spent": func(_, after *opsWorld) {
			alter(after, func(s *run.State) { s.BudgetStatus.SpentUSD = -1 })
		},
		"a blocked run gives nothing out": func(before, after *opsWorld) {
			*before, *after = *after, *before
			for _, w := range []*opsWorld{before, after} {
				alter(w, func(s *run.State) { s.Status = wire.StatusBlocked })
			}
		},
	} {
		b, a := before.clone(), w.clone()
		if why := invariants[what](b, a, op, tr); why != "" {
			t.Errorf("%s: %s", what, why)
		}
		change(b, a)
		if invariants[what](b, a, op, tr) == "" {
			t.Errorf("%s: it is broken, and that is not told", what)
		}
	}
}
