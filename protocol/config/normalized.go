// The normalised form of a configuration, as status --json prints it (docs/spec/configuration.md).

package config

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NormalizedConfig returns the configuration with defaults filled in, in the
// member order of docs/spec/configuration.md. Members the mapping does not name (prompts,
// files, mission_planner, unknown ones) are not part of it; they stay in Raw.
func NormalizedConfig(c *Config) *ojson.Object {
	project := ojson.NewObject("id", c.Project.ID, "name", c.Project.Name)
	if c.Project.Goal != "" {
		project.Set("goal", c.Project.Goal)
	}
	project.Set("default_branch", c.Project.DefaultBranch)

	roles := &ojson.Object{}
	for id, r := range c.Roles.All() {
		o := ojson.NewObject("title", r.Title, "mandate", r.Mandate, "write_authority", r.WriteAuthority)
		if r.DecisionAuthority != nil {
			o.Set("decision_authority", *r.DecisionAuthority)
		}
		o.Set("runtime_class", r.RuntimeType)
		o.Set("runtime_id", r.RuntimeID)
		roles.Set(id, o)
	}

	out := ojson.NewObject("schema_version", 4, "protocol_mode", "governed", "template", c.Template,
		"project", project, "roles", roles)
	section := func(key string, def ojson.Value) {
		v, _ := c.Raw.Get(key)
		_, isArray := v.([]any)
		_, isObject := v.(*ojson.Object)
		_, wantArray := def.([]any)
		if isArray && wantArray || isObject && !wantArray {
			out.Set(key, ojson.CloneValue(v))
		} else {
			out.Set(key, def)
		}
	}
	section("runtimes", &ojson.Object{})
	section("routing", &ojson.Object{})
	section("gates", &ojson.Object{})
	section("hooks", &ojson.Object{})
	section("notifications", &ojson.Object{})
	out.Set("schedules", normalizedSchedules(c))
	section("budget", nil)
	section("policies", []any{})
	section("approval_policy", nil)
	section("timeouts", nil)
	out.Set("workflow_kit", normalizedKit(c))
	section("retention", ojson.NewObject("talk_strategy", "append_only", "history_strategy", "jsonl_append_only"))
	out.Set("rules", normalizedRules(c))
	out.Set("files", ojson.NewObject("talk", "TALK.md", "history", ".agentxchain/history.jsonl",
		"state", ".agentxchain/state.json", "log", nil))
	for _, key := range []string{"gate_semantic_coverage_mode", "intent_coverage_mode", "run_loop"} {
		if v, ok := c.Raw.Get(key); ok && v != nil {
			out.Set(key, ojson.CloneValue(v))
		}
	}
	out.Set("compat", ojson.NewObject("next_owner_source", "state-json", "lock_based_coordination", false,
		"original_version", 4))
	return out
}

func normalizedRules(c *Config) *ojson.Object {
	out := ojson.NewObject("challenge_required", c.Rules.ChallengeRequired, "max_turn_retries", c.Rules.MaxTurnRetries,
		"max_deadlock_cycles", c.Rules.MaxDeadlockCycles, "max_consecutive_claims", nil, "verify_command", nil,
		"compress_after_words", nil, "ttl_minutes", nil)
	// Our own switches appear only when used, so that the shape stays the common one.
	if c.Rules.EnforceRouting {
		out.Set("enforce_routing", true)
	}
	if c.StrictResults() {
		out.Set("result_repair", c.Rules.ResultRepair)
	}
	if c.Rules.StrictVerify {
		out.Set("strict_verification", true)
	}
	if c.Rules.ObjectionsBlock {
		out.Set("objections_block", true)
	}
	return out
}

func normalizedKit(c *Config) *ojson.Object {
	declared := c.Raw.Object("workflow_kit").Object("phases")
	phases := &ojson.Object{}
	for p, artifacts := range c.WorkflowKit.Phases.All() {
		entry := &ojson.Object{}
		if t := declared.Object(p).String("template"); t != "" {
			entry.Set("template", t)
		}
		list := make([]any, len(artifacts))
		for i, a := range artifacts {
			o := ojson.NewObject("path", a.Path, "semantics", ojson.OrNull(a.Semantics),
				"semantics_config", a.SemanticsConfig.Clone())
			if c.WorkflowKit.Explicit {
				o.Set("owned_by", ojson.OrNull(a.OwnedBy))
			}
			o.Set("required", a.Required)
			list[i] = o
		}
		entry.Set("artifacts", list)
		phases.Set(p, entry)
	}
	out := ojson.NewObject("phases", phases)
	if c.WorkflowKit.Explicit {
		out.Set("_explicit", true)
	}
	return out
}

// defaulted copies one member of src to dst, or def when it is absent or null.
func defaulted(dst, src *ojson.Object, key string, def ojson.Value) {
	v, ok := src.Get(key)
	if !ok || v == nil {
		v = def
	}
	dst.Set(key, ojson.CloneValue(v))
}

func normalizedSchedules(c *Config) *ojson.Object {
	out := &ojson.Object{}
	for id, v := range c.Schedules.All() {
		src, ok := v.(*ojson.Object)
		if !ok {
			continue
		}
		s := &ojson.Object{}
		defaulted(s, src, "enabled", true)
		defaulted(s, src, "every_minutes", nil)
		defaulted(s, src, "auto_approve", true)
		defaulted(s, src, "max_turns", ojson.Int(50))
		defaulted(s, src, "initial_role", nil)
		reason := wire.Trim(src.String("trigger_reason"))
		if reason == "" {
			reason = "schedule:" + id
		}
		s.Set("trigger_reason", reason)
		s.Set("continuous", normalizedContinuous(src.Object("continuous")))
		out.Set(id, s)
	}
	return out
}

// normalizedContinuous returns null unless the session is enabled.
func normalizedContinuous(src *ojson.Object) ojson.Value {
	if !src.Bool("enabled") {
		return nil
	}
	out := ojson.NewObject("enabled", true)
	defaulted(out, src, "vision_path", nil)
	defaulted(out, src, "max_runs", ojson.Int(50))
	defaulted(out, src, "max_idle_cycles", ojson.Int(5))
	defaulted(out, src, "triage_approval", "auto")
	defaulted(out, src, "per_session_max_usd", nil)
	if v, ok := src.Get("auto_checkpoint"); ok && v != nil {
		out.Set("auto_checkpoint", v)
	}
	defaulted(out, src, "on_idle", "exit")
	out.Set("idle_expansion", nil)
	// Expansion happens only in sessions that never stop.
	if out.String("on_idle") == "perpetual" {
		x, from := &ojson.Object{}, src.Object("idle_expansion")
		sources := from.Strings("sources")
		if len(sources) == 0 {
			sources = []string{".planning/VISION.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"}
		}
		x.Set("sources", sources)
		defaulted(x, from, "max_expansions", ojson.Int(5))
		defaulted(x, from, "role", "pm")
		defaulted(x, from, "output", "intake_intent_or_vision_exhausted")
		defaulted(x, from, "malformed_retry_limit", ojson.Int(1))
		defaulted(x, from, "pm_prompt_path", ".agentxchain/prompts/pm-idle-expansion.md")
		out.Set("idle_expansion", x)
	}
	return out
}
