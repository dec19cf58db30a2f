// Client boundary: the outcome of a plan (docs/monarchic.md#types).

package strict

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// ResolvedRunner is the runner that was chosen for a step (docs/monarchic.md#types).
type ResolvedRunner struct {
	RunnerID        string        `json:"runner_id"`
	Model           *string       `json:"model" wire:"omit"`
	Provider        *string       `json:"provider" wire:"omit"`
	ReasoningEffort *string       `json:"reasoning_effort" wire:"omit"`
	PreferenceIndex uint32        `json:"preference_index" wire:"default"`
	SelectionReason *string       `json:"selection_reason" wire:"omit"`
	Extensions      *ojson.Object `json:"extensions" wire:"empty"`
}

// ExecutionReceipt says what one step did (docs/monarchic.md#types). Times are Unix milliseconds.
type ExecutionReceipt struct {
	ReceiptID           string               `json:"receipt_id"`
	PlanID              string               `json:"plan_id"`
	StepID              string               `json:"step_id"`
	TaskID              string               `json:"task_id"`
	RunnerID            string               `json:"runner_id"`
	ContractVersion     string               `json:"contract_version"`
	Status              ExecutionStatus      `json:"status"`
	StartedAt           uint64               `json:"started_at"`
	FinishedAt          uint64               `json:"finished_at"`
	ArtifactDescriptors []ArtifactDescriptor `json:"artifact_descriptors"`
	EventDigest         string               `json:"event_digest"`
	OutputDigest        string               `json:"output_digest"`
	ResolvedRunner      *ResolvedRunner      `json:"resolved_runner" wire:"omit"`
}

// VerificationCheck is one check of a verification.
type VerificationCheck struct {
	CheckID     string                  `json:"check_id"`
	Name        string                  `json:"name"`
	Status      VerificationCheckStatus `json:"status"`
	Message     string                  `json:"message"`
	ArtifactIDs []string                `json:"artifact_ids"`
}

// BlockedOutcome says why something cannot go on (docs/monarchic.md#types).
type BlockedOutcome struct {
	Code              string               `json:"code"`
	Scope             BlockedOutcomeScope  `json:"scope"`
	Message           string               `json:"message"`
	Details           *ojson.Object        `json:"details"`
	BlockingArtifacts []ArtifactDescriptor `json:"blocking_artifacts"`
}

// VerificationReceipt says what a verification found (docs/monarchic.md#types).
// VerifiedAt is Unix milliseconds.
type VerificationReceipt struct {
	ContractVersion           string              `json:"contract_version" wire:"default=v1"`
	VerificationID            string              `json:"verification_id"`
	PlanID                    string              `json:"plan_id"`
	ExecutionReceiptIDs       []string            `json:"execution_receipt_ids" wire:"default"`
	VerificationPolicyVersion string              `json:"verification_policy_version"`
	Status                    VerificationStatus  `json:"status"`
	Checks                    []VerificationCheck `json:"checks"`
	BlockedOutcomes           []BlockedOutcome    `json:"blocked_outcomes"`
	ArtifactDigestSet         []string            `json:"artifact_digest_set"`
	VerifiedAt                uint64              `json:"verified_at"`
}

// Check checks the receipt against the rules of docs/monarchic.md#types.
func (r *VerificationReceipt) Check(tell report) {
	notEmpty(tell, "verification receipt", "contract_version", r.ContractVersion)
	failed := slices.ContainsFunc(r.Checks, func(c VerificationCheck) bool {
		return c.Status == CheckFailed || c.Status == CheckBlocked
	})
	switch blocked := len(r.BlockedOutcomes) > 0; {
	case r.Status == VerificationPassed && blocked:
		tell("blocked_outcomes", wire.RuleState, "passed verification receipts must not include blocked_outcomes")
	case r.Status == VerificationBlocked && !blocked:
		tell("blocked_outcomes", wire.RuleState,
			"blocked verification receipts must include at least one blocked_outcome")
	case r.Status == VerificationFailed && !failed && !blocked:
		tell("checks", wire.RuleState,
			"failed verification receipts must include a failed or blocked check, or a blocked_outcome")
	}
}

// ReviewDecision is what a reviewer decided (docs/monarchic.md#types). CreatedAt is Unix
// milliseconds.
type ReviewDecision struct {
	DecisionID string              `json:"decision_id"`
	PlanID     string              `json:"plan_id"`
	Scope      ReviewDecisionScope `json:"scope"`
	Actor      string              `json:"actor"`
	Decision   ReviewDisposition   `json:"decision"`
	Reason     string              `json:"reason"`
	CreatedAt  uint64              `json:"created_at"`
}
