// Tests of configuration decoding: a full document, one failing document per rule.

package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/google/go-cmp/cmp"
)

// cfgFull uses every member the decoder knows.
const cfgFull = `{
 "schema_version": "1.0", "template": "library",
 "project": {"id": "shop", "name": "Shop", "goal": "sell", "default_branch": "trunk"},
 "roles": {
  "lead": {"title": "Lead", "mandate": "plan", "write_authority": "review_only", "decision_authority": 9, "runtime": "people"},
  "coder": {"title": "Coder", "mandate": "build", "write_authority": "authoritative", "runtime": "tool"},
  "critic": {"title": "Critic", "mandate": "review", "write_authority": "review_only", "runtime": "cloud"},
  "author": {"title": "Author", "mandate": "propose", "write_authority": "proposed", "runtime": "far"},
  "probe": {"title": "Probe", "mandate": "test", "write_authority": "proposed", "runtime": "plug"},
  "remoteprobe": {"title": "Probe", "mandate": "test", "write_authority": "proposed", "runtime": "webplug"}
 },
 "runtimes": {
  "people": {"type": "manual"},
  "tool": {"type": "local_cli", "command": ["agent", "{prompt}"], "args": [""], "cwd": ".", "prompt_transport": "argv",
   "startup_watchdog_ms": 5, "startup_heartbeat_ms": null, "liveness_heartbeat_ms": 7, "capabilities": {"can_write_files": "direct"}},
  "cloud": {"type": "api_proxy", "provider": "anthropic", "model": "m", "auth_env": "KEY", "base_url": "https://api.example/v1",
   "max_output_tokens": 1000, "context_window_tokens": 9000,
   "preflight_tokenization": {"enabled": true, "tokenizer": "provider_local", "safety_margin_tokens": 10},
   "retry_policy": {"enabled": true, "max_attempts": 3, "base_delay_ms": 10, "max_delay_ms": 20, "backoff_multiplier": 2, "jitter": "full", "retry_on": ["timeout"]}},
  "far": {"type": "remote_agent", "url": "http://agent.example/run", "headers": {"A": "b"}, "timeout_ms": 1000},
  "plug": {"type": "mcp", "command": "serve", "args": ["-x"], "cwd": "plug", "tool_name": "turn"},
  "webplug": {"type": "mcp", "transport": "streamable_http", "url": "https://mcp.example", "headers": {"A": "b"}}
 },
 "routing": {
  "planning": {"entry_role": "lead", "allowed_next_roles": ["coder", "human"], "exit_gate": "plan_ok", "max_concurrent_turns": 2, "timeout_minutes": 30, "timeout_action": "warn"},
  "build": {"entry_role": "coder", "allowed_next_roles": ["critic", "author"], "exit_gate": "build_ok"},
  "qa": {"entry_role": "critic", "allowed_next_roles": ["probe"], "exit_gate": "ship_ok"}
 },
 "gates": {
  "plan_ok": {"requires_files": ["./docs//plan.md"], "requires_human_approval": true, "credentialed": true,
   "gate_actions": [{"run": "make tag", "label": "tag", "timeout_ms": 2000}, {"run": "make note"}]},
  "build_ok": {"requires_files": ["docs/build.md"], "requires_verification_pass": true},
  "ship_ok": {"requires_human_approval": true}
 },
 "hooks": {"before_gate": [{"name": "check", "type": "process", "command": ["./check.sh"], "timeout_ms": 100, "mode": "blocking", "env": {"A": "b"}},
  {"name": "tell", "type": "http", "url": "https://hook.example", "method": "POST", "headers": {"X": "${TOKEN}"}, "timeout_ms": 30000, "mode": "advisory"}]},
 "notifications": {"webhooks": [{"name": "ops", "url": "https://ops.example", "events": ["run_blocked"], "timeout_ms": 500}],
  "approval_sla": {"enabled": true, "reminder_after_seconds": [300, 600]}, "local": true},
 "schedules": {"nightly": {"every_minutes": 60, "enabled": false, "auto_approve": true, "max_turns": 9, "initial_role": "lead", "trigger_reason": "night",
  "continuous": {"enabled": true, "vision_path": "VISION.md", "max_runs": 2, "max_idle_cycles": 2, "triage_approval": "human", "per_session_max_usd": 5,
   "auto_checkpoint": true, "on_idle": "perpetual", "idle_expansion": {"sources": ["V.md"], "max_expansions": 2, "malformed_retry_limit": 0, "role": "lead"}}}},
 "budget": {"per_turn_max_usd": 2, "per_run_max_usd": 50, "on_exceed": "warn", "cost_rates": {"m": {"input_per_1m": 0, "output_per_1m": 1.5}}},
 "policies": [
  {"id": "cap", "rule": "max_total_turns", "params": {"limit": 20}, "action": "block", "message": "enough", "scope": {"phases": ["qa"], "roles": ["probe"]}},
  {"id": "cost", "rule": "max_cost_per_turn", "params": {"limit_usd": 0.5}, "action": "warn"},
  {"id": "clean", "rule": "require_status", "params": {"allowed": ["completed", "needs_human"]}, "action": "escalate"},
  {"id": "replay", "rule": "require_reproducible_verification", "action": "warn"}],
 "approval_policy": {"phase_transitions": {"default": "require_human", "rules": [{"from_phase": "planning", "to_phase": "build", "action": "auto_approve",
   "when": {"gate_passed": true, "roles_participated": ["lead"], "all_phases_visited": false, "credentialed_gate": false}}]},
  "run_completion": {"action": "auto_approve", "when": {"all_phases_visited": true}}},
 "timeouts": {"per_turn_minutes": 10, "per_phase_minutes": 60.5, "per_run_minutes": 600, "action": "warn"},
 "workflow_kit": {"phases": {
  "planning": {"template": "planning-default", "artifacts": [{"path": ".planning/ROADMAP.md", "semantics": "section_check",
   "semantics_config": {"required_sections": ["## Now"]}, "required": false, "owned_by": "lead"}, {"path": "./extra.md"}]},
  "qa": {"artifacts": [{"path": "docs/ship.md", "semantics": "ship_verdict", "owned_by": "probe"}]}}},
 "retention": {"talk_strategy": "append_only"},
 "rules": {"challenge_required": false, "max_turn_retries": 4, "max_deadlock_cycles": 5, "enforce_routing": true, "strict_verification": true},
 "run_loop": {"startup_watchdog_ms": 1000, "startup_heartbeat_ms": 2000, "liveness_heartbeat_ms": 3000, "stale_turn_threshold_ms": 4000,
  "non_progress_threshold": 6, "max_turns": 7,
  "continuous": {"on_idle": "exit", "reconcile_operator_commits": "manual", "auto_retry_on_ghost": {"enabled": true, "max_retries_per_run": 1, "cooldown_seconds": 1}}},
 "gate_semantic_coverage_mode": "lenient", "intent_coverage_mode": "strict",
 "prompts": {"coder": ".agentxchain/prompts/coder.md"}, "files": {"talk": "X"}, "mission_planner": {}, "x_other": {"z": 1, "a": 2}
}`

func cfgDecode(t *testing.T, doc string) (*Config, wire.Problems) {
	t.Helper()
	c, p, err := Decode([]byte(doc))
	if err != nil {
		t.Fatalf("DecodeConfig: %v", err)
	}
	return c, p
}

// cfgChanged returns cfgFull with the member at path (a.b[2].c) set to the JSON
// text value, or removed when value is "-".
func cfgChanged(t testing.TB, doc, path, value string) *ojson.Object {
	t.Helper()
	root, err := ojson.DecodeObject([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	var at ojson.Value = root
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for _, s := range steps[:len(steps)-1] {
		if a, ok := at.([]any); ok {
			i, _ := strconv.Atoi(s)
			at = a[i]
		} else if at, ok = at.(*ojson.Object).Get(s); !ok {
			t.Fatalf("%s: no member %s", path, s)
		}
	}
	last := steps[len(steps)-1]
	if value == "-" {
		at.(*ojson.Object).Delete(last)
		return root
	}
	v, err := ojson.Decode([]byte(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if a, ok := at.([]any); ok {
		i, _ := strconv.Atoi(last)
		a[i] = v
	} else {
		at.(*ojson.Object).Set(last, v)
	}
	return root
}

func TestDecodeConfigFull(t *testing.T) {
	c, problems := cfgDecode(t, cfgFull)
	if len(problems) > 0 {
		t.Fatalf("problems: %s", problems.Join())
	}
	num := func(f float64) *float64 { return &f }
	integer := func(i int) *int { return &i }
	no := false
	if diff := cmp.Diff(Project{"shop", "Shop", "sell", "trunk"}, c.Project); diff != "" {
		t.Error(diff)
	}
	if c.Template != "library" || c.GateCoverageMode != CoverageLenient || c.IntentCoverageMode != CoverageStrict {
		t.Errorf("template %q, modes %q %q", c.Template, c.GateCoverageMode, c.IntentCoverageMode)
	}
	if diff := cmp.Diff([]string{"planning", "build", "qa"}, c.Phases()); diff != "" {
		t.Error(diff)
	}
	lead, coder := c.Role("lead"), c.Role("coder")
	if lead.RuntimeType != "manual" || *lead.DecisionAuthority != 9 || coder.RuntimeType != "local_cli" ||
		coder.DecisionAuthority != nil {
		t.Errorf("roles: %+v %+v", lead, coder)
	}
	r := c.Route("planning")
	if r.EntryRole != "lead" || r.ExitGate != "plan_ok" || r.MaxConcurrentTurns != 2 || *r.TimeoutMinutes != 30 ||
		r.TimeoutAction != "warn" {
		t.Errorf("route: %+v", r)
	}
	if c.Route("build").MaxConcurrentTurns != 1 {
		t.Error("max_concurrent_turns must default to 1")
	}
	g := c.Gate("plan_ok")
	if diff := cmp.Diff([]string{"docs/plan.md"}, g.RequiresFiles); diff != "" || !g.RequiresHuman ||
		!g.Credentialed || g.RequiresVerify {
		t.Errorf("gate: %+v %s", g, diff)
	}
	if diff := cmp.Diff([]GateAction{{"make tag", "tag", 2000}, {"make note", "", DefaultGateActionTimeoutMS}},
		g.Actions); diff != "" {
		t.Error(diff)
	}
	if !c.Gate("build_ok").RequiresVerify {
		t.Error("requires_verification_pass")
	}
	if rate, _ := c.Budget.CostRates.Get("m"); *c.Budget.PerTurnMaxUSD != 2 || *c.Budget.PerRunMaxUSD != 50 ||
		c.Budget.OnExceed != "warn" || rate.OutputPer1M != 1.5 {
		t.Errorf("budget: %+v", c.Budget)
	}
	policies := []Policy{
		{
			ID:      "cap",
			Rule:    RuleMaxTotalTurns,
			Action:  "block",
			Message: "enough",
			Phases:  []string{"qa"},
			Roles:   []string{"probe"},
			Limit:   20,
		},
		{ID: "cost", Rule: RuleMaxCostPerTurn, Action: "warn", LimitUSD: 0.5},
		{ID: "clean", Rule: RuleRequireStatus, Action: "escalate", Allowed: []string{"completed", "needs_human"}},
		{ID: "replay", Rule: RuleRequireReproducibleVerify, Action: "warn"},
	}
	if diff := cmp.Diff(policies, c.Policies); diff != "" {
		t.Error(diff)
	}
	ap := c.ApprovalPolicy
	if !ap.HasPhaseTransitions || ap.Default != ActionRequireHuman || len(ap.Rules) != 1 ||
		ap.RunCompletion.Action != ActionAutoApprove {
		t.Errorf("approval policy: %+v", ap)
	}
	if diff := cmp.Diff(&ApprovalWhen{true, []string{"lead"}, false, &no}, ap.Rules[0].When); diff != "" {
		t.Error(diff)
	}
	if ap.Rules[0].From != "planning" || ap.Rules[0].To != "build" ||
		ap.Rules[0].Raw.String("action") != ActionAutoApprove {
		t.Errorf("rule: %+v", ap.Rules[0])
	}
	if diff := cmp.Diff(&Timeouts{num(10), num(60.5), num(600), "warn"}, c.Timeouts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Rules{false, 4, 5, true, true, false, RepairReference}, c.Rules); diff != "" {
		t.Error(diff)
	}
	c.RunLoop.Raw = nil
	if diff := cmp.Diff(RunLoop{6, 7, 1000, 2000, integer(3000), integer(4000), nil}, c.RunLoop); diff != "" {
		t.Error(diff)
	}
	if p, _ := c.Prompts.Get("coder"); p != ".agentxchain/prompts/coder.md" {
		t.Errorf("prompts: %q", p)
	}
	// Members that the decoder does not know survive in place.
	if diff := cmp.Diff([]string{"z", "a"}, c.Raw.Object("x_other").Keys()); diff != "" {
		t.Error(diff)
	}
}

const cfgMinimal = `{"schema_version":4,"project":{"id":"p","name":"P"},"roles":{},"runtimes":{}}`

func TestDecodeConfigDefaults(t *testing.T) {
	for _, doc := range []string{cfgMinimal, strings.Replace(cfgMinimal, "4", "4.0", 1),
		strings.Replace(cfgMinimal, "4", `"1.0"`, 1)} {
		c, problems := cfgDecode(t, doc)
		if len(problems) > 0 {
			t.Fatal(problems.Join())
		}
		if c.Template != "generic" || c.Project.DefaultBranch != "main" || c.Budget != nil || c.Timeouts != nil ||
			c.ApprovalPolicy != nil {
			t.Errorf("%+v", c)
		}
		if diff := cmp.Diff(Rules{
			ChallengeRequired: true,
			MaxTurnRetries:    2,
			MaxDeadlockCycles: 2,
			ResultRepair:      RepairReference,
		}, c.Rules); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(RunLoop{
			NonProgressThreshold: 3,
			MaxTurns:             50,
			StartupWatchdogMS:    180000,
			StartupHeartbeatMS:   30000,
		}, c.RunLoop); diff != "" {
			t.Error(diff)
		}
		if c.FirstPhase() != "planning" || c.FinalPhase() != "" {
			t.Errorf("phases %q %q", c.FirstPhase(), c.FinalPhase())
		}
	}
}

// Sections whose null means absent.
func TestDecodeConfigNullSections(t *testing.T) {
	for _, key := range []string{"hooks", "notifications", "budget", "policies", "approval_policy", "timeouts",
		"workflow_kit",
		"retention", "rules", "gate_semantic_coverage_mode", "intent_coverage_mode", "prompts", "template"} {
		o := cfgChanged(t, cfgFull, key, "null")
		if _, problems := DecodeObject(o); len(problems) > 0 {
			t.Errorf("%s null: %s", key, problems.Join())
		}
	}
}

func TestDecodeConfigRefused(t *testing.T) {
	for _, tc := range []struct{ doc, code string }{
		{``, wire.CodeInvalidJSON}, {`{"a":1,}`, wire.CodeInvalidJSON}, {"{\"a\":\n\"\xff\"}", wire.CodeInvalidJSON},
		{`{"routing":{"qa":{},"qa":{}}}`, wire.CodeInvalidJSON}, // a phase twice
		{strings.Repeat("[", 5000), wire.CodeInvalidJSON},
		{`[]`, wire.CodeInvalidConfig}, {`null`, wire.CodeInvalidConfig}, {`"x"`, wire.CodeInvalidConfig},
	} {
		c, _, err := Decode([]byte(tc.doc))
		e, ok := err.(*wire.Error)
		if !ok || e.Code != tc.code || c != nil || strings.Contains(e.Message, "\n") {
			t.Errorf("%.20q: %v %v", tc.doc, c, err)
		}
	}
	_, _, err := Decode([]byte("{\n\"a\": tru\n}"))
	if !strings.Contains(err.Error(), "line 2") {
		t.Errorf("no line in %q", err)
	}
}

func TestDecodeConfigLegacy(t *testing.T) {
	_, p := cfgDecode(t, `{"version":3,"project":"x","agents":{"a":{"name":"A","mandate":"m"}}}`)
	if len(p) != 1 || p[0].Code != ProblemLegacyConfig || p[0].Field != "version" {
		t.Errorf("%+v", p)
	}
	// A governed document may have any version member.
	if _, p := cfgDecode(t, `{"version":3,`+cfgMinimal[1:]); len(p) > 0 {
		t.Error(p.Join())
	}
}

func TestRoutingOrderIsPhaseOrder(t *testing.T) {
	names := []string{"zeta", "alpha", "m10", "m9", "beta"}
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:{}", n)
	}
	c, p := cfgDecode(t, strings.TrimSuffix(cfgMinimal, "}")+`,"routing":{`+b.String()+`}}`)
	if len(p) > 0 {
		t.Fatal(p.Join())
	}
	if diff := cmp.Diff(names, c.Phases()); diff != "" {
		t.Error(diff)
	}
	if c.FirstPhase() != "zeta" || c.NextPhase("m9") != "beta" || c.FinalPhase() != "beta" ||
		c.NextPhase("beta") != "" {
		t.Error("phase order")
	}
	if diff := cmp.Diff(names, NormalizedConfig(c).Object("routing").Keys()); diff != "" {
		t.Error(diff)
	}
}

// Best effort: readable members are set although the document is refused.
func TestDecodeConfigBestEffort(t *testing.T) {
	c, p := cfgDecode(t, `{"schema_version":"9","roles":{"a":null,"b":{"runtime":"r","write_authority":"owner"}},
		"runtimes":{"r":{"type":"local_cli"}},"routing":{"x":null,"y":{"entry_role":"b","exit_gate":"g","max_concurrent_turns":9,"allowed_next_roles":["a",5]}},
		"gates":{"g":{"requires_files":["../up","ok.md",7],"requires_human_approval":"yes"},"h":[]}}`)
	if c.Role("a") == nil || c.Role("b").RuntimeType != "local_cli" || c.Role("b").WriteAuthority != "" {
		t.Errorf("roles: %+v %+v", c.Role("a"), c.Role("b"))
	}
	y := c.Route("y")
	if c.Route("x") == nil || y.EntryRole != "b" || y.MaxConcurrentTurns != 4 ||
		!slices.Equal(y.AllowedNextRoles, []string{"a"}) {
		t.Errorf("routing: %+v", y)
	}
	if g := c.Gate("g"); !slices.Equal(g.RequiresFiles, []string{"ok.md"}) || c.Gate("h") == nil {
		t.Errorf("gate: %+v", c.Gate("g"))
	}
	var fields []string
	for _, f := range p {
		fields = append(fields, f.Field)
	}
	want := []string{"schema_version", "project", "roles.a", "roles.b.title", "roles.b.mandate",
		"roles.b.write_authority",
		"routing.x", "routing.y.allowed_next_roles[1]", "routing.y.max_concurrent_turns",
		"gates.g.requires_files[0]", "gates.g.requires_files[2]", "gates.g.requires_human_approval", "gates.h"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
}

func TestConfigError(t *testing.T) {
	if Refusal(nil) != nil {
		t.Error("no problems, no error")
	}
	_, p := cfgDecode(t, `{"schema_version":"2.0"}`)
	e := Refusal(p)
	if e.Code != wire.CodeInvalidConfig || e.Hint == "" || len(e.Problems) != len(p) ||
		!strings.Contains(e.Message, "and 3 more problems") {
		t.Errorf("%+v", e)
	}
	if p[0].Value != "2.0" {
		t.Errorf("%+v", p)
	}
}
