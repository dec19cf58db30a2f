// Run events: the closed vocabulary, the envelope and its validation (docs/spec/state.md#events,
// docs/conformance.md#becoming-a-target).

package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of event validation (docs/conformance.md#becoming-a-target).
const (
	CodeInvalidEvent      = "invalid_event"
	CodeInvalidEvents     = "invalid_events"
	CodeOrderingViolation = "ordering_violation"
)

// Registered event types that the engine emits. The vocabulary is closed: see
// EventTypes.
const (
	EventRunStarted               = "run_started"
	EventPhaseEntered             = "phase_entered"
	EventPhaseCleanup             = "phase_cleanup"
	EventTurnDispatched           = "turn_dispatched"
	EventTurnAccepted             = "turn_accepted"
	EventTurnRejected             = "turn_rejected"
	EventTurnConflicted           = "turn_conflicted"
	EventConflictResolved         = "conflict_resolved"
	EventAcceptanceFailed         = "acceptance_failed"
	EventTurnReissued             = "turn_reissued"
	EventTurnStalled              = "turn_stalled"
	EventTurnStartFailed          = "turn_start_failed"
	EventTurnCheckpointed         = "turn_checkpointed"
	EventRunBlocked               = "run_blocked"
	EventRunCompleted             = "run_completed"
	EventEscalationRaised         = "escalation_raised"
	EventEscalationResolved       = "escalation_resolved"
	EventGatePending              = "gate_pending"
	EventGateApproved             = "gate_approved"
	EventGateFailed               = "gate_failed"
	EventBudgetExceededWarn       = "budget_exceeded_warn"
	EventHumanEscalationRaised    = "human_escalation_raised"
	EventHumanEscalationResolved  = "human_escalation_resolved"
	EventArtifactTypeNormalized   = "artifact_type_auto_normalized"
	EventStagedResultNormalized   = "staged_result_auto_normalized"
	EventOperatorCommitReconciled = "state_reconciled_operator_commits"
)

// EventTypes returns the closed vocabulary in its published order (docs/conformance.md#becoming-a-target).
func EventTypes() []string {
	return []string{
		EventRunStarted, EventPhaseEntered,
		"intents_migrated", "intents_superseded", "intent_retired_by_phase_advance",
		EventTurnDispatched, EventTurnAccepted, EventTurnRejected, EventTurnConflicted, EventConflictResolved,
		EventAcceptanceFailed, EventTurnReissued, EventTurnStalled, EventTurnStartFailed,
		"runtime_spawn_failed", "stdout_attach_failed", EventTurnCheckpointed,
		"coordinator_retry", "coordinator_retry_projection_warning",
		EventRunBlocked, EventRunCompleted, EventEscalationRaised, EventEscalationResolved,
		EventGatePending, EventGateApproved, EventGateFailed, EventPhaseCleanup, EventBudgetExceededWarn,
		EventHumanEscalationRaised, EventHumanEscalationResolved,
		"dispatch_progress", "session_continuation",
		"auto_retried_ghost", "ghost_retry_exhausted",
		"auto_retried_productive_timeout", "productive_timeout_retry_exhausted",
		"retained_claude_auth_escalation_reclassified",
		EventOperatorCommitReconciled, "operator_commit_reconcile_refused",
		"charter_materialization_required",
		EventArtifactTypeNormalized, EventStagedResultNormalized,
	}
}

// EventSpec has the facts of one event. Empty strings become null.
type EventSpec struct {
	ID       string // evt_<16 hex>
	Type     string // one of EventTypes
	Time     string // wire time
	Run      string
	Phase    string
	Status   wire.Status
	Turn     *ojson.Object // {turn_id, role_id}; a checkpoint adds runtime_id; nil when none
	IntentID any           // string or nil
	Payload  *ojson.Object // nil means {}
}

// NewEvent returns an event row: {event_id, event_type, timestamp, run_id, phase, status, turn, intent_id,
// payload}, every key always present (docs/spec/README.md). An unregistered type is a programming error and
// returned as an error: it must never reach events.jsonl.
func NewEvent(e EventSpec) (*ojson.Object, error) {
	if !writable(e.Type) {
		return nil, fmt.Errorf("event type %q is not registered", e.Type)
	}
	payload := e.Payload
	if payload == nil {
		payload = ojson.NewObject()
	}
	if rc := recoveryClassification(e.Type); rc != nil && !payload.Has("recovery_classification") {
		payload = payload.Clone()
		payload.Set("recovery_classification", rc)
	}
	return ojson.NewObject(
		"event_id", e.ID,
		"event_type", e.Type,
		"timestamp", e.Time,
		"run_id", ojson.OrNull(e.Run),
		"phase", ojson.OrNull(e.Phase),
		"status", ojson.OrNull(string(e.Status)),
		"turn", e.Turn,
		"intent_id", e.IntentID,
		"payload", payload,
	), nil
}

// recoveryClassification returns the payload member that tells monitors how serious an automatic recovery event is
// (docs/spec/state.md#events); nil for other types.
func recoveryClassification(eventType string) *ojson.Object {
	var domain, severity, outcome, mechanism string
	switch eventType {
	case EventBudgetExceededWarn:
		domain, severity, outcome, mechanism = "budget", "medium", "pending", "config_change"
	case "auto_retried_ghost", "auto_retried_productive_timeout":
		domain, severity, outcome, mechanism = "ghost", "medium", "recovered", "auto_retry"
	case "ghost_retry_exhausted", "productive_timeout_retry_exhausted":
		domain, severity, outcome, mechanism = "ghost", "high", "exhausted", "auto_retry"
	case "retained_claude_auth_escalation_reclassified":
		domain, severity, outcome, mechanism = "credential", "medium", "pending", "env_refresh"
	default:
		return nil
	}
	return ojson.NewObject("domain", domain, "severity", severity, "outcome", outcome, "mechanism", mechanism)
}

// ValidateEvent returns what is wrong with one event, nil when it is valid. The texts are part of the protocol:
// docs/conformance.md#becoming-a-target.
func ValidateEvent(v ojson.Value) []string {
	o, ok := v.(*ojson.Object)
	if !ok || o == nil {
		return []string{"Event must be an object"}
	}
	var errs []string
	if strings.TrimSpace(o.String("event_id")) == "" {
		errs = append(errs, "event_id must be a non-empty string")
	}
	typ := o.String("event_type")
	if types := EventTypes(); !slices.Contains(types, typ) {
		errs = append(errs, "event_type must be one of: "+strings.Join(types, ", "))
	}
	if _, err := wire.ParseTime(o.String("timestamp")); err != nil {
		errs = append(errs, "timestamp must be a valid ISO-8601 string")
	}
	switch typ {
	case EventTurnDispatched, EventTurnAccepted, EventTurnRejected:
		if strings.TrimSpace(o.Object("turn").String("turn_id")) == "" {
			errs = append(errs, typ+" requires a non-empty turn.turn_id")
		}
	}
	return errs
}

// ValidateEventOrdering checks a timeline: run_started first, run_completed last unless the approval of the
// completion was taken back, no turn accepted before it was dispatched, times never going back. The code is "" when
// the order is right, invalid_events when v is not a timeline, else ordering_violation. The texts are part of the
// protocol: docs/conformance.md#becoming-a-target.
func ValidateEventOrdering(v ojson.Value) (code string, errs []string) {
	events, ok := v.([]any)
	if !ok || len(events) == 0 {
		return CodeInvalidEvents, []string{"Events must be a non-empty array"}
	}
	at := func(i int) *ojson.Object { o, _ := events[i].(*ojson.Object); return o }
	last := len(events) - 1
	if at(0).String("event_type") != EventRunStarted {
		errs = append(errs, "First event must be run_started")
	}
	for i := range last {
		if at(i).String("event_type") == EventRunCompleted && at(i+1).String("event_type") != EventApprovalWithdrawn {
			errs = append(errs, "run_completed must be the last event")
			break
		}
	}
	dispatched := make(map[string]bool)
	for i := range events {
		id := at(i).Object("turn").String("turn_id")
		switch at(i).String("event_type") {
		case EventTurnDispatched:
			dispatched[id] = true
		case EventTurnAccepted:
			if !dispatched[id] {
				errs = append(errs, fmt.Sprintf("turn_accepted for %s without preceding turn_dispatched", id))
			}
		}
	}
	var prev time.Time
	for i := range events {
		t, err := wire.ParseTime(at(i).String("timestamp"))
		if err != nil {
			prev = time.Time{} // ValidateEvent reports an unreadable time
			continue
		}
		if i > 0 && t.Before(prev) {
			errs = append(errs, fmt.Sprintf("Event %d timestamp is before event %d", i, i-1))
		}
		prev = t
	}
	if len(errs) > 0 {
		return CodeOrderingViolation, errs
	}
	return "", nil
}
