// Vocabularies of states, turns and authorities (spec/01 §1.4, §3).

package wire

// Status is the run's status.
type Status string

const (
	StatusIdle      Status = "idle"
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusBlocked   Status = "blocked"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed" // reserved: read, never written
)

// Turn statuses (spec/01 §3.2).
const (
	TurnAssigned         = "assigned"
	TurnDispatched       = "dispatched"
	TurnStarting         = "starting"
	TurnRunning          = "running"
	TurnRetrying         = "retrying"
	TurnConflicted       = "conflicted"
	TurnFailedAcceptance = "failed_acceptance"
	TurnFailed           = "failed"
	TurnFailedStart      = "failed_start"
	TurnStalled          = "stalled"
)

// Write authorities (spec/01 §1.4).
const (
	Authoritative = "authoritative"
	Proposed      = "proposed"
	ReviewOnly    = "review_only"
)

// Result statuses of a turn (spec/02 §2.2).
const (
	ResultCompleted  = "completed"
	ResultBlocked    = "blocked"
	ResultNeedsHuman = "needs_human"
	ResultFailed     = "failed"
)

// Values of phase_gate_status.
const (
	GatePending    = "pending"
	GatePassed     = "passed"
	GateFailed     = "failed"
	GateReconciled = "cleared_by_reconciliation"
)
