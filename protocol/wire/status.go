// Vocabularies of states, turns and authorities (docs/spec/configuration.md#roles).

package wire

// Status is the run's status.
type Status string

const (
	StatusIdle      Status = "idle"
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusBlocked   Status = "blocked"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed" // a run that a person abandoned; the reference reads it but never writes it
)

// Ended reports whether a run of this status is over.
func (s Status) Ended() bool { return s == StatusCompleted || s == StatusFailed }

// Turn statuses (docs/spec/state.md#a-turn).
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

// Write authorities (docs/spec/configuration.md#roles).
const (
	Authoritative = "authoritative"
	Proposed      = "proposed"
	ReviewOnly    = "review_only"
)

// Result statuses of a turn (docs/spec/lifecycle.md#the-next-state).
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
