// Enums of the client boundary (docs/monarchic.md#types): exact tokens only.

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// set describes an enum: the protobuf name of number 0, the prefix of its other protobuf names, and
// its tokens by number; the token of number 0 is "" when closed objects may not have it.
func set(zero, prefix string, tokens ...string) *wire.Set {
	return &wire.Set{Zero: zero, Prefix: prefix, Tokens: tokens}
}

// IntentClass says what an intent asks for.
type IntentClass string

const (
	IntentInspect IntentClass = "inspect"
	IntentExecute IntentClass = "execute"
)

// Set describes the enum.
func (IntentClass) Set() *wire.Set {
	return set("INTENT_CLASS_UNSPECIFIED", "INTENT_CLASS_", "unspecified", "inspect", "validate", "execute", "verify")
}

// ArtifactKind says what an artifact is.
type ArtifactKind string

const (
	ArtifactPatch      ArtifactKind = "patch"
	ArtifactTestReport ArtifactKind = "test_report"
	ArtifactCustom     ArtifactKind = "custom"
)

// Set describes the enum.
func (ArtifactKind) Set() *wire.Set {
	return set("ARTIFACT_KIND_UNSPECIFIED", "ARTIFACT_KIND_", "", "plan", "execution_receipt", "verification_receipt",
		"event_log", "digest_manifest", "proof_manifest", "patch", "test_report", "build_log", "bundle", "custom")
}

// PlanStepKind is the purpose of a step.
type PlanStepKind string

const (
	StepExecution    PlanStepKind = "execution"
	StepVerification PlanStepKind = "verification"
	StepReview       PlanStepKind = "review"
	StepRelease      PlanStepKind = "release"
	StepCustom       PlanStepKind = "custom"
)

// Set describes the enum.
func (PlanStepKind) Set() *wire.Set {
	return set("PLAN_STEP_KIND_UNSPECIFIED", "PLAN_STEP_KIND_", "", "analysis", "execution", "verification", "review",
		"merge", "release", "custom")
}

// ReplanStrategy says what to do when a step fails.
type ReplanStrategy string

const (
	ReplanRetry  ReplanStrategy = "retry"
	ReplanRepair ReplanStrategy = "repair"
)

// Set describes the enum.
func (ReplanStrategy) Set() *wire.Set {
	return set("REPLAN_STRATEGY_UNSPECIFIED", "REPLAN_STRATEGY_", "", "retry", "repair", "escalate", "block")
}

// ExecutionStatus is the state of a step in a strict receipt; it has no protobuf enum.
type ExecutionStatus string

const (
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionBlocked   ExecutionStatus = "blocked"
)

// Set describes the enum.
func (ExecutionStatus) Set() *wire.Set {
	return set("", "", "", "pending", "running", "completed", "failed", "cancelled", "blocked")
}

// VerificationStatus is the verdict of a verification.
type VerificationStatus string

const (
	VerificationPending VerificationStatus = "pending"
	VerificationPassed  VerificationStatus = "passed"
	VerificationFailed  VerificationStatus = "failed"
	VerificationBlocked VerificationStatus = "blocked"
)

// Set describes the enum.
func (VerificationStatus) Set() *wire.Set {
	return set("VERIFICATION_STATUS_UNSPECIFIED", "VERIFICATION_STATUS_", "", "pending", "passed", "failed", "blocked")
}

// VerificationCheckStatus is the verdict of one check.
type VerificationCheckStatus string

const (
	CheckPassed  VerificationCheckStatus = "passed"
	CheckFailed  VerificationCheckStatus = "failed"
	CheckBlocked VerificationCheckStatus = "blocked"
)

// Set describes the enum.
func (VerificationCheckStatus) Set() *wire.Set {
	return set("VERIFICATION_CHECK_STATUS_UNSPECIFIED", "VERIFICATION_CHECK_STATUS_", "", "passed", "failed",
		"blocked", "skipped")
}

// BlockedOutcomeScope says what is blocked.
type BlockedOutcomeScope string

const (
	BlockedIntent       BlockedOutcomeScope = "intent"
	BlockedPlan         BlockedOutcomeScope = "plan"
	BlockedStep         BlockedOutcomeScope = "step"
	BlockedRun          BlockedOutcomeScope = "run"
	BlockedVerification BlockedOutcomeScope = "verification"
	BlockedMerge        BlockedOutcomeScope = "merge"
	BlockedRelease      BlockedOutcomeScope = "release"
)

// Set describes the enum.
func (BlockedOutcomeScope) Set() *wire.Set {
	return set("BLOCKED_OUTCOME_SCOPE_UNSPECIFIED", "BLOCKED_OUTCOME_SCOPE_", "", "intent", "plan", "step", "run",
		"verification", "merge", "release")
}

// ReviewDecisionScope says what was reviewed.
type ReviewDecisionScope string

const (
	ReviewPlan    ReviewDecisionScope = "plan"
	ReviewStep    ReviewDecisionScope = "step"
	ReviewRelease ReviewDecisionScope = "release"
)

// Set describes the enum.
func (ReviewDecisionScope) Set() *wire.Set {
	return set("REVIEW_DECISION_SCOPE_UNSPECIFIED", "REVIEW_DECISION_SCOPE_", "", "plan", "step", "pull_request",
		"verification", "release")
}

// ReviewDisposition says what the reviewer wants.
type ReviewDisposition string

const (
	DecisionApprove        ReviewDisposition = "approve"
	DecisionRequestChanges ReviewDisposition = "request_changes"
	DecisionReject         ReviewDisposition = "reject"
	DecisionDefer          ReviewDisposition = "defer"
)

// Set describes the enum.
func (ReviewDisposition) Set() *wire.Set {
	return set("REVIEW_DISPOSITION_UNSPECIFIED", "REVIEW_DISPOSITION_", "", "approve", "request_changes",
		"reject", "defer")
}

// RerunTrigger says why something is repeated.
type RerunTrigger string

const (
	TriggerReviewDecision RerunTrigger = "review_decision"
	TriggerManual         RerunTrigger = "manual"
)

// Set describes the enum.
func (RerunTrigger) Set() *wire.Set {
	return set("RERUN_TRIGGER_UNSPECIFIED", "RERUN_TRIGGER_", "unspecified", "review_decision", "manual")
}

// RerunSelectionStrategy says how the repeated work was selected.
type RerunSelectionStrategy string

// Set describes the enum.
func (RerunSelectionStrategy) Set() *wire.Set {
	return set("RERUN_SELECTION_STRATEGY_UNSPECIFIED", "RERUN_SELECTION_STRATEGY_", "unspecified", "task_ids",
		"step_ids", "paths")
}

// RerunExecutionStatus is the outcome of a rerun.
type RerunExecutionStatus string

// Set describes the enum.
func (RerunExecutionStatus) Set() *wire.Set {
	return set("RERUN_EXECUTION_STATUS_UNSPECIFIED", "RERUN_EXECUTION_STATUS_", "unspecified", "pending", "succeeded",
		"failed", "partial")
}

// RunEventStream says which part of a run an event belongs to.
type RunEventStream string

const (
	StreamExecution    RunEventStream = "execution"
	StreamRecovery     RunEventStream = "recovery"
	StreamReview       RunEventStream = "review"
	StreamVerification RunEventStream = "verification"
	StreamLifecycle    RunEventStream = "lifecycle"
	StreamCustom       RunEventStream = "custom"
)

// Set describes the enum.
func (RunEventStream) Set() *wire.Set {
	return set("RUN_EVENT_STREAM_UNSPECIFIED", "RUN_EVENT_STREAM_", "", "execution", "recovery",
		"review", "verification", "lifecycle", "custom")
}

// TaskMessageKind is the purpose of a message.
type TaskMessageKind string

const (
	KindClarificationRequest  TaskMessageKind = "clarification_request"
	KindClarificationResponse TaskMessageKind = "clarification_response"
)

// Set describes the enum.
func (TaskMessageKind) Set() *wire.Set {
	return set("TASK_MESSAGE_KIND_UNSPECIFIED", "TASK_MESSAGE_KIND_", "unspecified", "artifact_ready",
		"clarification_request", "clarification_response")
}

// ConnectionKind says what an edge of a campaign pipeline means.
type ConnectionKind string

// Set describes the enum.
func (ConnectionKind) Set() *wire.Set {
	return set("CAMPAIGN_PIPELINE_CONNECTION_KIND_UNSPECIFIED", "CAMPAIGN_PIPELINE_CONNECTION_KIND_", "", "depends_on",
		"handoff", "review", "message_route", "artifact_flow")
}
