// Enums of the durable authority and the service boundary (docs/monarchic.md#types).

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// LeaseLifecycleState is the state of a lease.
type LeaseLifecycleState string

const (
	LeaseIssued   LeaseLifecycleState = "issued"
	LeaseActive   LeaseLifecycleState = "active"
	LeaseExpired  LeaseLifecycleState = "expired"
	LeaseRejected LeaseLifecycleState = "rejected"
)

// Set describes the enum.
func (LeaseLifecycleState) Set() *wire.Set {
	return set("LEASE_LIFECYCLE_STATE_UNSPECIFIED", "LEASE_", "", "issued", "active", "released", "expired",
		"cancelled", "rejected")
}

// RunLifecycleState is the state of a run.
type RunLifecycleState string

const (
	RunPending   RunLifecycleState = "pending"
	RunExecuting RunLifecycleState = "executing"
	RunPaused    RunLifecycleState = "paused"
	RunFailed    RunLifecycleState = "failed"
	RunComplete  RunLifecycleState = "complete"
	RunBlocked   RunLifecycleState = "blocked"
)

// Set describes the enum.
func (RunLifecycleState) Set() *wire.Set {
	return set("RUN_LIFECYCLE_STATE_UNSPECIFIED", "RUN_", "", "pending", "executing", "paused", "cancelling",
		"cancelled", "failed", "complete", "blocked")
}

// StepLifecycleState is the state of a step.
type StepLifecycleState string

const (
	StepStateReady   StepLifecycleState = "ready"
	StepStateBlocked StepLifecycleState = "blocked"
)

// Set describes the enum.
func (StepLifecycleState) Set() *wire.Set {
	return set("STEP_LIFECYCLE_STATE_UNSPECIFIED", "STEP_", "", "pending", "ready", "leased", "running",
		"complete", "failed", "cancelled", "blocked")
}

// LeaseRejectionReason says why a lease was refused.
type LeaseRejectionReason string

// Set describes the enum.
func (LeaseRejectionReason) Set() *wire.Set {
	return set("LEASE_REJECTION_REASON_UNSPECIFIED", "LEASE_REJECTION_", "", "stale_fencing_token", "lease_expired",
		"session_mismatch", "unknown_lease", "step_already_terminal", "run_not_executable",
		"dependency_blocked", "lease_superseded")
}

// RecoveryEventKind says what happened during recovery.
type RecoveryEventKind string

const (
	RecoveryStateReloaded RecoveryEventKind = "state_reloaded"
	RecoveryStepRequeued  RecoveryEventKind = "step_requeued"
	RecoveryStepBlocked   RecoveryEventKind = "step_blocked"
	RecoveryRunRecovered  RecoveryEventKind = "run_recovered"
)

// Set describes the enum.
func (RecoveryEventKind) Set() *wire.Set {
	return set("RECOVERY_EVENT_KIND_UNSPECIFIED", "RECOVERY_EVENT_", "", "orchestrator_started", "state_reloaded",
		"lease_restored", "lease_rejected", "step_requeued", "step_blocked", "run_recovered", "cancellation_requested",
		"cancellation_acknowledged")
}

// OverrideAction says what a person overrode.
type OverrideAction string

// Set describes the enum.
func (OverrideAction) Set() *wire.Set {
	return set("", "", "unspecified", "approve_blocked_run", "approve_publication", "bypass_gate", "extend_lease",
		"cancel_run", "resume_run")
}

// AuthMechanism says how a caller proved its identity.
type AuthMechanism string

// Set describes the enum.
func (AuthMechanism) Set() *wire.Set {
	return set("AUTH_MECHANISM_UNSPECIFIED", "AUTH_MECHANISM_", "unspecified", "shared_secret", "bearer_token",
		"signed_token", "mutual_tls", "custom")
}

// UsageCategory says what something was used for.
type UsageCategory string

// Set describes the enum.
func (UsageCategory) Set() *wire.Set {
	return set("USAGE_CATEGORY_UNSPECIFIED", "USAGE_CATEGORY_", "unspecified", "control_plane", "execution",
		"verification", "audit_export", "custom")
}

// UsageUnit says what a quantity counts.
type UsageUnit string

// Set describes the enum.
func (UsageUnit) Set() *wire.Set {
	return set("USAGE_UNIT_UNSPECIFIED", "USAGE_UNIT_", "unspecified", "requests", "milliseconds", "bytes", "tokens",
		"runs", "custom")
}
