// Roles, states and failures of a governed run in the words of the Monarchic agent
// protocol (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AgentRole returns the role of the protocol nearest to a governed role; the write authority
// decides when the name says nothing (docs/monarchic-export.md#kinds).
func AgentRole(roleID, authority string) portable.AgentRole {
	id := strings.ToLower(roleID)
	if r := portable.AgentRole(id); r != "" && slices.Contains(r.Set().Tokens, id) {
		return r
	}
	switch id {
	case "pm", "product", "product_manager", "po":
		return portable.RoleProductOwner
	case "program_manager", "coordinator", "scrum_master", "eng_director", "director":
		return portable.RoleProjectManager
	case "engineer", "developer", "architect", "implementer":
		return portable.RoleDev
	case "tester", "test", "verifier":
		return portable.RoleQA
	}
	words := strings.FieldsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	switch {
	case strings.Contains(id, "review"):
		return portable.RoleReviewer
	case slices.Contains(words, "sec"), slices.Contains(words, "security"):
		return portable.RoleSecurity
	}
	switch id {
	case "devops", "sre", "infra":
		return portable.RoleOps
	case "release", "release_manager", "docs", "scribe", "marketing":
		return portable.RolePublisher
	case run.Human:
		return portable.RoleUnspecified
	}
	if authority == wire.ReviewOnly {
		return portable.RoleReviewer
	}
	return portable.RoleDev
}

// runState returns the lifecycle state of a run for a finished export.
func runState(s wire.Status) strict.RunLifecycleState {
	switch s {
	case wire.StatusIdle:
		return strict.RunPending
	case wire.StatusActive:
		return strict.RunExecuting
	case wire.StatusPaused:
		return strict.RunPaused
	case wire.StatusBlocked:
		return strict.RunBlocked
	case wire.StatusCompleted:
		return strict.RunComplete
	case wire.StatusFailed:
		return strict.RunFailed
	}
	return ""
}

// planStatus returns the state of a run as the status of its plan.
func planStatus(s *run.State) portable.PlanStatus {
	switch s.Status {
	case wire.StatusIdle:
		return portable.PlanPlanned
	case wire.StatusCompleted:
		return portable.PlanComplete
	case wire.StatusFailed:
		return portable.PlanFailed
	case wire.StatusBlocked:
		if b := s.BlockedReason; b != nil && (b.Category == "budget_exhausted" || b.Category == "timeout") {
			return portable.PlanBounded
		}
	}
	return portable.PlanExecuting
}

// executionStatus returns the status of an accepted turn.
func executionStatus(row *ojson.Object) strict.ExecutionStatus {
	switch row.String("status") {
	case "blocked", "needs_human":
		return strict.ExecutionBlocked
	case "failed":
		return strict.ExecutionFailed
	}
	return strict.ExecutionCompleted
}

// leaseState returns the state of the lease that corresponds to an active turn.
func leaseState(t *run.Turn) strict.LeaseLifecycleState {
	switch t.Status {
	case wire.TurnAssigned:
		return strict.LeaseIssued
	case wire.TurnStalled, "failed_start":
		return strict.LeaseExpired
	case wire.TurnFailed:
		return strict.LeaseRejected
	}
	return strict.LeaseActive
}

// failure returns a failure category of the run in the protocol's two vocabularies: that of
// FailureClass, whether a retry is of use, and that of FailureDetail.
func failure(category string) (class string, retryable bool, detail string) {
	switch category {
	case "needs_human", "operator_escalation", "policy_escalation", "hook_block":
		return "permission", false, "policy"
	case "hook_tamper":
		return "internal", false, "infra"
	case "conflict_loop", "operator_commit_reconcile_refused", wire.CodeConflict, "file_conflict":
		return "conflict", false, "execution"
	case "retries_exhausted", "non_progress":
		return "validation", false, "agent"
	case "budget_exhausted":
		return "resource", false, "policy"
	case "timeout", "stale_turn":
		return "timeout", true, "agent"
	case "ghost_turn", "dispatch_error", "gate_action_failed":
		return "environment", true, "infra"
	case "validation_error", wire.CodeValidationFailed, "schema", "assignment", "protocol", "human_review",
		wire.CodeGateFailed:
		return "validation", true, "validation"
	case "artifact", "verification":
		return "validation", true, "execution"
	}
	return "unknown", false, "unknown"
}

// failureClass describes the failure of an event (blocked, rejected, failed, stalled), nil when the
// event is not a failure.
func failureClass(row *ojson.Object, state *run.State) *portable.FailureClass {
	kind, p := row.String("event_type"), row.Object("payload")
	if !slices.ContainsFunc([]string{"blocked", "rejected", "failed",
		"stalled"}, func(s string) bool { return strings.Contains(kind, s) }) {
		return nil
	}
	category := cmp.Or(p.String("category"), p.String("failed_stage"), p.String("stage"), p.String("error_code"),
		p.String("failure_type"))
	switch kind {
	case run.EventGateFailed:
		category = wire.CodeGateFailed
	case run.EventTurnStalled:
		category = "stale_turn"
	case run.EventTurnStartFailed, "runtime_spawn_failed", "stdout_attach_failed":
		category = "ghost_turn"
	}
	class, retryable, _ := failure(category)
	c := &portable.FailureClass{Category: class, Code: cmp.Or(category, kind), Retryable: retryable,
		Scope:  "orchestrator",
		Detail: cmp.Or(said(p), ""), Source: cmp.Or(p.String("blocked_on"), p.String("gate_id"))}
	switch {
	case kind == run.EventGateFailed:
		c.Scope = "gate"
	case row.Object("turn") != nil:
		c.Scope = "task"
	case kind == "runtime_spawn_failed":
		c.Scope = "runner"
	}
	if kind == run.EventRunBlocked {
		if on := p.String("blocked_on"); state.BlockedOn != nil && *state.BlockedOn == on &&
			state.BlockedReason != nil {
			c.NextAction = state.BlockedReason.Recovery.RecoveryAction
		}
	}
	return c
}

// said returns what an event says about itself.
func said(p *ojson.Object) string {
	if s := cmp.Or(p.String("reason"), p.String("detail"), p.String("summary")); s != "" {
		return s
	}
	return strings.Join(p.Strings("reasons"), "; ")
}

// blockDetail returns what stops the run as a FailureDetail, nil when nothing does.
func (x *Export) blockDetail() *portable.FailureDetail {
	s := x.facts.state
	if s.Status != wire.StatusBlocked {
		return nil
	}
	category, on, text := "unknown", "", ""
	details := ojson.NewObject()
	if s.BlockedOn != nil {
		on = *s.BlockedOn
		details.Set("blocked_on", on)
	}
	if b := s.BlockedReason; b != nil {
		category, text = b.Category, cmp.Or(wire.OrEmpty(b.Recovery.Detail), b.Recovery.RecoveryAction)
		details.Set("owner", b.Recovery.Owner)
		details.Set("typed_reason", b.Recovery.TypedReason)
		details.Set("recovery_action", b.Recovery.RecoveryAction)
		details.Set("turn_id", b.TurnID)
	}
	_, _, class := failure(category)
	return &portable.FailureDetail{
		Class:   class,
		Code:    cmp.Or(category, "unknown"),
		Message: cmp.Or(text, on, "the run is blocked"),
		Details: details,
	}
}
