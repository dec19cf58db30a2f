// Tests of workflow-kit defaults, templates and merging.

package config

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/google/go-cmp/cmp"
)

func cfgKit(t *testing.T, members string) *Config {
	t.Helper()
	c, p := cfgDecode(t, strings.TrimSuffix(cfgMinimal, "}")+","+members+"}")
	if len(p) > 0 {
		t.Fatal(p.Join())
	}
	return c
}

// cfgArtifacts writes a phase's artifacts as "path=semantics" words, ! marks optional ones.
func cfgArtifacts(c *Config, phase string) string {
	list, _ := c.WorkflowKit.Phases.Get(phase)
	var out []string
	for _, a := range list {
		w := a.Path + "=" + a.Semantics
		if !a.Required {
			w += "!"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

const (
	cfgPlanning = ".planning/PM_SIGNOFF.md=pm_signoff .planning/SYSTEM_SPEC.md=system_spec .planning/ROADMAP.md="
	cfgBuild    = ".planning/IMPLEMENTATION_NOTES.md=implementation_notes"
	cfgQA       = ".planning/acceptance-matrix.md=acceptance_matrix .planning/ship-verdict.md=ship_verdict .planning/RELEASE_NOTES.md=release_notes"
)

func TestDefaultKit(t *testing.T) {
	for _, tc := range []struct {
		members string
		phases  []string
	}{
		{`"routing":{}`, []string{"planning", "implementation", "qa"}},
		{`"workflow_kit":null`, []string{"planning", "implementation", "qa"}},
		{`"routing":{"qa":{},"extra":{},"planning":{}}`, []string{"qa", "planning"}},
		{`"routing":{"extra":{}}`, nil},
		// A phase whose name only resembles another template has no default.
		{`"routing":{"architecture-review":{},"security":{}}`, nil},
	} {
		c := cfgKit(t, tc.members)
		if diff := cmp.Diff(tc.phases, c.WorkflowKit.Phases.Keys()); diff != "" || c.WorkflowKit.Explicit {
			t.Errorf("%s: %s", tc.members, diff)
		}
		if n := c.WithoutDefaultKit().WorkflowKit.Phases.Len(); n != 0 {
			t.Errorf("%s: %d phases without the default kit", tc.members, n)
		}
		if diff := cmp.Diff(tc.phases, c.WorkflowKit.Phases.Keys()); diff != "" {
			t.Errorf("WithoutDefaultKit changed its receiver: %s", diff)
		}
	}
	c := cfgKit(t, `"routing":{}`)
	for phase, want := range map[string]string{"planning": cfgPlanning, "implementation": cfgBuild, "qa": cfgQA} {
		if got := cfgArtifacts(c, phase); got != want {
			t.Errorf("%s: %s", phase, got)
		}
	}
}

func TestExplicitKit(t *testing.T) {
	c := cfgKit(t, `"workflow_kit":{}`)
	if !c.WorkflowKit.Explicit || c.WorkflowKit.Phases.Len() != 0 {
		t.Errorf("opt-out: %+v", c.WorkflowKit)
	}
	c = cfgKit(t,
		`"workflow_kit":{"phases":{"planning":{"artifacts":[]},"design":{"template":"architecture-review"},"sec":{"template":"security-review"}}}`)
	if c.WithoutDefaultKit().WorkflowKit.Phases.Len() != 3 || cfgArtifacts(c, "planning") != "" {
		t.Errorf("explicit kit: %+v", c.WorkflowKit)
	}
	design, _ := c.WorkflowKit.Phases.Get("design")
	if diff := cmp.Diff([]string{"## Context", "## Proposed Design", "## Trade-offs", "## Risks"},
		design[0].RequiredSections); diff != "" {
		t.Error(diff)
	}
	sec, _ := c.WorkflowKit.Phases.Get("sec")
	if diff := cmp.Diff([]string{"## Threat Model", "## Findings", "## Verdict"},
		sec[0].RequiredSections); diff != "" {
		t.Error(diff)
	}
}

// A declared artifact overrides the template's artifact of the same path, member by member, in its place.
func TestKitMerge(t *testing.T) {
	c := cfgKit(t, `"workflow_kit":{"phases":{"planning":{"template":"planning-default","artifacts":[
		{"path":"own.md","required":false},
		{"path":"./.planning/PM_SIGNOFF.md","required":false},
		{"path":".planning/SYSTEM_SPEC.md","semantics":null},
		{"path":".planning/ROADMAP.md","semantics":"section_check","semantics_config":{"required_sections":["## Now","## Later"]}}]},
		"design":{"template":"architecture-review","artifacts":[{"path":".planning/ARCHITECTURE.md","semantics_config":{"required_sections":["## One"]}}]}}}`)
	want := ".planning/PM_SIGNOFF.md=pm_signoff! .planning/SYSTEM_SPEC.md= .planning/ROADMAP.md=section_check own.md=!"
	if got := cfgArtifacts(c, "planning"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	list, _ := c.WorkflowKit.Phases.Get("planning")
	if diff := cmp.Diff([]string{"## Now", "## Later"}, list[2].RequiredSections); diff != "" {
		t.Error(diff)
	}
	design, _ := c.WorkflowKit.Phases.Get("design")
	if diff := cmp.Diff([]string{"## One"}, design[0].RequiredSections); diff != "" {
		t.Error(diff)
	}
}

func TestKitTemplates(t *testing.T) {
	for _, name := range KitTemplates() {
		if len(KitTemplate(name)) == 0 {
			t.Errorf("template %s is empty", name)
		}
		a, b := KitTemplate(name), KitTemplate(name)
		a[0].Path = "changed"
		if b[0].Path == "changed" {
			t.Errorf("template %s is shared", name)
		}
	}
	if KitTemplate("nothing") != nil {
		t.Error("unknown template")
	}
}

func TestNormalizedConfig(t *testing.T) {
	c, _ := cfgDecode(t, cfgMinimal)
	got := NormalizedConfig(c)
	wantKeys := []string{"schema_version", "protocol_mode", "template", "project", "roles", "runtimes", "routing",
		"gates", "hooks",
		"notifications", "schedules", "budget", "policies", "approval_policy", "timeouts", "workflow_kit", "retention",
		"rules", "files", "compat"}
	if diff := cmp.Diff(wantKeys, got.Keys()); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"schema_version": `4`,
		"protocol_mode":  `"governed"`,
		"template":       `"generic"`,
		"project":        `{"id":"p","name":"P","default_branch":"main"}`,
		"routing":        `{}`,
		"policies":       `[]`,
		"budget":         `null`,
		"rules":          `{"challenge_required":true,"max_turn_retries":2,"max_deadlock_cycles":2,"max_consecutive_claims":null,"verify_command":null,"compress_after_words":null,"ttl_minutes":null}`,
		"retention":      `{"talk_strategy":"append_only","history_strategy":"jsonl_append_only"}`,
		"files":          `{"talk":"TALK.md","history":".agentxchain/history.jsonl","state":".agentxchain/state.json","log":null}`,
		"compat":         `{"next_owner_source":"state-json","lock_based_coordination":false,"original_version":4}`,
	} {
		v, _ := got.Get(key)
		if s := string(ojson.Compact(v)); s != want {
			t.Errorf("%s: %s, want %s", key, s, want)
		}
	}
	kit := got.Object("workflow_kit")
	if kit.Has("_explicit") || len(kit.Object("phases").Object("qa").Array("artifacts")) != 3 {
		t.Errorf("kit: %s", ojson.Compact(kit))
	}

	c, _ = cfgDecode(t, cfgFull)
	got = NormalizedConfig(c)
	for _, tc := range []struct{ path, want string }{
		{"project", `{"id":"shop","name":"Shop","goal":"sell","default_branch":"trunk"}`},
		{"roles.lead",
			`{"title":"Lead","mandate":"plan","write_authority":"review_only","decision_authority":9,"runtime_class":"manual","runtime_id":"people"}`},
		{"workflow_kit._explicit", `true`},
		{"workflow_kit.phases.planning.template", `"planning-default"`},
		{"workflow_kit.phases.qa",
			`{"artifacts":[{"path":"docs/ship.md","semantics":"ship_verdict","semantics_config":null,"owned_by":"probe","required":true}]}`},
		{"rules.enforce_routing", `true`},
		{"gate_semantic_coverage_mode", `"lenient"`},
		{"schedules.nightly.trigger_reason", `"night"`},
		{"schedules.nightly.continuous.idle_expansion",
			`{"sources":["V.md"],"max_expansions":2,"role":"lead","output":"intake_intent_or_vision_exhausted","malformed_retry_limit":0,"pm_prompt_path":".agentxchain/prompts/pm-idle-expansion.md"}`},
		{"run_loop.max_turns", `7`},
	} {
		at, steps := got, strings.Split(tc.path, ".")
		for _, s := range steps[:len(steps)-1] {
			at = at.Object(s)
		}
		v, _ := at.Get(steps[len(steps)-1])
		if s := string(ojson.Compact(v)); s != tc.want {
			t.Errorf("%s: %s, want %s", tc.path, s, tc.want)
		}
	}
	for _, dropped := range []string{"prompts", "mission_planner", "x_other"} {
		if got.Has(dropped) {
			t.Errorf("%s is not part of the normalised form", dropped)
		}
	}
	// The caller may change what it got.
	got.Object("routing").Delete("qa")
	if !c.Raw.Object("routing").Has("qa") {
		t.Error("the normalised form shares the document")
	}
}

// Members of the wrong type do not reach the normalised form.
func TestNormalizedConfigWrongTypes(t *testing.T) {
	c, p := cfgDecode(t, `{"routing":[],"policies":{},"budget":7,"schedules":{"a":5},"run_loop":null}`)
	got := NormalizedConfig(c)
	if len(p) == 0 || got.Object("routing") == nil || got.Array("policies") == nil ||
		got.Object("schedules").Len() != 0 || got.Has("run_loop") {
		t.Errorf("%s", ojson.Compact(got))
	}
	if v, ok := got.Get("budget"); !ok || v != nil {
		t.Errorf("budget: %v", v)
	}
}
