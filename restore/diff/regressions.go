// Regressions (docs/reports.md#diff).

package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Severities of a regression.
const (
	severe = "error"
	mild   = "warning"
)

// findings are numbered in order.
type findings struct{ list []*ojson.Object }

func (f *findings) add(prefix, category, severity, message, field string, left, right any) {
	f.list = append(f.list, ojson.NewObject("id", fmt.Sprintf("%s-%03d", prefix, len(f.list)+1), "category", category,
		"severity", severity, "message", message, "field", field, "left", left, "right", right))
}

func (f *findings) rows() []*ojson.Object {
	if f.list == nil {
		return []*ojson.Object{}
	}
	return f.list
}

func (f *findings) severe() bool {
	return slices.ContainsFunc(f.list, func(o *ojson.Object) bool { return o.String("severity") == severe })
}

func (f *findings) messages() []string {
	var out []string
	for _, o := range f.list {
		out = append(out, o.String("id")+": "+o.String("message"))
	}
	return out
}

// shown formats a value for a sentence.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return v
	}
	return string(ojson.Compact(v))
}

func summary(outcome, risk string, highlights []string, n int) *ojson.Object {
	return ojson.NewObject("outcome", outcome, "risk_level", risk, "highlights", highlights[:min(len(highlights), 3)],
		"changed_field_count", n)
}

// highlights describes plain changes in words.
func highlights(changes []*ojson.Object) []string {
	var out []string
	for _, o := range changes {
		label := o.String("label")
		switch {
		case o.String("key") != "":
			label += " " + o.String("key")
		case o.String("gate_id") != "":
			label = "Gate " + o.String("gate_id")
		}
		if added, removed := o.Strings("added"), o.Strings("removed"); o.Has("added") {
			var parts []string
			if len(added) > 0 {
				parts = append(parts, "added "+strings.Join(added, ", "))
			}
			if len(removed) > 0 {
				parts = append(parts, "removed "+strings.Join(removed, ", "))
			}
			out = append(out, label+": "+strings.Join(parts, "; "))
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s -> %s", label, shown(o.Value("left")), shown(o.Value("right"))))
	}
	return out
}

// fell reports whether a status became bad.
func fell(left, right any) bool {
	bad := func(v any) bool { return v == "blocked" || v == "failed" || v == "error" || v == "crashed" }
	return bad(right) && !bad(left)
}

// regressions returns the regressions of an artifact against an earlier one, in order.
func regressions(l, r *ojson.Object, coordinator bool) *findings {
	f := &findings{}
	if a, b := l.Value("status"), r.Value("status"); fell(a, b) {
		f.add("REG-STATUS", "status", severe, fmt.Sprintf("The run is %s now and was %s", shown(b), shown(a)),
			"status", a, b)
	}
	f.phases(l, r)
	if coordinator {
		f.repositories(l, r)
		f.shrank("REG-BARRIER", "barrier", "barrier_count", "barriers", l, r)
		f.shrank("REG-EVENT-LOSS", "events", "total_events", "events of repositories", l, r)
		return f
	}
	for _, b := range [...][4]string{
		{"REG-BUDGET-WARN", mild, "budget_warn_mode", "More was spent than the budget allows"},
		{"REG-BUDGET-EXHAUST", severe, "budget_exhausted", "The budget is exhausted"},
	} {
		if !l.Bool(b[2]) && r.Bool(b[2]) {
			f.add(b[0], "budget", b[1], b[3], b[2], false, true)
		}
	}
	const overridden = "overridden_repo_decision_count"
	a, _ := number(l.Value(overridden))
	if b, ok := number(r.Value(overridden)); ok && b > a {
		f.add("REG-DECISION-OVERRIDE", "decisions", mild,
			fmt.Sprintf("More repository decisions are overridden: %v, before %v", b, a), overridden, ojson.Float(a),
			r.Value(overridden))
	}
	for id, v := range r.Object("delegation_missing_decisions").All() {
		before := l.Object("delegation_missing_decisions").Strings(id)
		now, _ := v.([]any)
		if missing := Without(r.Object("delegation_missing_decisions").Strings(id), before); len(missing) > 0 {
			f.add("REG-DELEGATION-MISSING", "delegation", severe,
				fmt.Sprintf("Delegation %q lacks decisions it had to bring: %s", id, strings.Join(missing, ", ")),
				"delegation_summary."+id+".missing_decision_ids", before, now)
		}
	}
	f.gates(l, r)
	return f
}

func (f *findings) phases(l, r *ojson.Object) {
	lo, ro := l.Value("workflow_phase_order"), r.Value("workflow_phase_order")
	a, b := l.Value("phase"), r.Value("phase")
	if lo != nil && ro != nil && !ojson.Equal(lo, ro) {
		f.add("REG-PHASE-ORDER", "phase", mild,
			"The phases are others or in another order, so where the run stands was not compared",
			"workflow_phase_order", lo, ro)
	}
	switch {
	case a != nil && b == nil:
		f.add("REG-PHASE", "phase", mild, fmt.Sprintf("The run was in phase %q and is in none now", shown(a)), "phase",
			a, nil)
	case a != nil && lo != nil && ojson.Equal(lo, ro):
		order := l.Strings("workflow_phase_order")
		i, j := slices.Index(order, shown(a)), slices.Index(order, shown(b))
		if i >= 0 && j >= 0 && j < i {
			f.add("REG-PHASE", "phase", mild,
				fmt.Sprintf("The run went back from phase %q (%d.) to %q (%d.)", shown(a), i+1, shown(b), j+1),
				"phase", a, b)
		}
	}
}

func (f *findings) gates(l, r *ojson.Object) {
	lg, rg := l.Object("phase_gate_status"), r.Object("phase_gate_status")
	for _, g := range names(lg.Keys()) {
		a, b := lg.Value(g), rg.Value(g)
		was := a == "passed" || a == "approved" || a == "satisfied"
		if !was || b != "failed" && b != "blocked" && b != "rejected" {
			continue
		}
		message := fmt.Sprintf("Gate %q is %s now and was %s", g, shown(b), shown(a))
		if r.String("blocked_category") == "gate_action_failed" {
			if ms := r.Value("blocked_gate_action_timeout_ms"); r.Bool("blocked_gate_action_timed_out") {
				message += fmt.Sprintf(" (an action ran out of time after %s ms)", shown(ms))
			} else {
				message += " (an action failed)"
			}
		}
		f.add("REG-GATE", "gate", severe, message, "phase_gate_status."+g, a, b)
	}
}

// repositories adds the regressions of repositories, which are skipped once both initiatives are complete.
func (f *findings) repositories(l, r *ojson.Object) {
	if l.String("status") == "completed" && r.String("status") == "completed" {
		return
	}
	for _, id := range names(r.Object("repo_statuses").Keys()) {
		if a, b := l.Object("repo_statuses").Value(id), r.Object("repo_statuses").Value(id); fell(a, b) {
			f.add("REG-REPO-STATUS", "repo_status", severe,
				fmt.Sprintf("Repository %q is %s now and was %s", id, shown(b), shown(a)), "repo_statuses."+id, a, b)
		}
	}
	for _, id := range names(r.Object("repo_export_status").Keys()) {
		if l.Object("repo_export_status").Bool(id) && !r.Object("repo_export_status").Bool(id) {
			f.add("REG-REPO-EXPORT", "repo_export", severe,
				fmt.Sprintf("Repository %q could be exported and cannot be now", id), "repo_export_status."+id, true,
				false)
		}
	}
}

func (f *findings) shrank(prefix, category, key, what string, l, r *ojson.Object) {
	a, okA := number(l.Value(key))
	if b, okB := number(r.Value(key)); okA && okB && a > 0 && b < a {
		f.add(prefix, category, mild, fmt.Sprintf("There are fewer %s: %v, before %v", what, b, a), key, l.Value(key),
			r.Value(key))
	}
}
