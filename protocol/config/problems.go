// The stable codes of configuration findings.

package config

// Codes of the Problems that Decode returns. The first four are those that the public fixtures distinguish
// (docs/conformance.md); the others name the rule family.
const (
	ProblemSchemaVersion     = "schema_version_invalid"
	ProblemUndeclaredRole    = "undeclared_role_reference"
	ProblemUndeclaredRuntime = "undeclared_runtime_reference"
	ProblemUndeclaredGate    = "undeclared_gate_reference"

	ProblemUndeclaredPhase      = "undeclared_phase_reference"
	ProblemLegacyConfig         = "legacy_config"
	ProblemProject              = "invalid_project"
	ProblemRole                 = "invalid_role"
	ProblemRuntime              = "invalid_runtime"
	ProblemAuthoritativeBinding = "invalid_authoritative_binding"
	ProblemReviewOnlyBinding    = "invalid_review_only_binding"
	ProblemRouting              = "invalid_routing"
	ProblemMaxConcurrentTurns   = "invalid_max_concurrent_turns"
	ProblemGate                 = "invalid_gate"
	ProblemHook                 = "invalid_hook"
	ProblemGitHooks             = "invalid_git_hooks"
	ProblemNotification         = "invalid_notification"
	ProblemSchedule             = "invalid_schedule"
	ProblemBudget               = "invalid_budget"
	ProblemPolicy               = "invalid_policy"
	ProblemApprovalPolicy       = "invalid_approval_policy"
	ProblemAuthority            = "invalid_authority"
	ProblemTimeouts             = "invalid_timeouts"
	ProblemWorkflowKit          = "invalid_workflow_kit"
	ProblemRules                = "invalid_rules"
	ProblemRunLoop              = "invalid_run_loop"
	ProblemCoverageMode         = "invalid_coverage_mode"
	ProblemPrompts              = "invalid_prompts"
	ProblemUnknownField         = "unknown_config_field"
	ProblemConfigPath           = "unsafe_config_path"
	ProblemTemplate             = "invalid_template"
)
