// Comparing two artifacts (docs/reports.md#diff).

package diff

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/account"
)

// Exports compares two artifacts of one kind; the refs name them in the result:
// {comparison_mode, subject_kind, export_kind, left_ref, right_ref, changed, left,
// right, *_changes, regressions, regression_count, has_regressions, summary}.
//
// Errors: invalid_argument for artifacts of different or unknown kinds.
func Exports(left, right *account.Artifact, leftRef, rightRef string) (*ojson.Object, error) {
	if left.Kind != right.Kind {
		return nil, &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "export_kind",
			Message: fmt.Sprintf("The artifacts are of different kinds: %s and %s.", kindName(left.Kind),
				kindName(right.Kind)),
			Hint: "compare two artifacts of runs, or two of initiatives",
		}
	}
	if left.Kind != restore.KindRun && left.Kind != restore.KindCoordinator {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "export_kind",
			Message: fmt.Sprintf("Artifacts of the kind %s cannot be compared.", kindName(left.Kind)),
		}
	}
	coordinator := left.Kind == restore.KindCoordinator
	kind, l, r := "run", runSide(left), runSide(right)
	scalarFields := []field{
		{"run_id", "Run ID"},
		{"status", "Status"},
		{"phase", "Phase"},
		{"project_name", "Project"},
		{"project_goal", "Goal"},
		{"provenance_trigger", "Trigger"},
		{"dashboard_status", "Dashboard"},
	}
	numberFields := []field{
		{"history_entries", "History entries"},
		{"decision_entries", "Decision entries"},
		{"hook_audit_entries", "Hook audit entries"},
		{"notification_audit_entries", "Notification audit entries"},
		{"dispatch_artifact_files", "Dispatch artifacts"},
		{"staging_artifact_files", "Staging artifacts"},
		{"total_delegations_issued", "Delegations"},
		{"active_repo_decision_count", "Active repo decisions"},
		{"overridden_repo_decision_count", "Overridden repo decisions"},
	}
	listFields := []field{
		{"active_turn_ids", "Active turns"},
		{"retained_turn_ids", "Retained turns"},
		{"active_repo_decision_ids", "Active repo decisions"},
		{"overridden_repo_decision_ids", "Overridden repo decisions"},
	}
	if coordinator {
		kind, l, r = "coordinator", coordinatorSide(left), coordinatorSide(right)
		scalarFields = []field{
			{"super_run_id", "Super run ID"},
			{"status", "Status"},
			{"phase", "Phase"},
			{"project_name", "Project"},
		}
		numberFields = []field{
			{"barrier_count", "Barriers"},
			{"history_entries", "History entries"},
			{"decision_entries", "Decision entries"},
			{"total_events", "Aggregated events"},
		}
		listFields = []field{{"repo_ids", "Repos"}, {"repos_with_events", "Repos with events"}}
	}
	scalar, numeric, list := scalars(l, r, scalarFields), numbers(l, r, numberFields), lists(l, r, listFields)
	out := ojson.NewObject("comparison_mode", "export", "subject_kind", kind, "export_kind", left.Kind,
		"left_ref", leftRef, "right_ref", rightRef, "changed", false, "left", l, "right", r, "scalar_changes", scalar,
		"numeric_changes", numeric, "list_changes", list)
	groups := []any{scalar, numeric, list}
	if coordinator {
		for _, m := range [...]struct{ key, from, label string }{
			{"repo_status_changes", "repo_statuses", "Repo status"},
			{"repo_export_changes", "repo_export_status", "Repo export ok"},
			{"event_type_changes", "event_type_counts", "Event type"},
		} {
			rows := entries(l.Object(m.from), r.Object(m.from), m.label, m.key == "event_type_changes")
			out.Set(m.key, rows)
			groups = append(groups, rows)
		}
	} else {
		// The published groups leave these out, but a changed gate or budget is a change too.
		gates := entries(l.Object("phase_gate_status"), r.Object("phase_gate_status"), "Gate", false)
		out.Set("gate_changes", gates)
		groups = append(groups, gates)
	}
	worse := regressions(l, r, coordinator)
	changes := changedIn(groups...)
	n := len(changes)
	out.Set("changed", n > 0 || len(worse.list) > 0)
	out.Set("regressions", worse.rows())
	out.Set("regression_count", len(worse.list))
	out.Set("has_regressions", len(worse.list) > 0)
	switch {
	case len(worse.list) > 0:
		risk := "medium"
		if worse.severe() {
			risk = "high"
		}
		out.Set("summary", summary("regressed", risk, worse.messages(), n))
	case n > 0:
		out.Set("summary", summary("changed", "low", highlights(changes), n))
	default:
		out.Set("summary", summary("unchanged", "none", nil, 0))
	}
	return out, nil
}

func kindName(kind string) string {
	if kind == "" {
		return "(none)"
	}
	return ojson.Shown(kind)
}

// runSide returns the compared part of a run artifact.
func runSide(a *account.Artifact) *ojson.Object {
	s, st := a.Head.Object("summary"), a.Head.Object("state")
	project := a.Head.Object("project")
	goal := ojson.OrNull(s.String("project_goal"))
	if goal == nil {
		goal = ojson.OrNull(project.String("goal"))
	}
	o := ojson.NewObject("export_kind", a.Kind, "run_id", ojson.OrNull(s.String("run_id")),
		"status", ojson.OrNull(s.String("status")), "phase", ojson.OrNull(s.String("phase")),
		"workflow_phase_order", order(s), "project_name", ojson.OrNull(project.String("name")), "project_goal", goal,
		"provenance_trigger", ojson.OrNull(s.Object("provenance").String("trigger")),
		"dashboard_status", ojson.OrNull(s.Object("dashboard_session").String("status")))
	for _, k := range [...]string{"history_entries", "decision_entries", "hook_audit_entries",
		"notification_audit_entries", "dispatch_artifact_files", "staging_artifact_files"} {
		o.Set(k, numeric(s, k))
	}
	d, rd := s.Object("delegation_summary"), s.Object("repo_decisions")
	o.Set("total_delegations_issued", numeric(d, "total_delegations_issued"))
	o.Set("active_repo_decision_count", numeric(rd, "active_count"))
	o.Set("overridden_repo_decision_count", numeric(rd, "overridden_count"))
	o.Set("active_turn_ids", s.Strings("active_turn_ids"))
	o.Set("retained_turn_ids", s.Strings("retained_turn_ids"))
	o.Set("active_repo_decision_ids", idsOf(rd.Objects("active")))
	o.Set("overridden_repo_decision_ids", idsOf(rd.Objects("overridden")))
	b := st.Object("budget_status")
	o.Set("budget_warn_mode", b.Bool("warn_mode"))
	o.Set("budget_exhausted", b.Bool("exhausted"))
	gates := st.Object("phase_gate_status")
	if gates == nil {
		gates = &ojson.Object{}
	}
	o.Set("phase_gate_status", gates)
	blocked := st.Object("blocked_reason")
	action := blocked.Object("gate_action")
	o.Set("blocked_category", ojson.OrNull(blocked.String("category")))
	o.Set("blocked_gate_action_timed_out", action.Bool("timed_out"))
	o.Set("blocked_gate_action_timeout_ms", numeric(action, "timeout_ms"))
	missing := &ojson.Object{}
	for _, chain := range d.Objects("delegation_chains") {
		for _, x := range chain.Objects("delegations") {
			if id := x.String("delegation_id"); id != "" {
				missing.Set(id, x.Strings("missing_decision_ids"))
			}
		}
	}
	o.Set("delegation_missing_decisions", missing)
	return o
}

// order returns workflow_phase_order, null without phases.
func order(s *ojson.Object) any {
	if list := s.Strings("workflow_phase_order"); len(list) > 0 {
		return list
	}
	return nil
}

func idsOf(rows []*ojson.Object) []string {
	out := []string{}
	for _, r := range rows {
		if id := r.String("id"); id != "" {
			out = append(out, id)
		}
	}
	return names(out)
}

// coordinatorSide returns the compared part of a coordinator artifact.
func coordinatorSide(a *account.Artifact) *ojson.Object {
	s := a.Head.Object("summary")
	events := s.Object("aggregated_events")
	labels := s.Object("repo_run_statuses")
	if labels == nil {
		labels = &ojson.Object{}
	}
	statuses, exported := &ojson.Object{}, &ojson.Object{}
	var repos []string
	for _, r := range a.Repos {
		repos = append(repos, r.ID)
		exported.Set(r.ID, r.OK)
		statuses.Set(r.ID, account.RepoStatus(r, labels.String(r.ID)))
	}
	counts := events.Object("event_type_counts")
	if counts == nil {
		counts = &ojson.Object{}
	}
	return ojson.NewObject("export_kind", a.Kind, "super_run_id", ojson.OrNull(s.String("super_run_id")),
		"status", ojson.OrNull(s.String("status")), "phase", ojson.OrNull(s.String("phase")),
		"workflow_phase_order", order(s),
		"project_name", ojson.OrNull(a.Head.Object("coordinator").String("project_name")),
		"barrier_count", numeric(s, "barrier_count"), "history_entries", numeric(s, "history_entries"),
		"decision_entries", numeric(s, "decision_entries"), "total_events", numeric(events, "total_events"),
		"repo_ids", names(repos), "repos_with_events", names(events.Strings("repos_with_events")),
		"repo_statuses", statuses, "coordinator_repo_statuses", labels, "repo_export_status", exported,
		"event_type_counts", counts)
}
