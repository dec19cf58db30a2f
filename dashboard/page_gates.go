// Gates and what they require, money, and time limits.

package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// maxChecks bounds the checklists of gates on the overview, in items.
const maxChecks = 200

// gates shows how every gate stands, and what closed ones lack.
func (v *view) gates() block {
	si := v.s.Sight
	st := si.View.State
	b := block{ID: "gates", Title: "Gates"}
	if len(si.Gates) == 0 {
		b.Empty = "No phase has a gate."
		return b
	}
	t := &table{Head: []string{"Gate", "Out of phase", "Status", "If asked now"}}
	phaseOf := gatePhases(si.View.Config)
	left, folded := maxChecks, 0
	for _, g := range si.Gates {
		if len(t.Rows) == pageSize {
			b.All = text(fmt.Sprintf("and %d more gates", len(si.Gates)-pageSize))
			break
		}
		now := toned("would pass", good)
		switch {
		case g.Status == "passed":
			now = cell{}
		case g.Result.BlockedByHuman || g.Result.Passed && g.HumanNeeded:
			now = toned("a person decides", warn)
		case !g.Result.Passed:
			now = toned("would not pass", bad)
		}
		t.Rows = append(t.Rows, []cell{gateLink(g.ID), text(phaseOf[g.ID]), standing(cmp.Or(g.Status, "pending")),
			now})
		if g.Status != "passed" && st.Status != wire.StatusCompleted {
			// The page stays short: of many gates only the one before the run counts.
			list := v.checklist(g, phaseOf[g.ID])
			if list.Folded && len(list.Tree) > left {
				folded++
				continue
			}
			left -= len(list.Tree)
			b.Parts = append(b.Parts, list)
		}
	}
	b.Table = t
	if folded > 0 {
		b.Parts = append(b.Parts, block{ID: "gates-later", Note: "What " + counted(folded,
			"other gate asks for is shown when its phase is reached.",
			"other gates ask for is shown when their phases are reached.")})
	}
	if f := si.View.State.LastGateFailure; f != nil {
		b.Note = "Last refused: " + plain(strings.Join(append([]string{wire.OrEmpty(f.GateID) + "."}, f.Reasons...), " "))
	}
	return b
}

// gatePhases maps each gate to the phase that it ends.
func gatePhases(cfg *config.Config) map[string]string {
	out := map[string]string{}
	for _, p := range cfg.Phases() {
		if r := cfg.Route(p); r != nil && out[r.ExitGate] == "" {
			out[r.ExitGate] = p
		}
	}
	return out
}

// checklist returns what a gate requires, and whether it is there. The gate of a later phase is
// folded: its work has not begun.
func (v *view) checklist(g gate.Standing, phase string) block {
	cfg, st := v.s.Sight.View.Config, v.s.Sight.View.State
	b := block{ID: "gate-" + g.ID, Title: "What " + plain(g.ID) + " asks for", Folded: phase != st.Phase}
	add := func(mark cell, what cell) { b.Tree = append(b.Tree, item{Cells: []cell{mark, what}}) }
	told := map[string]bool{}
	for _, f := range g.Result.Findings {
		if f.Path == "" || len(b.Tree) >= pageSize {
			continue
		}
		told[f.Path] = true
		mark := toned("not in order", warn)
		if slices.Contains(g.Result.MissingFiles, f.Path) {
			mark = toned("missing", bad)
		}
		add(mark, text(f.Reason))
	}
	for _, path := range gates.Files(cfg, phase) {
		if !told[path] && len(b.Tree) < pageSize {
			add(toned("there", good), code(path))
		}
	}
	for _, f := range g.Result.Findings {
		if f.Path == "" && len(b.Tree) < pageSize {
			add(toned("open", warn), text(f.Reason))
		}
	}
	if g.HumanNeeded {
		who := "the approval of a person"
		if g.Credentialed {
			who += "; no rule can give it"
		}
		if rule := cfg.GateRule(g.ID); rule != nil {
			who += ": " + approvers(rule)
		}
		mark := toned("open", warn)
		if passed, _ := st.PhaseGateStatus.Get(g.ID); passed == wire.GatePassed {
			mark = toned("given", good)
		}
		add(mark, text(who))
		if agentrun.HasPending(st) && phase == st.Phase {
			given, dropped := v.s.Sight.Approvals, v.s.Sight.Dropped
			for _, vote := range given[:min(len(given), pageSize)] {
				proof := ", unsigned"
				if vote.Statement != "" {
					proof = ", signed with " + vote.KeyID
				}
				add(toned("given", good), text("approved by "+vote.Principal+proof))
			}
			for _, vote := range dropped[:min(len(dropped), pageSize)] {
				add(toned("no longer", warn), text(vote.Principal+": what they approved has changed since"))
			}
			for _, l := range v.s.Sight.Lapsed[:min(len(v.s.Sight.Lapsed), pageSize)] {
				add(toned("no longer", warn), text(l.Why.Message))
			}
		}
	}
	if len(b.Tree) == 0 {
		b.Empty = "Nothing."
	}
	return b
}

// approvers says whose approval a gate needs, by its rule if it has one.
func approvers(r *config.GateRule) string {
	if r == nil {
		return "a person"
	}
	who := r.People()
	if r.Threshold > 1 {
		who = fmt.Sprintf("%d of %s", r.Threshold, who)
	}
	if r.Signed {
		who += ", signed"
	}
	return who
}

// spent returns what the run cost, and of what budget.
func (v *view) spent() string {
	b := v.s.Sight.View.State.BudgetStatus
	if b.SpentUSD == 0 {
		return agentrun.SpentText(0)
	}
	if b.RemainingUSD == nil {
		return dollars(b.SpentUSD)
	}
	return dollars(b.SpentUSD) + " of " + dollars(b.SpentUSD+*b.RemainingUSD)
}

// cost returns what was spent, by role and by phase, and whose time it took.
func (v *view) cost() block {
	st, d := v.s.Sight.View.State, v.drawing("")
	b := block{ID: "cost", Title: "Cost and time", Facts: []fact{
		{"Spent", text(v.spent())},
		{"Agents worked", text(timeline.Lasting(d.Total().Worked))},
		{"People waited for", text(timeline.Lasting(d.Waited()))},
	}}
	if left := st.BudgetStatus.RemainingUSD; left != nil {
		limit := st.BudgetStatus.SpentUSD + *left
		b.Facts = append(b.Facts, fact{"Left", text(strings.TrimSuffix(agentrun.LeftText(*left), " left"))})
		b.Meter = newMeter("", st.BudgetStatus.SpentUSD, limit)
		b.Meter.Label = v.spent()
		if st.BudgetStatus.SpentUSD > 0 {
			b.Meter.Label += " spent, " + b.Meter.Percent()
		}
	} else {
		b.Note = "The run has no budget."
	}
	for _, x := range [...]struct {
		of   string
		sums []timeline.Sum
	}{{"Role", d.ByRole()}, {"Phase", d.ByPhase()}} {
		if len(x.sums) == 0 {
			continue
		}
		t := &table{Head: []string{x.of, "Turns", "Retries", "Worked", "Tokens in", "Tokens out", "Cost"}}
		for _, s := range x.sums[:min(len(x.sums), 20)] {
			cost := ""
			if s.USD > 0 { // else none was reported
				cost = dollars(s.USD)
			}
			t.Rows = append(t.Rows, []cell{text(s.Name), value(s.Turns), value(s.Retries),
				text(timeline.Lasting(s.Worked)), value(s.InputTokens), value(s.OutputTokens), text(cost)})
		}
		b.Parts = append(b.Parts, block{
			ID:     "cost-" + strings.ToLower(x.of),
			Title:  "By " + strings.ToLower(x.of),
			Folded: true,
			Table:  t,
		})
	}
	if n := st.BudgetReservations.Len(); n > 0 {
		sum := 0.0
		for _, r := range st.BudgetReservations.All() {
			f, ok := r.Float("reserved_usd")
			if !ok {
				f, _ = r.Float("usd")
			}
			sum += f
		}
		b.Facts = append(b.Facts, fact{"Reserved", text(dollars(sum) + " for " + counted(n, "turn", "turns"))})
	}
	return b
}

// limits returns the configured time limits.
func (v *view) limits() *block {
	si := v.s.Sight
	if si.View.State.Status == wire.StatusCompleted || si.View.State.Status == wire.StatusIdle {
		return nil
	}
	list := limits.TimeoutBudgets(si.View.Config, si.View.State, si.View.State.OnlyTurn(), v.Now)
	if len(list) == 0 {
		return nil
	}
	b := &block{
		ID:    "limits",
		Title: "Limits of time",
		Table: &table{Head: []string{"Limit", "Allowed", "Used", "Left", "Then"}},
	}
	for _, t := range list {
		left := text(lasting(time.Duration(t.RemainingSeconds) * time.Second))
		if t.Exceeded {
			left = toned("exceeded", bad)
		}
		b.Table.Rows = append(b.Table.Rows, []cell{text(strings.TrimSpace(t.Scope + " " + t.Phase)),
			text(fmt.Sprintf("%g min", t.LimitMinutes)), text(fmt.Sprintf("%d min", t.ElapsedMinutes)), left,
			text(words(t.Action))})
	}
	return b
}
