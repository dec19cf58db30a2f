// Comparing two runs by run-history.jsonl (docs/reports.md#diff).

package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// Find returns the last row of the run that ref identifies: its whole id, or a unique prefix. A run has a row for
// each time it was blocked.
//
// Errors: not_found; invalid_argument when several runs begin like that.
func Find(rows []*ojson.Object, ref string) (*ojson.Object, error) {
	if row := run.RunHistoryRow(rows, ref); row != nil {
		return row, nil
	}
	var found []string
	for _, row := range slices.Backward(rows) {
		if id := row.String("run_id"); ref != "" && strings.HasPrefix(id, ref) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return run.RunHistoryRow(rows, found[0]), nil
	case 0:
		return nil, &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "run_id",
			Message: fmt.Sprintf("No run in the history is called %.80s.", ref),
			Hint:    "git agentxchain status names the current run; .agentxchain/run-history.jsonl has those that were blocked or completed",
		}
	}
	shown := found[:min(len(found), 5)]
	return nil, &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "run_id",
		Message: fmt.Sprintf("%.80s is the beginning of %d runs: %s.", ref, len(found), strings.Join(shown, ", ")),
		Hint:    "give more of the id",
		Details: ojson.NewObject("matches", found),
	}
}

// side returns the compared part of a run.
func side(row *ojson.Object) *ojson.Object {
	retro := row.Object("retrospective")
	trigger := "legacy"
	if p := restore.Provenance(row.Value("provenance")); p != nil {
		trigger = p.String("trigger")
	}
	next := ojson.OrNull(retro.String("next_operator_action"))
	if next == nil {
		next = ojson.OrNull(retro.String("follow_on_hint"))
	}
	var roles []string
	for _, r := range row.Strings("roles_used") {
		if r = strings.TrimSpace(r); r != "" {
			roles = append(roles, r)
		}
	}
	gates := row.Object("gate_results")
	if gates == nil {
		gates = &ojson.Object{}
	}
	return ojson.NewObject("run_id", ojson.OrNull(row.String("run_id")), "status", ojson.OrNull(row.String("status")),
		"trigger", trigger, "template", ojson.OrNull(row.String("template")),
		"connector_used", ojson.OrNull(row.String("connector_used")),
		"model_used", ojson.OrNull(row.String("model_used")),
		"blocked_reason", ojson.OrNull(row.String("blocked_reason")), "next_action", next,
		"headline", ojson.OrNull(retro.String("headline")), "inheritable", run.Inheritable(row),
		"total_turns", numeric(row, "total_turns"), "decisions_count", numeric(row, "decisions_count"),
		"total_cost_usd", numeric(row, "total_cost_usd"), "budget_limit_usd", numeric(row, "budget_limit_usd"),
		"duration_ms", numeric(row, "duration_ms"), "phases_completed", names(row.Strings("phases_completed")),
		"roles_used", names(roles), "gate_results", gates, "recorded_at", ojson.OrNull(row.String("recorded_at")))
}

// Runs compares two rows of run-history.jsonl: {changed, left, right,
// scalar_changes, numeric_changes, list_changes, gate_changes, regressions,
// regression_count, has_regressions, summary}.
func Runs(leftRow, rightRow *ojson.Object) *ojson.Object {
	l, r := side(leftRow), side(rightRow)
	scalar := scalars(l, r, []field{
		{"status", "Status"},
		{"trigger", "Trigger"},
		{"template", "Template"},
		{"connector_used", "Connector"},
		{"model_used", "Model"},
		{"blocked_reason", "Blocked reason"},
		{"next_action", "Next action"},
		{"headline", "Headline"},
		{"inheritable", "Inheritance snapshot"},
	})
	numeric := numbers(l, r, []field{
		{"total_turns", "Turns"},
		{"decisions_count", "Decisions"},
		{"total_cost_usd", "Cost"},
		{"budget_limit_usd", "Budget"},
		{"duration_ms", labelDuration},
	})
	list := lists(l, r, []field{{"phases_completed", "Phases"}, {"roles_used", "Roles"}})
	gates := []*ojson.Object{}
	for _, e := range entries(l.Object("gate_results"), r.Object("gate_results"), "Gate", false) {
		gates = append(gates, ojson.NewObject("gate_id", e.Value("key"), "left", e.Value("left"),
			"right", e.Value("right"), "changed", e.Bool("changed")))
	}
	changes := changedIn(scalar, numeric, list, gates)
	worse, better := signals(l, r)
	found := worse.rows()
	return ojson.NewObject("changed", len(changes) > 0, "left", l, "right", r, "scalar_changes", scalar,
		"numeric_changes", numeric, "list_changes", list, "gate_changes", gates, "regressions", found,
		"regression_count", len(found), "has_regressions", len(found) > 0,
		"summary", runSummary(worse, better, len(changes), highlights(changes)))
}

// statusRank ranks how well a run ended.
func statusRank(status any) int {
	switch status {
	case "completed":
		return 3
	case "blocked":
		return 2
	case "failed":
		return 1
	}
	return 0
}

// shut and open classify the outcomes of a gate.
func shut(v any) bool { return v == "failed" || v == "blocked" || v == "pending" }

func open(v any) bool { return v == "passed" || v == "approved" }

// signals returns what became worse, and what became better.
func signals(l, r *ojson.Object) (worse *findings, better []string) {
	worse = &findings{}
	ls, rs := l.Value("status"), r.Value("status")
	switch {
	case statusRank(rs) < statusRank(ls):
		worse.add("REG-STATUS", "status", severe,
			fmt.Sprintf("The run ended worse: %s after %s", shown(rs), shown(ls)), "status", ls, rs)
	case statusRank(rs) > statusRank(ls):
		better = append(better, fmt.Sprintf("The run ended better: %s after %s", shown(rs), shown(ls)))
	}
	if lb, rb := l.Value("blocked_reason"), r.Value("blocked_reason"); rb != nil && lb == nil {
		worse.add("REG-BLOCKED", "blocked", mild, "The run is blocked now: "+shown(rb), "blocked_reason", lb, rb)
	}
	if l.Value("next_action") != nil && r.Value("next_action") == nil {
		better = append(better, "Nothing waits for an operator any more")
	}
	lg, rg := l.Object("gate_results"), r.Object("gate_results")
	for _, g := range names(slices.Concat(lg.Keys(), rg.Keys())) {
		a, b := lg.Value(g), rg.Value(g)
		switch {
		case shut(b) && !shut(a):
			worse.add("REG-GATE", "gate", severe, fmt.Sprintf("Gate %q is %s now", g, shown(b)), "gate_results."+g, a,
				b)
		case shut(a) && open(b):
			better = append(better, fmt.Sprintf("Gate %q is %s now", g, shown(b)))
		}
	}
	if gone := Without(l.Strings("phases_completed"), r.Strings("phases_completed")); len(gone) > 0 {
		worse.add("REG-PHASE", "phase", mild, "Phases are no longer completed: "+strings.Join(gone, ", "),
			"phases_completed", l.Value("phases_completed"), r.Value("phases_completed"))
	}
	return worse, better
}

// runSummary returns {outcome, risk_level, highlights, changed_field_count}.
func runSummary(worse *findings, better []string, n int, plain []string) *ojson.Object {
	outcome, risk := "changed", "low"
	switch {
	case n == 0 && len(worse.list) == 0:
		return summary("unchanged", "none", nil, 0)
	case len(worse.list) > 0:
		outcome, risk = "regressed", "medium"
		if worse.severe() {
			risk = "high"
		}
		if len(better) > 0 {
			outcome = "mixed"
		}
	case len(better) > 0:
		outcome, risk = "improved", "none"
		if n > len(better) {
			risk = "low"
		}
	}
	return summary(outcome, risk, slices.Concat(worse.messages(), better, plain), n)
}
