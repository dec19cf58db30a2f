// The sections of docs/spec that describe operations and refusals.

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// specOfOperation returns the section about an operation.
func specOfOperation(name string) string {
	switch name {
	case "init_run":
		return verdict.SpecDir + "lifecycle.md#starting-a-run"
	case "assign_turn":
		return verdict.SpecDir + "lifecycle.md#assigning-a-turn"
	case "dispatch_turn", "advance_turn", "refresh_baseline", "dispatch_timeout", "watch":
		return verdict.SpecDir + "lifecycle.md#the-life-of-a-dispatch"
	case OpAccept:
		return verdict.SpecDir + "lifecycle.md#accepting-a-turn"
	case "reject_turn":
		return verdict.SpecDir + "lifecycle.md#rejecting-a-turn"
	case "reissue_turn":
		return verdict.SpecDir + "lifecycle.md#reissuing-a-turn"
	case "approve_transition", "approve_completion":
		return verdict.SpecDir + "gates.md#approval-by-a-person"
	case "deny_gate":
		return verdict.SpecDir + "gates.md#a-person-says-no"
	case OpObjection:
		return verdict.SpecDir + "results.md#objections"
	case OpRetry:
		return verdict.SpecDir + "gates.md#a-failed-gate-is-asked-again"
	case "withdraw_approval":
		return verdict.SpecDir + "gates.md#an-approval-is-taken-back"
	case "checkpoint_turn":
		return verdict.SpecDir + "lifecycle.md#checkpoints"
	case "abandon_run":
		return verdict.SpecDir + "lifecycle.md#abandoning-a-run"
	case "escalate", "block", "reactivate":
		return verdict.SpecDir + "lifecycle.md#blocking-escalating-reactivating"
	case "config_adopt":
		return verdict.SpecDir + "configuration.md"
	}
	return verdict.SpecDir + "README.md"
}

// SpecOfCode returns the section of docs/spec that explains a refusal code.
func SpecOfCode(code string) string {
	switch code {
	case wire.CodeInvalidConfig, wire.CodeUnknownRole, wire.CodeUnknownRuntime:
		return verdict.SpecDir + "configuration.md"
	case wire.CodeInvalidState, wire.CodeImmutableField:
		return verdict.SpecDir + "state.md#the-state"
	case wire.CodeRoleNotRouted, wire.CodeTurnActive, wire.CodeRoleActive, wire.CodeAtCapacity:
		return verdict.SpecOf(verdict.RuleCapacity)
	case wire.CodeBudgetExhausted:
		return verdict.SpecOf(verdict.RuleBudgetRun)
	case wire.CodeDirtyTree, wire.CodeCheckpointRequired:
		return verdict.SpecOf(verdict.RuleClean)
	case wire.CodeRunBlocked:
		return verdict.SpecDir + "state.md#what-blocks-a-run"
	case wire.CodeAwaitingApproval, wire.CodeNothingPending, wire.CodeInsideTurn:
		return verdict.SpecOf(verdict.RulePending)
	case wire.CodeValidationFailed, wire.CodeProtocolError, "empty_required_field", "invalid_enum_value",
		"invalid_decision_id_format", "duplicate_decision_id":
		return verdict.SpecOf(verdict.RuleStages)
	case wire.CodeBundleInvalid:
		return verdict.SpecOf(verdict.RuleBundle)
	case wire.CodeOverrideFailed:
		return verdict.SpecOf(verdict.RuleOverride)
	case wire.CodeProducedFiles, wire.CodeDirtyTreeMismatch, wire.CodeUndeclaredOutputs, wire.CodeArtifactMismatch,
		wire.CodeEmptyWorkspace, "write_authority", "reserved_path_violation":
		return verdict.SpecOf(verdict.RuleObserved)
	case wire.CodeGateCoverage:
		return verdict.SpecOf(verdict.RuleCoverage)
	case wire.CodeReplayDrift:
		return verdict.SpecOf(verdict.RuleReplay)
	case wire.CodePolicyViolation, wire.CodePolicyEscalation:
		return verdict.SpecOf(verdict.RulePolicies)
	case wire.CodeConflict:
		return verdict.SpecOf(verdict.RuleConflict)
	case wire.CodeGateFailed:
		return verdict.SpecOf(verdict.RuleGate)
	case wire.CodeGateActionFailed:
		return verdict.SpecOf(verdict.RuleGateActions)
	case wire.CodeDelegationOpen:
		return verdict.SpecDir + "lifecycle.md#delegation"
	case wire.CodeNothingToRetry:
		return specOfOperation(OpRetry)
	case wire.CodeNothingToWithdraw:
		return specOfOperation("withdraw_approval")
	case CodeSignoffByAgent:
		return verdict.SpecOf(verdict.RuleSignoff)
	case agreement.CodeApproverNotAllowed, agreement.CodeApproverIsAuthor, agreement.CodeAlreadyApproved:
		return verdict.SpecOf(verdict.RulePeople)
	case agreement.CodeSignatureRequired, agreement.CodeStatementExpired, agreement.CodeStatementReplayed,
		agreement.CodeStatementMismatch,
		wire.CodeStatementInvalid, wire.CodeEnvelopeInvalid, wire.CodeSignatureFormat, wire.CodeSignatureInvalid,
		wire.CodeSignerUnknown, wire.CodeSignerExpired, wire.CodeSignerRevoked, wire.CodeSignerNamespace,
		wire.CodeSignersInvalid:
		return verdict.SpecDir + "approvals.md#how-a-signature-is-judged"
	case wire.CodeTurnNotActive, wire.CodeTurnAlreadyAccepted, wire.CodeStagedMissing, wire.CodeStaleStaging,
		wire.CodeIntentCoverage, wire.CodeAcceptanceDrift, wire.CodeInvalidStateTransition:
		return verdict.SpecOf(verdict.RuleStatus)
	}
	return verdict.SpecDir + "README.md"
}
