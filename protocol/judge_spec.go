// Where each rule stands: sections of docs/spec.

package protocol

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Names of the rules of a verdict chain. They are part of --json output
// (docs/spec/verdicts.md#rules).
const (
	RuleStatus      = "run.status"
	RuleTurn        = "turn.active"
	RuleBundle      = "turn.bundle"
	RuleStages      = "result.stages"
	RuleStage       = "result." // + the stage
	RuleWait        = "run.waits"
	RuleProtected   = "files.protected"
	RuleProposal    = "proposal.files"
	RuleOverride    = "decisions.override"
	RuleObserved    = "files.observed"
	RuleSignoff     = "signoff.person"
	RuleIntent      = "intent.covered"
	RuleCoverage    = "gate.coverage"
	RuleEmpty       = "artifact.empty"
	RuleReplay      = "verification.replay"
	RulePolicies    = "policies"
	RulePolicy      = "policy." // + the rule of the policy
	RuleConflict    = "files.conflict"
	RuleDrift       = "files.drift"
	RuleGate        = "gate"
	RuleGateRequest = "gate.request"
	RuleGateFile    = "gate.file"
	RuleGateVerify  = "gate.verification"
	RuleGatePerson  = "gate.person"
	RuleGateActions = "gate.actions"
	RuleApproval    = "approval_policy"
	RulePending     = "approval.pending"
	RulePeople      = "approval.people"
	RuleTimeout     = "timeout." // + turn, phase, run
	RuleBudgetRun   = "budget.run"
	RuleBudgetTurn  = "budget.turn"
	RuleNonProgress = "run.non_progress"
	RuleRole        = "role.resolved"
	RuleCapacity    = "turns.capacity"
	RuleClean       = "worktree.clean"
	RuleHook        = "hook." // + the phase of the hook
	RuleAttempts    = "turn.attempts"
)

const specDir = "docs/spec/"

// SpecOf is the section of docs/spec that a rule stands in.
func SpecOf(rule string) string {
	switch rule {
	case RuleGateVerify, RuleGateFile:
		return specDir + "gates.md#what-a-gate-looks-at"
	case RuleGate, RuleGateRequest:
		return specDir + "gates.md#outcomes"
	case RuleCoverage:
		return specDir + "gates.md#before-an-acceptance"
	case RuleGatePerson, RulePending:
		return specDir + "gates.md#approval-by-a-person"
	case RulePeople:
		return specDir + "approvals.md#who-counts"
	case RuleGateActions:
		return specDir + "gates.md#gate-actions"
	case RuleApproval:
		return specDir + "gates.md#approval-policy"
	case RulePolicies:
		return specDir + "gates.md#policies"
	case RuleSignoff:
		return specDir + "gates.md#sign-off-documents"
	case RuleStages:
		return specDir + "results.md#the-five-stages"
	case RuleReplay:
		return specDir + "results.md#verification-replay"
	case RuleOverride:
		return specDir + "state.md#repository-decisions"
	case RuleObserved, RuleEmpty:
		return specDir + "observation.md#declared-against-observed"
	case RuleProtected:
		return specDir + "observation.md#path-classes"
	case RuleConflict:
		return specDir + "observation.md#conflicts"
	case RuleProposal:
		return specDir + "observation.md#derived-reviews-and-proposals"
	case RuleClean:
		return specDir + "observation.md#a-clean-start"
	case RuleBudgetRun, RuleBudgetTurn:
		return specDir + "lifecycle.md#budget"
	case RuleNonProgress:
		return specDir + "lifecycle.md#lack-of-progress"
	case RuleRole, RuleCapacity:
		return specDir + "lifecycle.md#assigning-a-turn"
	case RuleAttempts:
		return specDir + "lifecycle.md#rejecting-a-turn"
	case RuleStatus, RuleTurn, RuleBundle, RuleWait, RuleDrift, RuleIntent:
		return specDir + "lifecycle.md#accepting-a-turn"
	}
	switch {
	case strings.HasPrefix(rule, RulePolicy):
		return specDir + "gates.md#policies"
	case strings.HasPrefix(rule, RuleHook):
		return "docs/hooks.md"
	case strings.HasPrefix(rule, RuleTimeout):
		return specDir + "gates.md#timeouts"
	case strings.HasPrefix(rule, RuleGate+"."):
		return gateSpec(strings.TrimPrefix(rule, RuleGate+"."))
	case strings.HasPrefix(rule, RuleStage):
		return stageSpec(strings.TrimPrefix(rule, RuleStage))
	}
	return specDir + "README.md"
}

func gateSpec(finding string) string {
	switch finding {
	case FindingSemantics, FindingMalformedArtifact:
		return specDir + "gates.md#semantic-evaluators"
	case FindingDocumentStale:
		return specDir + "gates.md#fresh-documents"
	case FindingSignoffStale:
		return specDir + "gates.md#sign-off-documents"
	}
	return specDir + "gates.md#what-a-gate-looks-at"
}

func stageSpec(stage string) string {
	switch stage {
	case "schema":
		return specDir + "results.md#members"
	case "artifact":
		return specDir + "results.md#artifact"
	case "verification":
		return specDir + "results.md#verification-stage"
	case "protocol":
		return specDir + "results.md#protocol-stage"
	}
	return specDir + "results.md#the-five-stages"
}

// specOfOperation is the section about an operation.
func specOfOperation(name string) string {
	switch name {
	case "init_run":
		return specDir + "lifecycle.md#starting-a-run"
	case "assign_turn":
		return specDir + "lifecycle.md#assigning-a-turn"
	case "dispatch_turn", "advance_turn", "refresh_baseline", "dispatch_timeout", "watch":
		return specDir + "lifecycle.md#the-life-of-a-dispatch"
	case OpAccept:
		return specDir + "lifecycle.md#accepting-a-turn"
	case "reject_turn":
		return specDir + "lifecycle.md#rejecting-a-turn"
	case "reissue_turn":
		return specDir + "lifecycle.md#reissuing-a-turn"
	case "approve_transition", "approve_completion":
		return specDir + "gates.md#approval-by-a-person"
	case "deny_gate":
		return specDir + "gates.md#a-person-says-no"
	case OpObjection:
		return specDir + "results.md#objections"
	case OpRetry:
		return specDir + "gates.md#a-failed-gate-is-asked-again"
	case "withdraw_approval":
		return specDir + "gates.md#an-approval-is-taken-back"
	case "checkpoint_turn":
		return specDir + "lifecycle.md#checkpoints"
	case "abandon_run":
		return specDir + "lifecycle.md#abandoning-a-run"
	case "escalate", "block", "reactivate":
		return specDir + "lifecycle.md#blocking-escalating-reactivating"
	case "config_adopt":
		return specDir + "configuration.md"
	}
	return specDir + "README.md"
}

// SpecOfCode is the section of docs/spec about what a refusal of this code asks for.
func SpecOfCode(code string) string {
	switch code {
	case wire.CodeInvalidConfig, wire.CodeUnknownRole, wire.CodeUnknownRuntime:
		return specDir + "configuration.md"
	case wire.CodeInvalidState, wire.CodeImmutableField:
		return specDir + "state.md#the-state"
	case wire.CodeRoleNotRouted, wire.CodeTurnActive, wire.CodeRoleActive, wire.CodeAtCapacity:
		return SpecOf(RuleCapacity)
	case wire.CodeBudgetExhausted:
		return SpecOf(RuleBudgetRun)
	case wire.CodeDirtyTree, wire.CodeCheckpointRequired:
		return SpecOf(RuleClean)
	case wire.CodeRunBlocked:
		return specDir + "state.md#what-blocks-a-run"
	case wire.CodeAwaitingApproval, wire.CodeNothingPending, wire.CodeInsideTurn:
		return SpecOf(RulePending)
	case wire.CodeValidationFailed, wire.CodeProtocolError, "empty_required_field", "invalid_enum_value",
		"invalid_decision_id_format", "duplicate_decision_id":
		return SpecOf(RuleStages)
	case wire.CodeBundleInvalid:
		return SpecOf(RuleBundle)
	case wire.CodeOverrideFailed:
		return SpecOf(RuleOverride)
	case wire.CodeProducedFiles, wire.CodeDirtyTreeMismatch, wire.CodeUndeclaredOutputs, wire.CodeArtifactMismatch,
		wire.CodeEmptyWorkspace, "write_authority", "reserved_path_violation":
		return SpecOf(RuleObserved)
	case wire.CodeGateCoverage:
		return SpecOf(RuleCoverage)
	case wire.CodeReplayDrift:
		return SpecOf(RuleReplay)
	case wire.CodePolicyViolation, wire.CodePolicyEscalation:
		return SpecOf(RulePolicies)
	case wire.CodeConflict:
		return SpecOf(RuleConflict)
	case wire.CodeGateFailed:
		return SpecOf(RuleGate)
	case wire.CodeGateActionFailed:
		return SpecOf(RuleGateActions)
	case wire.CodeDelegationOpen:
		return specDir + "lifecycle.md#delegation"
	case wire.CodeNothingToRetry:
		return specOfOperation(OpRetry)
	case wire.CodeNothingToWithdraw:
		return specOfOperation("withdraw_approval")
	case CodeSignoffByAgent:
		return SpecOf(RuleSignoff)
	case CodeApproverNotAllowed, CodeApproverIsAuthor, CodeAlreadyApproved:
		return SpecOf(RulePeople)
	case CodeSignatureRequired, CodeStatementExpired, CodeStatementReplayed, CodeStatementMismatch,
		wire.CodeStatementInvalid, wire.CodeEnvelopeInvalid, wire.CodeSignatureFormat, wire.CodeSignatureInvalid,
		wire.CodeSignerUnknown, wire.CodeSignerExpired, wire.CodeSignerRevoked, wire.CodeSignerNamespace, wire.CodeSignersInvalid:
		return specDir + "approvals.md#how-a-signature-is-judged"
	case wire.CodeTurnNotActive, wire.CodeTurnAlreadyAccepted, wire.CodeStagedMissing, wire.CodeStaleStaging,
		wire.CodeIntentCoverage, wire.CodeAcceptanceDrift, wire.CodeInvalidStateTransition:
		return SpecOf(RuleStatus)
	}
	return specDir + "README.md"
}
