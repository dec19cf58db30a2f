// A state written by another tool, checked against the ledger rows that came with it.

package external

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeStateTampered means that the state says something that no record supports.
const CodeStateTampered = "state_tampered"

// Check says whether the rows that another tool appended since before account for the state it wrote
// (docs/compatibility.md#what-accounts-for-a-state). Another runner that moves a run records that in the event log
// and in history; an edit of state.json alone, which would silently open a gate, lift a block, drop a turn or set a
// clock back, is refused. Each member of the state has its own rule. The order of the steps in between is unknown,
// so Check only asks for what must leave a trace. Both states belong to the same run and are repaired.
func Check(before, after *run.State, appended run.LedgerReader) *wire.Error {
	if before.Run() != after.Run() || before.Run() == "" {
		return nil
	}
	w := newWitness(after.Run(), appended)
	was, is := ojson.Marshal(before), ojson.Marshal(after)
	for _, m := range memberRules() {
		if bytes.Equal(ojson.Compact(was.Value(m.name)), ojson.Compact(is.Value(m.name))) {
			continue
		}
		if field, why := m.rule(w, before, after); why != "" {
			if field == "" {
				field = m.name
			}
			return &wire.Error{Code: CodeStateTampered, Field: field, Message: why}
		}
	}
	return nil
}

// witness is what the rows say that came with a state.
type witness struct {
	rows    bool                       // any row of the run, in any ledger
	events  map[string][]*ojson.Object // by kind, whole rows
	history map[string]*ojson.Object   // the row that ended a turn, by turn
	turns   map[string]bool            // turns named by an event or a row of history
	skips   []*ojson.Object            // phases a timeout moved the run out of; the reference writes no event then
}

func newWitness(id string, ledgers run.LedgerReader) *witness {
	w := &witness{
		events:  make(map[string][]*ojson.Object),
		history: make(map[string]*ojson.Object),
		turns:   make(map[string]bool),
	}
	for _, l := range wire.Ledgers() {
		for line := range ledgers(l) {
			if of := line.Row.String("run_id"); of != "" && of != id {
				continue
			}
			w.rows = true
			switch l {
			case wire.LedgerEvents:
				w.event(line.Row)
			case wire.LedgerHistory:
				turn := line.Row.String("turn_id")
				w.history[turn], w.turns[turn] = line.Row, true
			case wire.LedgerDecisions:
				if line.Row.String("type") == "timeout_skip" {
					w.skips = append(w.skips, line.Row)
				}
			}
		}
	}
	return w
}

func (w *witness) event(row *ojson.Object) {
	kind := row.String("event_type")
	w.events[kind] = append(w.events[kind], row)
	payload := row.Object("payload")
	for _, id := range []string{row.Object("turn").String("turn_id"), payload.String("turn_id"),
		payload.String("new_turn_id"),
		payload.String("old_turn_id")} {
		if id != "" {
			w.turns[id] = true
		}
	}
}

// told reports whether the rows have an event of one of the kinds.
func (w *witness) told(kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return len(w.events[k]) > 0 })
}

// worked reports whether the rows have an event of a turn, or of what becomes of its work.
func (w *witness) worked() bool {
	return len(w.turns) > 0 || w.told("phase_cleanup", "turn_checkpointed", "state_reconciled_operator_commits")
}

// leads reports whether the recorded steps can have moved the run from one phase to another.
func (w *witness) leads(from, to string) bool {
	type step struct{ from, to string }
	var steps []step
	for _, e := range w.events["phase_entered"] {
		p := e.Object("payload")
		steps = append(steps, step{p.String("from"), p.String("to")})
	}
	for _, s := range w.skips {
		steps = append(steps, step{s.String("from_phase"), s.String("to_phase")})
	}
	seen := map[string]bool{from: true}
	for grown := true; grown && !seen[to]; {
		grown = false
		for _, s := range steps {
			// Rows of older versions do not name the phase before.
			if (s.from == "" || seen[s.from]) && s.to != "" && !seen[s.to] {
				seen[s.to], grown = true, true
			}
		}
	}
	return seen[to]
}

// passed reports whether an event or a row says that a gate was passed.
func (w *witness) passed(gate string) bool {
	for _, e := range w.events["phase_entered"] {
		if e.Object("payload").String("gate_id") == gate {
			return true
		}
	}
	for _, e := range w.events["gate_approved"] {
		p := e.Object("payload")
		if g := p.String("gate_id"); g == gate || g == "" {
			return true // the reference does not name the gate of a completion
		}
	}
	return w.told("run_completed")
}

// CheckAdopted says whether a run that another tool began, and of which nothing is recorded, is accounted for by
// its own rows from its start: an event says that it began, and whatever it claims beyond an idle run in its first
// phase has left a trace.
func CheckAdopted(c *config.Config, after *run.State, ledgers run.LedgerReader) *wire.Error {
	own := func(l wire.Ledger) iter.Seq[run.Line] {
		return func(yield func(run.Line) bool) {
			for line := range ledgers(l) {
				// Rows that name no run may be of an earlier one; the reference omits the run from some decisions.
				of := line.Row.String("run_id")
				if of == after.Run() || of == "" && l == wire.LedgerDecisions {
					if !yield(line) {
						return
					}
				}
			}
		}
	}
	refuse := func(format string, args ...any) *wire.Error {
		return &wire.Error{
			Code:    CodeStateTampered,
			Field:   "run_id",
			Message: fmt.Sprintf("run %s ", after.Run()) + fmt.Sprintf(format, args...),
		}
	}
	w := newWitness(after.Run(), own)
	if !w.told(run.EventRunStarted) {
		return refuse("is in phase %q, and no event says that it began.", after.Phase)
	}
	before := run.FreshState(c, after.ProjectID)
	before.RunID = after.RunID
	before, _ = run.RepairState(before, c)
	if err := Check(before, after, own); err != nil {
		return err
	}
	if len(w.history) == 0 && after.Phase != before.Phase && len(w.skips) == 0 {
		return refuse("is in phase %q, and history has no turn of it.", after.Phase)
	}
	if id := wire.OrEmpty(after.LastCompletedTurnID); id != "" && w.history[id] == nil {
		return refuse("names %s as its last turn, and history has no such turn.", id)
	}
	return nil
}
