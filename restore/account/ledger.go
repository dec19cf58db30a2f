// Sections from the decision ledger: decisions, gates, conflicts, time limits, approvals
// (docs/reports.md#what-a-report-says).

package account

import (
	"cmp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// ledgerSections returns the sections of a decision ledger in the order of the model. A coordinator's decisions
// also have their category.
func ledgerSections(rows []*ojson.Object, coordinator bool) *ojson.Object {
	var decisions, policy, governance, failures, actions, timeouts []*ojson.Object
	for _, r := range rows {
		if id, ok := r.Value("id").(string); ok {
			d := ojson.NewObject("id", id)
			for _, k := range [...]string{"turn_id", "role", "phase"} {
				d.Set(k, ojson.OrNull(r.String(k)))
			}
			if coordinator {
				d.Set("category", ojson.OrNull(r.String("category")))
			}
			d.Set("statement", r.String("statement"))
			if !coordinator {
				d.Set("category", ojson.OrNull(r.String("category")))
				d.Set("rationale", ojson.OrNull(r.String("rationale")))
				d.Set("status", ojson.OrNull(r.String("status")))
				d.Set("decided_at", ojson.OrNull(r.String("created_at")))
			}
			decisions = append(decisions, d)
		}
		switch kind := r.String("type"); {
		case kind == "approval_policy":
			o := pick(r, "gate_type", "action")
			o.Set("matched_rule", orNull(r.Value("matched_rule")))
			o.Set("from_phase", ojson.OrNull(r.String("from_phase")))
			o.Set("to_phase", ojson.OrNull(r.String("to_phase")))
			o.Set("reason", r.String("reason"))
			o.Set("gate_id", ojson.OrNull(r.String("gate_id")))
			o.Set("timestamp", ojson.OrNull(r.String("timestamp")))
			policy = append(policy, o)
		case kind == "gate_failure":
			o := pick(r, "gate_type", "gate_id", "phase", "from_phase", "to_phase", "requested_by_turn", "failed_at")
			o.Set("queued_request", r.Bool("queued_request"))
			o.Set("reasons", texts(r, "reasons"))
			o.Set("missing_files", texts(r, "missing_files"))
			o.Set("missing_verification", r.Bool("missing_verification"))
			failures = append(failures, o)
		case kind == "gate_action":
			actions = append(actions, gateAction(r))
		case strings.HasPrefix(kind, "timeout"):
			o := pick(r, "type", "scope", "phase", "turn_id")
			for _, k := range [...]string{"limit_minutes", "elapsed_minutes", "exceeded_by_minutes"} {
				o.Set(k, numberOrNull(r, k))
			}
			o.Set("action", ojson.OrNull(r.String("action")))
			o.Set("timestamp", ojson.OrNull(r.String("timestamp")))
			timeouts = append(timeouts, o)
		}
		if g := governanceEvent(r); g != nil {
			governance = append(governance, g)
		}
	}
	return ojson.NewObject("decisions", orEmpty(decisions), "approval_policy_events", orEmpty(policy),
		"governance_events", orEmpty(byTime(governance)), "gate_failures", orEmpty(failures),
		"gate_actions", orEmpty(byTime(actions)), "timeout_events", orEmpty(timeouts))
}

func gateAction(r *ojson.Object) *ojson.Object {
	o := pick(r, "attempt_id", "gate_id", "gate_type", "phase", "requested_by_turn", "trigger_command")
	o.Set("action_index", integer(r, "action_index"))
	o.Set("action_label", ojson.OrNull(r.String("action_label")))
	o.Set("command", ojson.OrNull(r.String("command")))
	o.Set("status", cmp.Or(r.String("status"), "unknown"))
	o.Set("exit_code", integer(r, "exit_code"))
	for _, k := range [...]string{"signal", "stdout_tail", "stderr_tail", "spawn_error"} {
		o.Set(k, ojson.OrNull(r.String(k)))
	}
	o.Set("timeout_ms", integer(r, "timeout_ms"))
	o.Set("timed_out", r.Bool("timed_out"))
	o.Set("timestamp", ojson.OrNull(r.String("timestamp")))
	return o
}

// governanceEvent returns a row that reports the outcome of a conflict, a policy or an escalation, nil for any
// other.
func governanceEvent(r *ojson.Object) *ojson.Object {
	kind := r.String("decision")
	o := ojson.NewObject("type", kind)
	for _, k := range [...]string{"timestamp", "turn_id", "role", "phase"} {
		o.Set(k, ojson.OrNull(r.String(k)))
	}
	switch kind {
	case "policy_escalation":
		violations := ojson.List(r.Objects("violations"), func(v *ojson.Object) *ojson.Object {
			return pick(v, "policy_id", "rule", "message")
		})
		o.Set("violations", violations)
	case "conflict_detected", "conflict_rejected", "conflict_resolution_selected":
		c := r.Object("conflict")
		if c == nil {
			c = r
		}
		o.Set("conflicting_files", texts(c, "conflicting_files"))
		o.Set("accepted_since_turn_ids", texts(c, "accepted_since_turn_ids"))
		o.Set("overlap_ratio", numberOrNull(c, "overlap_ratio"))
		switch kind {
		case "conflict_rejected":
			o.Set("operator_reason", ojson.OrNull(r.String("operator_reason")))
		case "conflict_resolution_selected":
			o.Set("resolution_method", first(r, "resolution_chosen", "resolution_method"))
		}
	case "operator_escalated":
		o.Set("blocked_on", ojson.OrNull(r.String("blocked_on")))
		reason := ojson.OrNull(r.Object("escalation").String("reason"))
		if reason == nil {
			reason = ojson.OrNull(r.String("reason"))
		}
		o.Set("reason", reason)
	case "escalation_resolved":
		o.Set("resolved_via", ojson.OrNull(r.String("resolved_via")))
		o.Set("previous_blocked_on", first(r, "previous_blocked_on", "blocked_on"))
	default:
		return nil
	}
	return o
}

// approvals returns the opened gates and who opened them: a person, or a rule of the approval policy. If the ledger
// names no one, as in the reference, the event log at least says that it happened.
func (m *runModel) approvals() []*ojson.Object {
	var out []*ojson.Object
	named := make(map[string]bool)
	for _, r := range m.ledger {
		by := &ojson.Object{}
		switch r.String("type") {
		case "human_approval":
			by = r.Object("approved_by")
		case "approval_policy":
			by.Set("name", "approval policy")
		default:
			continue
		}
		o := pick(r, "gate_id", "gate_type", "from_phase", "to_phase", "requested_by_turn")
		o.Set("by", ojson.OrNull(by.String("name")))
		o.Set("email", ojson.OrNull(by.String("email")))
		o.Set("by_person", r.String("type") == "human_approval")
		o.Set("reason", ojson.OrNull(r.String("reason")))
		o.Set("timestamp", ojson.OrNull(r.String("timestamp")))
		named[r.String("gate_id")+"\x00"+r.String("timestamp")] = true
		out = append(out, o)
	}
	for _, e := range m.events {
		if e.String("event_type") != "gate_approved" {
			continue
		}
		p := e.Object("payload")
		if named[p.String("gate_id")+"\x00"+e.String("timestamp")] {
			continue
		}
		o := pick(p, "gate_id", "gate_type", "from_phase", "to_phase", "requested_by_turn")
		if o.String("from_phase") == "" {
			o.Set("from_phase", ojson.OrNull(p.String("from")))
			o.Set("to_phase", ojson.OrNull(p.String("to")))
		}
		for _, k := range [...]string{"by", "email", "by_person", "reason"} {
			o.Set(k, nil)
		}
		o.Set("timestamp", ojson.OrNull(e.String("timestamp")))
		out = append(out, o)
	}
	return orEmpty(byTime(out))
}
