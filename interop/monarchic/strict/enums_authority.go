// Enums of the durable authority and the service boundary (spec/08 §3, §5, §9).

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// LeaseLifecycleState is the state of a lease.
type LeaseLifecycleState string

const (
	LeaseIssued    LeaseLifecycleState = "issued"
	LeaseActive    LeaseLifecycleState = "active"
	LeaseReleased  LeaseLifecycleState = "released"
	LeaseExpired   LeaseLifecycleState = "expired"
	LeaseCancelled LeaseLifecycleState = "cancelled"
	LeaseRejected  LeaseLifecycleState = "rejected"
)

// Set describes the enum.
func (LeaseLifecycleState) Set() *wire.Set {
	return set("LEASE_LIFECYCLE_STATE_UNSPECIFIED", "LEASE_", "", "issued", "active", "released", "expired", "cancelled", "rejected")
}

// RunLifecycleState is the state of a run.
type RunLifecycleState string

const (
	RunPending    RunLifecycleState = "pending"
	RunExecuting  RunLifecycleState = "executing"
	RunPaused     RunLifecycleState = "paused"
	RunCancelling RunLifecycleState = "cancelling"
	RunCancelled  RunLifecycleState = "cancelled"
	RunFailed     RunLifecycleState = "failed"
	RunComplete   RunLifecycleState = "complete"
	RunBlocked    RunLifecycleState = "blocked"
)

// Set describes the enum.
func (RunLifecycleState) Set() *wire.Set {
	return set("RUN_LIFECYCLE_STATE_UNSPECIFIED", "RUN_", "", "pending", "executing", "paused", "cancelling", "cancelled", "failed", "complete", "blocked")
}

// StepLifecycleState is the state of a step.
type StepLifecycleState string

const (
	StepStatePending   StepLifecycleState = "pending"
	StepStateReady     StepLifecycleState = "ready"
	StepStateLeased    StepLifecycleState = "leased"
	StepStateRunning   StepLifecycleState = "running"
	StepStateComplete  StepLifecycleState = "complete"
	StepStateFailed    StepLifecycleState = "failed"
	StepStateCancelled StepLifecycleState = "cancelled"
	StepStateBlocked   StepLifecycleState = "blocked"
)

// Set describes the enum.
func (StepLifecycleState) Set() *wire.Set {
	return set("STEP_LIFECYCLE_STATE_UNSPECIFIED", "STEP_", "", "pending", "ready", "leased", "running", "complete", "failed", "cancelled", "blocked")
}

// LeaseRejectionReason says why a lease was refused.
type LeaseRejectionReason string

const (
	RejectStaleFencingToken   LeaseRejectionReason = "stale_fencing_token"
	RejectLeaseExpired        LeaseRejectionReason = "lease_expired"
	RejectSessionMismatch     LeaseRejectionReason = "session_mismatch"
	RejectUnknownLease        LeaseRejectionReason = "unknown_lease"
	RejectStepAlreadyTerminal LeaseRejectionReason = "step_already_terminal"
	RejectRunNotExecutable    LeaseRejectionReason = "run_not_executable"
	RejectDependencyBlocked   LeaseRejectionReason = "dependency_blocked"
	RejectLeaseSuperseded     LeaseRejectionReason = "lease_superseded"
)

// Set describes the enum.
func (LeaseRejectionReason) Set() *wire.Set {
	return set("LEASE_REJECTION_REASON_UNSPECIFIED", "LEASE_REJECTION_", "", "stale_fencing_token", "lease_expired", "session_mismatch", "unknown_lease", "step_already_terminal", "run_not_executable", "dependency_blocked", "lease_superseded")
}

// RecoveryEventKind says what happened during recovery.
type RecoveryEventKind string

const (
	RecoveryOrchestratorStarted      RecoveryEventKind = "orchestrator_started"
	RecoveryStateReloaded            RecoveryEventKind = "state_reloaded"
	RecoveryLeaseRestored            RecoveryEventKind = "lease_restored"
	RecoveryLeaseRejected            RecoveryEventKind = "lease_rejected"
	RecoveryStepRequeued             RecoveryEventKind = "step_requeued"
	RecoveryStepBlocked              RecoveryEventKind = "step_blocked"
	RecoveryRunRecovered             RecoveryEventKind = "run_recovered"
	RecoveryCancellationRequested    RecoveryEventKind = "cancellation_requested"
	RecoveryCancellationAcknowledged RecoveryEventKind = "cancellation_acknowledged"
)

// Set describes the enum.
func (RecoveryEventKind) Set() *wire.Set {
	return set("RECOVERY_EVENT_KIND_UNSPECIFIED", "RECOVERY_EVENT_", "", "orchestrator_started", "state_reloaded", "lease_restored", "lease_rejected", "step_requeued", "step_blocked", "run_recovered", "cancellation_requested", "cancellation_acknowledged")
}

// OverrideAction says what a person overrode.
type OverrideAction string

const (
	OverrideApproveBlockedRun  OverrideAction = "approve_blocked_run"
	OverrideApprovePublication OverrideAction = "approve_publication"
	OverrideBypassGate         OverrideAction = "bypass_gate"
	OverrideExtendLease        OverrideAction = "extend_lease"
	OverrideCancelRun          OverrideAction = "cancel_run"
	OverrideResumeRun          OverrideAction = "resume_run"
)

// Set describes the enum.
func (OverrideAction) Set() *wire.Set {
	return set("", "", "unspecified", "approve_blocked_run", "approve_publication", "bypass_gate", "extend_lease", "cancel_run", "resume_run")
}

// AuthMechanism says how a caller proved who it is.
type AuthMechanism string

const (
	AuthSharedSecret AuthMechanism = "shared_secret"
	AuthBearerToken  AuthMechanism = "bearer_token"
	AuthSignedToken  AuthMechanism = "signed_token"
	AuthMutualTLS    AuthMechanism = "mutual_tls"
	AuthCustom       AuthMechanism = "custom"
)

// Set describes the enum.
func (AuthMechanism) Set() *wire.Set {
	return set("AUTH_MECHANISM_UNSPECIFIED", "AUTH_MECHANISM_", "unspecified", "shared_secret", "bearer_token", "signed_token", "mutual_tls", "custom")
}

// UsageCategory says what something was used for.
type UsageCategory string

const (
	UsageControlPlane UsageCategory = "control_plane"
	UsageExecution    UsageCategory = "execution"
	UsageVerification UsageCategory = "verification"
	UsageAuditExport  UsageCategory = "audit_export"
	UsageCustom       UsageCategory = "custom"
)

// Set describes the enum.
func (UsageCategory) Set() *wire.Set {
	return set("USAGE_CATEGORY_UNSPECIFIED", "USAGE_CATEGORY_", "unspecified", "control_plane", "execution", "verification", "audit_export", "custom")
}

// UsageUnit says what a quantity counts.
type UsageUnit string

const (
	UnitRequests     UsageUnit = "requests"
	UnitMilliseconds UsageUnit = "milliseconds"
	UnitBytes        UsageUnit = "bytes"
	UnitTokens       UsageUnit = "tokens"
	UnitRuns         UsageUnit = "runs"
	UnitCustom       UsageUnit = "custom"
)

// Set describes the enum.
func (UsageUnit) Set() *wire.Set {
	return set("USAGE_UNIT_UNSPECIFIED", "USAGE_UNIT_", "unspecified", "requests", "milliseconds", "bytes", "tokens", "runs", "custom")
}
