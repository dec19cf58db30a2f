// One failing configuration per rule: the code and the member it must name.

package config

import (
	"strings"
	"testing"
)

func TestConfigRules(t *testing.T) {
	long := `"` + strings.Repeat("é", 501) + `"`
	const (
		project, role, runtime, routing = ProblemProject, ProblemRole, ProblemRuntime, ProblemRouting
		gate, hook, notify, schedule    = ProblemGate, ProblemHook, ProblemNotification, ProblemSchedule
		policy, approval, kit, loop     = ProblemPolicy, ProblemApprovalPolicy, ProblemWorkflowKit, ProblemRunLoop
		path, unknown                   = ProblemConfigPath, ProblemUnknownField
	)
	for _, tc := range []struct{ path, Member, code, field string }{ // field "" is path
		{"schema_version", `"1.1"`, ProblemSchemaVersion, ""},
		{"schema_version", `"4"`, ProblemSchemaVersion, ""},
		{"schema_version", `1.0`, ProblemSchemaVersion, ""},
		{"schema_version", `null`, ProblemSchemaVersion, ""},
		{"schema_version", "-", ProblemSchemaVersion, ""},
		{"template", `5`, ProblemTemplate, ""},

		{"project", "-", project, ""}, {"project", "null", project, ""}, {"project", `[]`, project, ""},
		{"project.id", "-", project, ""}, {"project.id", `"\u00a0\ufeff"`, project, ""},
		{"project.name", "7", project, ""},
		{"project.default_branch", `" "`, project, ""}, {"project.default_branch", `null`, project, ""},
		{"project.goal", `""`, project, ""}, {"project.goal", `[]`, project, ""}, {"project.goal", long, project, ""},

		{"roles", "-", role, ""}, {"roles", "[]", role, ""}, {"roles", "null", role, ""},
		{"roles.lead", "null", role, ""}, {"roles.lead", `"x"`, role, ""},
		{"roles.Lead X", `{"title":"a","mandate":"b","write_authority":"proposed","runtime":"people"}`, role, ""},
		{"roles.lead.title", "-", role, ""}, {"roles.lead.mandate", `" "`, role, ""},
		{"roles.lead.write_authority", "-", role, ""}, {"roles.lead.write_authority", `"owner"`, role, ""},
		{"roles.lead.decision_authority", "100", role, ""}, {"roles.lead.decision_authority", "-1", role, ""},
		{"roles.lead.decision_authority", "1.5", role, ""}, {"roles.lead.decision_authority", `"3"`, role, ""},
		{"roles.lead.runtime", "-", role, ""}, {"roles.lead.runtime", `5`, role, ""},
		{"roles.lead.runtime", `"gone"`, ProblemUndeclaredRuntime, ""},
		{"roles.coder.write_authority", `"review_only"`, ProblemReviewOnlyBinding, ""},
		{"roles.critic.write_authority", `"authoritative"`, ProblemAuthoritativeBinding, ""},
		{"roles.author.write_authority", `"authoritative"`, ProblemAuthoritativeBinding, ""},
		{"runtimes.tool.capabilities.can_write_files", `"proposal_only"`, ProblemAuthoritativeBinding,
			"roles.coder.write_authority"},

		{"runtimes", "-", runtime, ""}, {"runtimes", "[]", runtime, ""},
		{"runtimes", `{"people":{"type":"manual"}," ":{"type":"manual"}}`, runtime, "runtimes. "},
		{"runtimes.people", "null", runtime, ""},
		{"runtimes.people.type", "-", runtime, ""}, {"runtimes.people.type", `"robot"`, runtime, ""},
		{"runtimes.tool.command", `[]`, runtime, ""}, {"runtimes.tool.command", `[" "]`, runtime, ""},
		{"runtimes.tool.command", `["a",5]`, runtime, ""},
		{"runtimes.tool.command", `"agent"`, runtime, "runtimes.tool.prompt_transport"},
		{"runtimes.tool.args", `"x"`, runtime, ""}, {"runtimes.tool.args", `[5]`, runtime, "runtimes.tool.args[0]"},
		{"runtimes.tool.cwd", `""`, runtime, ""},
		{"runtimes.tool.prompt_transport", `"file"`, runtime, ""},
		{"runtimes.tool.startup_watchdog_ms", "0", runtime, ""}, {"runtimes.tool.startup_heartbeat_ms", "1.5", runtime,
			""}, {"runtimes.tool.liveness_heartbeat_ms", `"1"`, runtime, ""},
		{"runtimes.tool.capabilities", "[]", runtime, ""},
		{"runtimes.tool.capabilities.can_write_files", `"all"`, runtime, ""},
		{"runtimes.tool.capabilities.proposal_support", `"all"`, runtime, ""},
		{"runtimes.tool.capabilities.workflow_artifact_ownership", `true`, runtime, ""},
		{"runtimes.cloud.provider", "-", runtime, ""}, {"runtimes.cloud.provider", `"acme"`, runtime, ""},
		{"runtimes.cloud.provider", `"openai"`, runtime, "runtimes.cloud.preflight_tokenization.enabled"},
		{"runtimes.cloud.model", `" "`, runtime, ""}, {"runtimes.cloud.auth_env", "-", runtime, ""},
		{"runtimes.cloud.base_url", `"ftp://x"`, runtime, ""}, {"runtimes.cloud.base_url", `"api"`, runtime, ""},
		{"runtimes.cloud.base_url", `" "`, runtime, ""},
		{"runtimes.cloud.max_output_tokens", "null", runtime, ""},
		{"runtimes.cloud.max_output_tokens", "0", runtime, ""},
		{"runtimes.cloud.timeout_seconds", "0", runtime, ""}, {"runtimes.cloud.timeout_seconds", `"30"`, runtime, ""},
		{"runtimes.cloud.max_output_tokens", "8990", runtime, "runtimes.cloud.context_window_tokens"},
		{"runtimes.cloud.context_window_tokens", "0", runtime, ""},
		{"runtimes.cloud.context_window_tokens", "-", runtime, ""},
		{"runtimes.cloud.preflight_tokenization", "-", runtime, ""},
		{"runtimes.cloud.preflight_tokenization", "null", runtime, ""},
		{"runtimes.cloud.preflight_tokenization.enabled", `1`, runtime, ""},
		{"runtimes.cloud.preflight_tokenization.tokenizer", `"x"`, runtime, ""},
		{"runtimes.cloud.preflight_tokenization.safety_margin_tokens", `-1`, runtime, ""},
		{"runtimes.cloud.preflight_tokenization.more", `1`, unknown, ""},
		{"runtimes.cloud.retry_policy", "null", runtime, ""}, {"runtimes.cloud.retry_policy.often", "1", unknown, ""},
		{"runtimes.cloud.retry_policy.enabled", `"yes"`, runtime, ""},
		{"runtimes.cloud.retry_policy.max_attempts", "0", runtime, ""},
		{"runtimes.cloud.retry_policy.base_delay_ms", "-1", runtime, ""},
		{"runtimes.cloud.retry_policy.base_delay_ms", "30", runtime, "runtimes.cloud.retry_policy.max_delay_ms"},
		{"runtimes.cloud.retry_policy.max_delay_ms", "1e999", runtime, ""},
		{"runtimes.cloud.retry_policy.backoff_multiplier", "0", runtime, ""},
		{"runtimes.cloud.retry_policy.jitter", `"some"`, runtime, ""},
		{"runtimes.cloud.retry_policy.retry_on", `"timeout"`, runtime, ""},
		{"runtimes.cloud.retry_policy.retry_on", `["rain"]`, runtime, "runtimes.cloud.retry_policy.retry_on[0]"},
		{"runtimes.far.url", "-", runtime, ""}, {"runtimes.far.url", `"file:///x"`, runtime, ""},
		{"runtimes.far.url", `"http://"`, runtime, ""},
		{"runtimes.far.headers", `["a"]`, runtime, ""}, {"runtimes.far.headers.A", `5`, runtime, ""},
		{"runtimes.far.timeout_ms", "0", runtime, ""},
		{"runtimes.plug.transport", `"carrier"`, runtime, ""}, {"runtimes.plug.tool_name", `""`, runtime, ""},
		{"runtimes.plug.command", "-", runtime, ""},
		{"runtimes.plug.args", `[null]`, runtime, "runtimes.plug.args[0]"}, {"runtimes.plug.cwd", `5`, runtime, ""},
		{"runtimes.plug.url", `"http://x"`, runtime, ""}, {"runtimes.plug.headers", `{}`, runtime, ""},
		{"runtimes.webplug.url", "-", runtime, ""}, {"runtimes.webplug.headers.A", `null`, runtime, ""},
		{"runtimes.webplug.command", `"x"`, runtime, ""}, {"runtimes.webplug.args", `[]`, runtime, ""},
		{"runtimes.webplug.cwd", `"x"`, runtime, ""},

		{"routing", `[]`, routing, ""}, {"routing", `5`, routing, ""}, {"routing.qa", "null", routing, ""},
		{"routing.qa", `["x"]`, routing, ""},
		{"routing.QA", `{}`, routing, ""}, {"routing.1qa", `{}`, routing, ""},
		{"routing.qa.entry_role", `"human"`, ProblemUndeclaredRole, ""},
		{"routing.qa.entry_role", `"gone"`, ProblemUndeclaredRole, ""},
		{"routing.qa.entry_role", `5`, routing, ""}, {"routing.qa.allowed_next_roles", `"lead"`, routing, ""},
		{"routing.qa.allowed_next_roles", `{}`, routing, ""},
		{"routing.qa.allowed_next_roles", `["lead",null]`, routing, "routing.qa.allowed_next_roles[1]"},
		{"routing.qa.allowed_next_roles", `["lead","gone"]`, ProblemUndeclaredRole,
			"routing.qa.allowed_next_roles[1]"},
		{"routing.qa.exit_gate", `"gone"`, ProblemUndeclaredGate, ""}, {"routing.qa.exit_gate", `""`, routing, ""},
		{"routing.qa.exit_gate", `true`, routing, ""},
		{"gates", "-", ProblemUndeclaredGate, "routing.planning.exit_gate"},
		{"gates", "null", ProblemUndeclaredGate, "routing.qa.exit_gate"},
		{"gates.ship_ok", "-", ProblemUndeclaredGate, "routing.qa.exit_gate"},
		{"routing.qa.max_concurrent_turns", "0", ProblemMaxConcurrentTurns, ""},
		{"routing.qa.max_concurrent_turns", "5", ProblemMaxConcurrentTurns, ""},
		{"routing.qa.max_concurrent_turns", "2.5", ProblemMaxConcurrentTurns, ""},
		{"routing.qa.max_concurrent_turns", "null", ProblemMaxConcurrentTurns, ""},
		{"routing.qa.timeout_minutes", "0.5", routing, ""}, {"routing.qa.timeout_minutes", `"9"`, routing, ""},
		{"routing.qa.timeout_action", `"skip"`, routing, ""},

		{"gates", `[]`, gate, ""}, {"gates.ship_ok", `"x"`, gate, ""}, {"gates.ship_ok", `null`, gate, ""},
		{"gates.plan_ok.requires_files", `"a.md"`, gate, ""}, {"gates.plan_ok.requires_files", `{"0":"a.md"}`, gate,
			""}, {"gates.plan_ok.requires_files", `[5]`, gate, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `["/etc/passwd"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `["a/../../b"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `["a","C:\\x"]`, path, "gates.plan_ok.requires_files[1]"},
		{"gates.plan_ok.requires_files", `["..\\x"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `[".Git/config"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `[" "]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `["./"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.plan_ok.requires_files", `["a\u0000b"]`, path, "gates.plan_ok.requires_files[0]"},
		{"gates.build_ok.requires_verification_pass", `"yes"`, gate, ""},
		{"gates.plan_ok.requires_human_approval", `1`, gate, ""},
		{"gates.plan_ok.credentialed", `null`, gate, ""}, {"gates.plan_ok.credentialed", `"true"`, gate, ""},
		{"gates.plan_ok.gate_actions", `[]`, gate, ""}, {"gates.plan_ok.gate_actions", `{}`, gate, ""},
		{"gates.plan_ok.gate_actions", `null`, gate, ""},
		{"gates.plan_ok.requires_human_approval", `false`, gate, "gates.plan_ok.gate_actions"},
		{"gates.plan_ok.gate_actions[1]", `"make"`, gate, ""}, {"gates.plan_ok.gate_actions[0].run", `""`, gate, ""},
		{"gates.plan_ok.gate_actions[0].label", `" "`, gate, ""},
		{"gates.plan_ok.gate_actions[0].timeout_ms", `999`, gate, ""},
		{"gates.plan_ok.gate_actions[0].timeout_ms", `3600001`, gate, ""},

		{"hooks", `[]`, hook, ""}, {"hooks.after_lunch", `[]`, hook, ""}, {"hooks.before_gate", `{}`, hook, ""},
		{"hooks.before_gate", `[5]`, hook, "hooks.before_gate[0]"},
		{"hooks.before_gate", "[" + strings.Repeat("null,", 8) + "null]", hook, ""},
		{"hooks.before_gate[0].name", `"A"`, hook, ""}, {"hooks.before_gate[0].name", "-", hook, ""},
		{"hooks.before_gate[1].name", `"check"`, hook, ""},
		{"hooks.before_gate[0].type", `"shell"`, hook, ""}, {"hooks.before_gate[0].command", `"x"`, hook, ""},
		{"hooks.before_gate[0].command", `[]`, hook, ""},
		{"hooks.before_gate[0].command", `["x",1]`, hook, "hooks.before_gate[0].command[1]"},
		{"hooks.before_gate[0].command", "-", hook, ""},
		{"hooks.before_gate[0].timeout_ms", `99`, hook, ""}, {"hooks.before_gate[0].timeout_ms", `-`, hook, ""},
		{"hooks.before_gate[0].mode", `"loud"`, hook, ""},
		{"hooks.before_gate[0].env", `null`, hook, ""}, {"hooks.before_gate[0].env.A", `1`, hook, ""},
		{"hooks.before_gate[0].env_names", `"TOKEN"`, hook, ""},
		{"hooks.before_gate[0].env_names", `[1]`, hook, "hooks.before_gate[0].env_names[0]"},
		{"hooks.before_gate[0].env_names", `["A","B=c"]`, hook, "hooks.before_gate[0].env_names[1]"},
		{"hooks.before_gate[0].env_names", `["GIT_DIR"]`, hook, "hooks.before_gate[0].env_names[0]"},
		{"hooks.before_gate[1].url", `"hook"`, hook, ""}, {"hooks.before_gate[1].method", `"PUT"`, hook, ""},
		{"hooks.before_gate[1].method", `-`, hook, ""}, {"hooks.before_gate[1].headers.X", `1`, hook, ""},
		{"hooks.after_acceptance",
			`[{"name":"a","type":"process","command":["x"],"timeout_ms":100,"mode":"blocking"}]`, hook,
			"hooks.after_acceptance[0].mode"},
		{"hooks.on_escalation", `[{"name":"a","type":"process","command":["x"],"timeout_ms":100,"mode":"blocking"}]`,
			hook, "hooks.on_escalation[0].mode"},

		{"notifications", `[]`, notify, ""}, {"notifications.mail", `1`, unknown, ""}, {"notifications.webhooks",
			`null`, notify, ""}, {"notifications.webhooks", `[1]`, notify, "notifications.webhooks[0]"},
		{"notifications.webhooks", "[" + strings.Repeat("1,", 8) + "1]", notify, ""},
		{"notifications.webhooks[0].name", `"O P"`, notify, ""}, {"notifications.webhooks[0].url", `"x"`, notify, ""},
		{"notifications.webhooks[0].events", `-`, notify, ""},
		{"notifications.webhooks[0].events", `[]`, notify, ""},
		{"notifications.webhooks[0].events", `["lunch"]`, notify, "notifications.webhooks[0].events[0]"},
		{"notifications.webhooks[0].timeout_ms", `30001`, notify, ""}, {"notifications.webhooks[0].headers", `[]`,
			notify, ""}, {"notifications.webhooks[0].env", `1`, notify, ""},
		{"notifications.approval_sla", `null`, notify, ""}, {"notifications.approval_sla.x", `1`, unknown, ""},
		{"notifications.approval_sla.enabled", `1`, notify, ""},
		{"notifications.approval_sla.reminder_after_seconds", `-`, notify, ""},
		{"notifications.approval_sla.reminder_after_seconds", `[]`, notify, ""},
		{"notifications.approval_sla.reminder_after_seconds", `[299]`, notify,
			"notifications.approval_sla.reminder_after_seconds[0]"},
		{"notifications.approval_sla.reminder_after_seconds", `[300,300]`, notify,
			"notifications.approval_sla.reminder_after_seconds[1]"},
		{"notifications.approval_sla.reminder_after_seconds", `[300,301,302,303,304,305,306,307,308,309,310]`, notify,
			""},

		{"schedules", `null`, schedule, ""}, {"schedules.nightly", `5`, schedule, ""},
		{"schedules.Night", `{"every_minutes":1}`, schedule, ""},
		{"schedules.nightly.every_minutes", `-`, schedule, ""}, {"schedules.nightly.every_minutes", `0`, schedule, ""},
		{"schedules.nightly.enabled", `null`, schedule, ""},
		{"schedules.nightly.auto_approve", `1`, schedule, ""}, {"schedules.nightly.max_turns", `0`, schedule, ""},
		{"schedules.nightly.trigger_reason", `""`, schedule, ""},
		{"schedules.nightly.initial_role", `5`, schedule, ""},
		{"schedules.nightly.initial_role", `"gone"`, ProblemUndeclaredRole, ""},
		{"schedules.nightly.continuous", `[]`, schedule, ""}, {"schedules.nightly.continuous.enabled", `1`, schedule,
			""}, {"schedules.nightly.continuous.vision_path", `-`, schedule, ""},
		{"schedules.nightly.continuous.max_runs", `0`, schedule, ""},
		{"schedules.nightly.continuous.max_idle_cycles", `0`, schedule, ""},
		{"schedules.nightly.continuous.triage_approval", `"dog"`, schedule, ""},
		{"schedules.nightly.continuous.per_session_max_usd", `0`, schedule, ""},
		{"schedules.nightly.continuous.on_idle", `"nap"`, schedule, ""},
		{"schedules.nightly.continuous.auto_checkpoint", `1`, schedule, ""},
		{"schedules.nightly.continuous.idle_expansion", `5`, schedule, ""},
		{"schedules.nightly.continuous.idle_expansion.max_expansions", `0`, schedule, ""},
		{"schedules.nightly.continuous.idle_expansion.malformed_retry_limit", `-1`, schedule, ""},
		{"schedules.nightly.continuous.idle_expansion.sources", `"x"`, schedule, ""},

		{"budget", `[]`, ProblemBudget, ""}, {"budget.per_turn_max_usd", `0`, ProblemBudget, ""},
		{"budget.per_run_max_usd", `"5"`, ProblemBudget, ""}, {"budget.per_run_max_usd", `1e400`, ProblemBudget, ""},
		{"budget.per_turn_max_usd", `51`, ProblemBudget, ""}, {"budget.on_exceed", `"cry"`, ProblemBudget, ""},
		{"budget.cost_rates", `[]`, ProblemBudget, ""},
		{"budget.cost_rates.m", `1`, ProblemBudget, ""}, {"budget.cost_rates.m.input_per_1m", `-1`, ProblemBudget, ""},
		{"budget.cost_rates.m.output_per_1m", `-`, ProblemBudget, ""},

		{"policies", `{}`, policy, ""}, {"policies[3]", `5`, policy, ""}, {"policies[0].id", `"Cap"`, policy, ""},
		{"policies[0].id", `-`, policy, ""}, {"policies[1].id", `"cap"`, policy, ""},
		{"policies[0].rule", `"be_nice"`, policy, ""}, {"policies[0].action", `"maybe"`, policy, ""},
		{"policies[0].action", `-`, policy, ""}, {"policies[0].message", `5`, policy, ""},
		{"policies[0].params", `-`, policy, "policies[0].params.limit"}, {"policies[0].params.limit", `0`, policy, ""},
		{"policies[0].params", `[]`, policy, ""},
		{"policies[1].params.limit_usd", `0`, policy, ""}, {"policies[2].params.allowed", `[]`, policy, ""},
		{"policies[2].params.allowed", `["done"]`, policy, "policies[2].params.allowed[0]"},
		{"policies[3].params", `"x"`, policy, ""}, {"policies[0].scope", `[]`, policy, ""},
		{"policies[0].scope.phases", `"qa"`, policy, ""},
		{"policies[0].scope.roles", `[5]`, policy, "policies[0].scope.roles[0]"},

		{"approval_policy", `[]`, approval, ""}, {"approval_policy.phase_transitions", `null`, approval, ""},
		{"approval_policy.phase_transitions.default", `"ask"`, approval, ""},
		{"approval_policy.phase_transitions.rules", `{}`, approval, ""},
		{"approval_policy.phase_transitions.rules[0]", `5`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].action", `-`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].from_phase", `5`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].from_phase", `"gone"`, ProblemUndeclaredPhase, ""},
		{"approval_policy.phase_transitions.rules[0].to_phase", `"gone"`, ProblemUndeclaredPhase, ""},
		{"approval_policy.phase_transitions.rules[0].when", `null`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].when.gate_passed", `1`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].when.roles_participated", `"lead"`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].when.roles_participated", `[""]`, approval,
			"approval_policy.phase_transitions.rules[0].when.roles_participated[0]"},
		{"approval_policy.phase_transitions.rules[0].when.all_phases_visited", `null`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].when.credentialed_gate", `true`, approval, ""},
		{"approval_policy.phase_transitions.rules[0].when.credentialed_gate", `"no"`, approval, ""},
		{"approval_policy.run_completion", `[]`, approval, ""}, {"approval_policy.run_completion.action", `"go"`,
			approval, ""}, {"approval_policy.run_completion.when", `5`, approval, ""},

		{"timeouts", `5`, ProblemTimeouts, ""}, {"timeouts.per_turn_minutes", `0`, ProblemTimeouts, ""},
		{"timeouts.per_phase_minutes", `null`, ProblemTimeouts, ""},
		{"timeouts.per_run_minutes", `"1"`, ProblemTimeouts, ""},
		{"timeouts.action", `"skip_phase"`, ProblemTimeouts, ""}, {"timeouts.action", `"nap"`, ProblemTimeouts, ""},

		{"workflow_kit", `[]`, kit, ""}, {"workflow_kit", `{"phase":{}}`, kit, "workflow_kit.phases"},
		{"workflow_kit.phases", `null`, kit, ""}, {"workflow_kit.phases.qa", `null`, kit, ""},
		{"workflow_kit.phases.QA", `{"template":"qa-default"}`, kit, ""}, {"workflow_kit.phases.qa", `{}`, kit, ""},
		{"workflow_kit.phases.qa.template", `"mine"`, kit, ""}, {"workflow_kit.phases.qa.template", `null`, kit, ""},
		{"workflow_kit.phases.qa.artifacts", `{}`, kit, ""}, {"workflow_kit.phases.qa.artifacts[0]", `"x"`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].path", `-`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].path", `"../x"`, path, ""},
		{"workflow_kit.phases.qa.artifacts[0].path", `"/x"`, path, ""},
		{"workflow_kit.phases.planning.artifacts[1].path", `".planning//ROADMAP.md"`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].semantics", `"vibes"`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].semantics", `5`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].semantics", `"section_check"`, kit,
			"workflow_kit.phases.qa.artifacts[0].semantics_config"},
		{"workflow_kit.phases.planning.artifacts[0].semantics_config", `{"required_sections":[]}`, kit, ""},
		{"workflow_kit.phases.planning.artifacts[0].semantics_config", `null`, kit, ""},
		{"workflow_kit.phases.planning.artifacts[0].semantics_config.required_sections", `[" "]`, kit,
			"workflow_kit.phases.planning.artifacts[0].semantics_config.required_sections[0]"},
		{"workflow_kit.phases.qa.artifacts[0].required", `"no"`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].owned_by", `5`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].owned_by", `"The Boss"`, kit, ""},
		{"workflow_kit.phases.qa.artifacts[0].owned_by", `"boss"`, ProblemUndeclaredRole, ""},

		{"rules", `[]`, ProblemRules, ""}, {"rules", `"strict"`, ProblemRules, ""},
		{"rules.challenge_required", `"false"`, ProblemRules, ""}, {"rules.max_turn_retries", `"2"`, ProblemRules, ""},
		{"rules.max_turn_retries", `-1`, ProblemRules, ""},
		{"rules.max_deadlock_cycles", `1.5`, ProblemRules, ""}, {"rules.enforce_routing", `1`, ProblemRules, ""},
		{"rules.strict_verification", `null`, ProblemRules, ""},
		{"run_loop", `null`, loop, ""}, {"run_loop.startup_watchdog_ms", `0`, loop, ""},
		{"run_loop.startup_heartbeat_ms", `"1"`, loop, ""}, {"run_loop.liveness_heartbeat_ms", `-1`, loop, ""},
		{"run_loop.stale_turn_threshold_ms", `0.5`, loop, ""},
		{"run_loop.non_progress_threshold", `0`, loop, ""}, {"run_loop.max_turns", `"all"`, loop, ""},
		{"run_loop.continuous", `5`, loop, ""}, {"run_loop.continuous.on_idle", `"nap"`, loop, ""},
		{"run_loop.continuous.idle_expansion", `[]`, loop, ""}, {"run_loop.continuous.reconcile_operator_commits",
			`"yes"`, loop, ""}, {"run_loop.continuous.auto_retry_on_ghost", `5`, loop, ""},
		{"run_loop.continuous.auto_retry_on_ghost.enabled", `1`, loop, ""},
		{"run_loop.continuous.auto_retry_on_ghost.max_retries_per_run", `0`, loop, ""},
		{"run_loop.continuous.auto_retry_on_ghost.cooldown_seconds", `0`, loop, ""},
		{"gate_semantic_coverage_mode", `"off"`, ProblemCoverageMode, ""},
		{"intent_coverage_mode", `5`, ProblemCoverageMode, ""},
		{"prompts", `[]`, ProblemPrompts, ""}, {"prompts.coder", `5`, ProblemPrompts, ""},
		{"prompts.coder", `"/etc/motd"`, path, ""}, {"prompts.coder", `"a/.."`, path, ""},
	} {
		field := tc.field
		if field == "" {
			field = tc.path
		}
		c, problems := DecodeObject(cfgChanged(t, cfgFull, tc.path, tc.Member))
		found := false
		for _, p := range problems {
			found = found || p.Code == tc.code && p.Field == field
			if p.Code == "" || p.Field == "" || p.Message == "" || strings.Contains(p.Message, "\n") {
				t.Errorf("%s = %s: poor problem %+v", tc.path, tc.Member, p)
			}
		}
		if !found || c == nil {
			t.Errorf("%s = %s: want %s at %s, got %+v", tc.path, tc.Member, tc.code, field, problems)
		}
	}
}

// The named findings of the reference.
func TestConfigReferenceFindings(t *testing.T) {
	for _, tc := range []struct{ path, Member, code, field, named string }{
		{"routing.build.entry_role", `"pilot"`, ProblemUndeclaredRole, "routing.build.entry_role", "pilot"},
		{"routing.build.allowed_next_roles", `["critic","pilot"]`, ProblemUndeclaredRole,
			"routing.build.allowed_next_roles[1]", "pilot"},
		{"roles.probe.runtime", `"moon"`, ProblemUndeclaredRuntime, "roles.probe.runtime", "moon"},
		{"routing.build.exit_gate", `"moon_ok"`, ProblemUndeclaredGate, "routing.build.exit_gate", "moon_ok"},
		{"schema_version", `"2.0"`, ProblemSchemaVersion, "schema_version", "2.0"},
		{"schema_version", `5`, ProblemSchemaVersion, "schema_version", "5"},
	} {
		_, p := DecodeObject(cfgChanged(t, cfgFull, tc.path, tc.Member))
		if len(p) != 1 || p[0].Code != tc.code || p[0].Field != tc.field || p[0].Value != tc.named {
			t.Errorf("%s = %s: %+v", tc.path, tc.Member, p)
		}
	}
	// A member of the wrong type still counts as declared: one finding, not two.
	_, p := DecodeObject(cfgChanged(t, cfgFull, "gates.ship_ok", "null"))
	if len(p) != 1 {
		t.Errorf("null gate: %+v", p)
	}
}

// A finding about a later version than the known ones says that an update may read it.
func TestConfigOfALaterVersion(t *testing.T) {
	for member, later := range map[string]bool{`"2.0"`: true, `"1.1"`: true, `5`: true, `"0.9"`: false, `3`: false, `"x"`: false} {
		_, p := DecodeObject(cfgChanged(t, cfgFull, "schema_version", member))
		if len(p) != 1 || strings.Contains(p[0].Message, "a later version of the program") != later {
			t.Errorf("schema_version %s: %+v", member, p)
		}
	}
}

// Values that must pass although they look odd.
func TestConfigAccepted(t *testing.T) {
	for _, tc := range []struct{ path, Member string }{
		{"project.goal", `null`}, {"project.goal", `"` + strings.Repeat("é", 500) + `"`}, {"template", `""`},
		{"roles.lead.decision_authority", `null`}, {"roles.lead.decision_authority", `9.0`}, {"roles.lead.model", `5`},
		{"runtimes.tool.command", `"agent --prompt {prompt}"`}, {"runtimes.tool.prompt_transport", `null`},
		{"runtimes.plug.transport", `null`},
		{"runtimes.people.startup_watchdog_ms", `0`}, // only local_cli has a watchdog
		{"routing.qa.entry_role", `null`}, {"routing.qa.exit_gate", `null`}, {"routing.qa.allowed_next_roles", `null`},
		{"routing.qa.max_concurrent_turns", `4`}, {"routing.qa.max_concurrent_turns", `1e0`},
		{"gates.build_ok.requires_files", `null`},
		{"gates.plan_ok.requires_files", `["a..b.md", "..hidden", "x/...", ".github/x", "a b/ü.md"]`},
		{"hooks", `{}`}, {"hooks.before_gate[0].command[0]", `"/nowhere/at/all"`}, // the machine decides
		{"budget", `{}`}, {"budget.per_run_max_usd", `null`}, {"budget.per_turn_max_usd", `50`},
		{"policies[3].params", `null`}, {"policies[0].scope", `null`}, {"policies[0].params.limit", `1.5`},
		{"approval_policy", `{}`}, {"approval_policy.run_completion", `{}`},
		{"approval_policy.phase_transitions", `{}`},
		{"workflow_kit", `{}`}, {"workflow_kit.phases.qa", `{"artifacts":[]}`},
		{"workflow_kit.phases.qa.artifacts[0].semantics", `null`},
		{"run_loop.startup_watchdog_ms", `null`}, {"rules.max_turn_retries", `0`}, {"rules.other", `"x"`},
		{"retention", `5`}, {"files", `5`},
	} {
		if _, p := DecodeObject(cfgChanged(t, cfgFull, tc.path, tc.Member)); len(p) > 0 {
			t.Errorf("%s = %s: %s", tc.path, tc.Member, p.Join())
		}
	}
}

// Headers, environments and URLs carry credentials: findings never repeat them.
func TestConfigProblemsHideSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, tc := range []struct{ path, Member string }{
		{"runtimes.far.url", `"` + secret + `"`}, {"runtimes.cloud.base_url", `"ftp://u:` + secret + `@x"`},
		{"runtimes.far.headers.A", `["` + secret + `"]`}, {"hooks.before_gate[0].env.A", `{"x":"` + secret + `"}`},
	} {
		_, p := DecodeObject(cfgChanged(t, cfgFull, tc.path, tc.Member))
		if len(p) != 1 || strings.Contains(p[0].Message+p[0].Value, secret) {
			t.Errorf("%s: %+v", tc.path, p)
		}
	}
}

func TestProtectedPatterns(t *testing.T) {
	c, problems, err := Decode([]byte(`{"git_hooks":{"protected":["LICENSE","infra/**","/etc","a/../b"]}}`))
	if err != nil || len(c.Protected) != 2 {
		t.Fatalf("%v %v", c, err)
	}
	n := 0
	for _, p := range problems {
		if p.Code == ProblemGitHooks {
			n++
		}
	}
	if n != 2 {
		t.Errorf("problems %v", problems)
	}
}
