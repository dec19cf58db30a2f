// The result of a loop: stop reasons, history, errors (docs/run-loop.md#what-becomes-of-a-turn).

package loop

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// StopReason says why a loop ended, one of the twelve of the protocol.
type StopReason string

// Stop reasons. Only Completed is a success. Blocked does not mean that the recorded run is
// blocked: a refused assignment leaves it active.
const (
	Completed StopReason = "completed"
	// the configuration can never pass its own gates, or another loop is at work
	AdmissionRejected StopReason = "admission_rejected"
	InitFailed        StopReason = "init_failed"
	Blocked           StopReason = "blocked"
	GateHeld          StopReason = "gate_held"
	MaxTurnsReached   StopReason = "max_turns_reached"
	PriorityPreempted StopReason = "priority_preempted"
	CallerStopped     StopReason = "caller_stopped"
	DispatchError     StopReason = "dispatch_error"
	RejectExhausted   StopReason = "reject_exhausted"
	ConflictLoop      StopReason = "conflict_loop"
	ConflictStall     StopReason = "conflict_stall" // turns side by side only conflict with each other
)

// Causes that share a stop reason on the wire.
const (
	CauseCancelled      = "cancelled"       // caller_stopped: the context ended
	CauseAwaitingPerson = "awaiting_person" // caller_stopped: only manual turns are left, which a person works on
	CauseProposalWaits  = "proposal_waits"  // caller_stopped: a proposal is neither applied nor rejected
	CauseCostLimit      = "cost_limit"      // max_turns_reached: MaxCostUSD is spent
	CauseClaimed        = "claimed"         // caller_stopped: other clones work on all turns
	CauseLoopRunning    = "loop_running"    // admission_rejected: another loop drives the run
)

// HistoryEntry is one judgement on a turn.
type HistoryEntry struct {
	Role        string        `json:"role"`
	TurnID      string        `json:"turn_id"`
	Attempt     int           `json:"attempt"`
	Accepted    bool          `json:"accepted"`
	ErrorCode   string        `json:"error_code,omitempty"`
	AcceptError string        `json:"accept_error,omitempty"`
	Conflict    *ojson.Object `json:"conflict,omitempty"`
	Blocked     bool          `json:"blocked,omitempty"`
}

// Result is the result of a loop.
type Result struct {
	OK            bool
	StopReason    StopReason
	Cause         string         // more precise than the stop reason, or ""
	State         *run.State     // nil when no run could be read
	TurnsExecuted int            // accepted turns
	TurnHistory   []HistoryEntry // every judgement, the last iteration included
	GatesApproved int
	Errors        []string
	Err           error  // the first refusal behind Errors, with its code and hint; nil for none
	PreemptedBy   string // the urgent intent that was handed out last, or that caused priority_preempted
}

// Object returns the result in the protocol's form: ok, stop_reason, state, turns_executed,
// turn_history, gates_approved, errors.
func (r *Result) Object() *ojson.Object {
	history := make([]*ojson.Object, len(r.TurnHistory))
	for i := range r.TurnHistory {
		history[i] = ojson.Marshal(&r.TurnHistory[i])
	}
	var state *ojson.Object
	if r.State != nil {
		state = ojson.Marshal(r.State)
	}
	o := ojson.NewObject("ok", r.OK, "stop_reason", string(r.StopReason), "state", state,
		"turns_executed", r.TurnsExecuted,
		"turn_history", history, "gates_approved", r.GatesApproved, "errors", r.Errors)
	if r.Cause != "" {
		o.Set("cause", r.Cause)
	}
	if r.PreemptedBy != "" {
		o.Set("preempted_by", r.PreemptedBy)
	}
	return o
}
