// The rules that a chain names, the findings of gates, and the section of docs/spec for each.

package verdict

import "strings"

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

// SpecDir is the directory of the sections in this repository.
const SpecDir = "docs/spec/"

// SpecOf returns the section of docs/spec that specifies a rule.
func SpecOf(rule string) string {
	switch rule {
	case RuleGateVerify, RuleGateFile:
		return SpecDir + "gates.md#what-a-gate-looks-at"
	case RuleGate, RuleGateRequest:
		return SpecDir + "gates.md#outcomes"
	case RuleCoverage:
		return SpecDir + "gates.md#before-an-acceptance"
	case RuleGatePerson, RulePending:
		return SpecDir + "gates.md#approval-by-a-person"
	case RulePeople:
		return SpecDir + "approvals.md#who-counts"
	case RuleGateActions:
		return SpecDir + "gates.md#gate-actions"
	case RuleApproval:
		return SpecDir + "gates.md#approval-policy"
	case RulePolicies:
		return SpecDir + "gates.md#policies"
	case RuleSignoff:
		return SpecDir + "gates.md#sign-off-documents"
	case RuleStages:
		return SpecDir + "results.md#the-five-stages"
	case RuleReplay:
		return SpecDir + "results.md#verification-replay"
	case RuleOverride:
		return SpecDir + "state.md#repository-decisions"
	case RuleObserved, RuleEmpty:
		return SpecDir + "observation.md#declared-against-observed"
	case RuleProtected:
		return SpecDir + "observation.md#path-classes"
	case RuleConflict:
		return SpecDir + "observation.md#conflicts"
	case RuleProposal:
		return SpecDir + "observation.md#derived-reviews-and-proposals"
	case RuleClean:
		return SpecDir + "observation.md#a-clean-start"
	case RuleBudgetRun, RuleBudgetTurn:
		return SpecDir + "lifecycle.md#budget"
	case RuleNonProgress:
		return SpecDir + "lifecycle.md#lack-of-progress"
	case RuleRole, RuleCapacity:
		return SpecDir + "lifecycle.md#assigning-a-turn"
	case RuleAttempts:
		return SpecDir + "lifecycle.md#rejecting-a-turn"
	case RuleStatus, RuleTurn, RuleBundle, RuleWait, RuleDrift, RuleIntent:
		return SpecDir + "lifecycle.md#accepting-a-turn"
	}
	switch {
	case strings.HasPrefix(rule, RulePolicy):
		return SpecDir + "gates.md#policies"
	case strings.HasPrefix(rule, RuleHook):
		return "docs/hooks.md"
	case strings.HasPrefix(rule, RuleTimeout):
		return SpecDir + "gates.md#timeouts"
	case strings.HasPrefix(rule, RuleGate+"."):
		return gateSpec(strings.TrimPrefix(rule, RuleGate+"."))
	case strings.HasPrefix(rule, RuleStage):
		return stageSpec(strings.TrimPrefix(rule, RuleStage))
	}
	return SpecDir + "README.md"
}

func gateSpec(finding string) string {
	switch finding {
	case FindingSemantics, FindingMalformedArtifact:
		return SpecDir + "gates.md#semantic-evaluators"
	case FindingDocumentStale:
		return SpecDir + "gates.md#fresh-documents"
	case FindingSignoffStale:
		return SpecDir + "gates.md#sign-off-documents"
	}
	return SpecDir + "gates.md#what-a-gate-looks-at"
}

func stageSpec(stage string) string {
	switch stage {
	case "schema":
		return SpecDir + "results.md#members"
	case "artifact":
		return SpecDir + "results.md#artifact"
	case "verification":
		return SpecDir + "results.md#verification-stage"
	case "protocol":
		return SpecDir + "results.md#protocol-stage"
	}
	return SpecDir + "results.md#the-five-stages"
}

// Codes of gate findings: what a reason is about, so that no caller needs to
// read its text.
const (
	FindingMissingFile       = "missing_file"
	FindingSemantics         = "semantics"
	FindingOwnership         = "ownership"
	FindingVerification      = "verification"
	FindingNotReproducible   = "verification_not_reproducible"
	FindingUnknownPhase      = "unknown_phase"
	FindingPhaseOrder        = "phase_order"
	FindingFinalPhase        = "final_phase"
	FindingNotFinalPhase     = "not_final_phase"
	FindingUndefinedGate     = "undefined_gate" // does not fail the gate
	FindingMalformedArtifact = "malformed_artifact"
	FindingSignoffStale      = "signoff_stale"  // a sign-off that no person gave in this run
	FindingObjection         = "objection_open" // rules.objections_block
	FindingDocumentStale     = "document_stale" // a document that no turn of the phase touched
)
