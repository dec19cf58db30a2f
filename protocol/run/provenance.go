// Where a run comes from: provenance, the parent run, inherited context (docs/spec/lifecycle.md#starting-a-run).

package run

import (
	"cmp"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Provenance returns {trigger, parent_run_id, trigger_reason, intake_intent_id,
// created_by}. Unknown triggers become manual, unknown creators operator. With a
// parent run, parent is its run-history row (the last one), nil when there is
// none: errors not_found and invalid_argument.
func Provenance(trigger, reason, parentRun, createdBy string, parent *ojson.Object) (*ojson.Object, *wire.Error) {
	parentRun = wire.TrimSpace(parentRun)
	if parentRun != "" {
		if err := checkParent(parentRun, parent); err != nil {
			return nil, err
		}
	}
	return ojson.NewObject(
		"trigger", knownTrigger(trigger),
		"parent_run_id", ojson.OrNull(parentRun),
		"trigger_reason", ojson.OrNull(wire.TrimSpace(reason)),
		"intake_intent_id", nil,
		"created_by", knownCreator(createdBy),
	), nil
}

func knownTrigger(s string) string {
	switch s {
	case "manual", "continuation", "recovery", "intake", "vision_scan", "schedule", "coordinator":
		return s
	}
	return "manual"
}

func knownCreator(s string) string {
	switch s {
	case "operator", "continuous_loop", "coordinator":
		return s
	}
	return "operator"
}

// NormalizeProvenance completes a recorded provenance: the five members in order, then unknown ones; nil for nil.
func NormalizeProvenance(o *ojson.Object) *ojson.Object {
	if o == nil {
		return nil
	}
	out := ojson.NewObject(
		"trigger", knownTrigger(o.String("trigger")),
		"parent_run_id", ojson.OrNull(wire.TrimSpace(o.String("parent_run_id"))),
		"trigger_reason", ojson.OrNull(wire.TrimSpace(o.String("trigger_reason"))),
		"intake_intent_id", ojson.OrNull(wire.TrimSpace(o.String("intake_intent_id"))),
		"created_by", knownCreator(o.String("created_by")),
	)
	for k, v := range o.All() {
		if !out.Has(k) {
			out.Set(k, v)
		}
	}
	return out
}

func checkParent(runID string, row *ojson.Object) *wire.Error {
	if row == nil || row.String("run_id") != runID {
		return &wire.Error{Code: wire.CodeNotFound, Field: "parent_run",
			Message: fmt.Sprintf("Run %.80s is not in the run history.", runID), Hint: "git agentxchain log"}
	}
	switch st := row.String("status"); st {
	case "completed", "blocked", "failed":
		return nil
	default:
		return &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "parent_run",
			Message: fmt.Sprintf("Run %.80s has not ended (it is %s); only an ended run can be continued.", runID,
				cmp.Or(Clip(st, 40), "of unknown status")),
		}
	}
}

// InheritedContext returns what a run takes over from its parent, read-only for the child
// (docs/spec/lifecycle.md#starting-a-run): {schema_version, parent_run_id, parent_status, parent_completed_at,
// parent_phases_completed, parent_roles_used, parent_blocked_reason, parent_retrospective, recent_decisions,
// recent_accepted_turns, inherited_at, warnings?}. parent is the run-history row or nil, which gives a partial
// object with a warning.
func InheritedContext(parentRun string, parent *ojson.Object, at string) *ojson.Object {
	get := func(o *ojson.Object, key string) ojson.Value { return ojson.CloneValue(o.Value(key)) }
	snapshot := parent.Object("inheritance_snapshot")
	array := func(o *ojson.Object, key string) []any {
		if a, _ := ojson.CloneValue(o.Array(key)).([]any); a != nil {
			return a
		}
		return []any{}
	}
	o := ojson.NewObject(
		"schema_version", "0.1",
		"parent_run_id", parentRun,
		"parent_status", get(parent, "status"),
		"parent_completed_at", get(parent, "completed_at"),
		"parent_phases_completed", array(parent, "phases_completed"),
		"parent_roles_used", array(parent, "roles_used"),
		"parent_blocked_reason", get(parent, "blocked_reason"),
		"parent_retrospective", get(parent, "retrospective"),
		"recent_decisions", array(snapshot, "recent_decisions"),
		"recent_accepted_turns", array(snapshot, "recent_accepted_turns"),
		"inherited_at", at,
	)
	switch {
	case parent == nil:
		o.Set("warnings", []string{fmt.Sprintf("Run %s is not in the run history; nothing was inherited.", parentRun)})
	case snapshot == nil:
		o.Set("warnings",
			[]string{fmt.Sprintf(
				"The run-history row of %s has no inheritance snapshot; decisions and turns were not inherited.",
				parentRun)})
	}
	return o
}
