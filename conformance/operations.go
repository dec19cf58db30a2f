// Which code runs which fixture operation, and which setup members it may have
// (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// outcome is the outcome of an operation: the actual that is compared.
type outcome = *ojson.Object

// operation runs one fixture. The error is for fixtures that cannot be run; a refusal by the engine is an outcome.
type operation struct {
	setup []string // setup members that it reads or that cannot affect it
	run   func(*workspace) (outcome, error)
}

// lookup finds an operation. Operations that this adapter lacks, known to the protocol or not, are not_implemented.
func lookup(name string) (operation, error) {
	// The members of a governed workspace, which every operation accepts.
	local := []string{"config", "state", "turn_result", "history", "ledger", "filesystem", "dispatch_bundle"}
	sealed := append([]string{"post_finalize_inject", "post_finalize_tamper", "post_finalize_delete",
		"post_finalize_delete_manifest", "post_finalize_corrupt_manifest"}, local...)
	initiative := []string{"coordinator_config", "repos", "coordinator_state", "barriers", "coordinator_history",
		"barrier_ledger"}
	var run func(*workspace) (outcome, error)
	setup := local
	switch name {
	case "initialize_run":
		run = initializeRun
	case "assign_turn":
		run = assignTurn
	case "approve_transition":
		run = approveTransition
	case "approve_completion":
		run = approveCompletion
	case "resolve_blocked":
		run = resolveBlocked
	case "transition_state":
		run = transitionState
	case "validate_turn_result":
		run = validateTurnResult
	case "accept_turn":
		run, setup = acceptTurn, sealed
	case "evaluate_phase_exit":
		run = evaluatePhaseExit
	case "evaluate_run_completion":
		run = evaluateRunCompletion
	case "append_decision":
		run = appendDecision
	case "validate_config":
		run = validateConfig
	case "validate_event":
		run = validateEvent
	case "validate_event_ordering":
		run = validateEventOrdering
	case "verify_dispatch_manifest":
		run, setup = verifyDispatchManifest, sealed
	case "inspect_dispatch_manifest":
		run = inspectDispatchManifest
	case "validate_coordinator_config":
		run, setup = validateCoordinatorConfig, initiative
	case "project_repo_acceptance":
		run, setup = projectRepoAcceptance, initiative
	case "run_hooks":
		run = runHooks
	default:
		return operation{}, notImplemented("%s is not an operation this adapter knows", show(name))
	}
	return operation{setup: setup, run: run}, nil
}

// notImplemented returns the error for an unsupported use of an operation.
func notImplemented(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotImplemented, fmt.Sprintf(format, args...))
}
