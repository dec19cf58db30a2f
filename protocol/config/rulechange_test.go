// Tests of the comparison of two configurations' rules.

package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const ruleDoc = `{"schema_version":"1.0","project":{"id":"p","name":"P","goal":"g"},
 "roles":{"pm":{"title":"PM","mandate":"m","write_authority":"proposed","runtime":"h"},
          "dev":{"title":"Dev","mandate":"m","write_authority":"authoritative","runtime":"a","declared_file_scope":["src","docs"]}},
 "runtimes":{"h":{"type":"manual"},"a":{"type":"local_cli","command":["agent"]}},
 "routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm","dev"],"exit_gate":"plan","timeout_minutes":60},
            "build":{"entry_role":"dev","allowed_next_roles":["dev"],"exit_gate":"ship","max_concurrent_turns":2}},
 "gates":{"plan":{"requires_files":["a.md","b.md"],"requires_human_approval":true},
          "ship":{"requires_verification_pass":true,"credentialed":true}},
 "policies":[{"id":"cap","rule":"max_total_turns","action":"escalate","params":{"limit":5}},
             {"id":"done","rule":"require_status","action":"warn","params":{"allowed":["completed","blocked"]},"scope":{"phases":["build"]}}],
 "approval_policy":{"phase_transitions":{"default":"require_human","rules":[{"from_phase":"planning","action":"auto_approve"}]},
                    "run_completion":{"action":"require_human"}},
 "hooks":{"before_acceptance":[{"name":"one","type":"process","command":["x"],"timeout_ms":1000,"mode":"blocking"},
                               {"name":"two","type":"process","command":["y"],"timeout_ms":1000,"mode":"advisory"}]},
 "rules":{"max_turn_retries":3,"strict_verification":true},
 "budget":{"per_run_max_usd":10,"on_exceed":"pause_and_escalate"},
 "timeouts":{"per_turn_minutes":30,"action":"escalate"},
 "workflow_kit":{"phases":{"planning":{"artifacts":[{"path":"spec.md","semantics":"section_check","semantics_config":{"required_sections":["## A"]},"owned_by":"pm"}]}}},
 "git_hooks":{"protected":["ci/**"],"protected_branches":["main"]},
 "run_loop":{"max_turns":20,"startup_watchdog_ms":5},
 "gate_semantic_coverage_mode":"strict","x_other":{"deep":[1,2]}}`

// ruleAt returns the object with the last member of a pointer, and that member's name.
func ruleAt(t testing.TB, doc *ojson.Object, at string) (*ojson.Object, string) {
	t.Helper()
	parts := strings.Split(strings.TrimPrefix(at, "/"), "/")
	for _, p := range parts[:len(parts)-1] {
		if !doc.Has(p) {
			doc.Set(p, &ojson.Object{})
		}
		if doc = doc.Object(p); doc == nil {
			t.Fatalf("%s: no object at %s", at, p)
		}
	}
	return doc, parts[len(parts)-1]
}

// ruleEdit returns ruleDoc with one member replaced, or removed when value is "".
func ruleEdit(t testing.TB, doc, at, value string) *config.Config {
	t.Helper()
	root, err := ojson.DecodeObject([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	o, key := ruleAt(t, root, at)
	if value == "" {
		o.Delete(key)
	} else {
		v, err := ojson.Decode([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		o.Set(key, v)
	}
	cfg := config.DecodeGoverning(ojson.Compact(root))
	if cfg == nil {
		_, problems, err := config.Decode(ojson.Compact(root))
		t.Fatalf("%s = %s does not govern: %v %s", at, value, err, problems.Join())
	}
	return cfg
}

func TestRuleChanges(t *testing.T) {
	hook := `{"name":"%s","type":"process","command":["%s"],"timeout_ms":1000,"mode":"%s"}`
	h := func(name, command, mode string) string { return fmt.Sprintf(hook, name, command, mode) }
	for _, tc := range []struct {
		at, Member string
		want       string // pointer of the only change; "" for none
		weakens    bool
	}{
		{"/project/name", `"Q"`, "", false},
		{"/project/goal", "", "", false},
		{"/project/id", `"q"`, "/project/id", true},
		{"/prompts", `{"dev":"x.md"}`, "", false},
		{"/notifications", `{}`, "", false},
		{"/roles/dev/mandate", `"other"`, "", false},
		{"/runtimes/a/command", `["b","c"]`, "", false},
		{"/runtimes/a/idle_timeout_ms", `7`, "", false},
		{"/runtimes/a/isolation", `"landlock"`, "/runtimes/a/isolation", true},
		{"/runtimes/a/capabilities", `{"can_write_files":"direct"}`, "/runtimes/a/capabilities", true},
		{"/runtimes/n", `{"type":"manual"}`, "/runtimes/n", false},
		{"/run_loop/startup_watchdog_ms", `9`, "", false},
		{"/run_loop/max_turns", `19`, "/run_loop/max_turns", false},
		{"/run_loop/max_turns", "", "/run_loop/max_turns", true},
		{"/run_loop/continuous", `{}`, "/run_loop/continuous", true},
		{"/gates/plan/requires_human_approval", `false`, "/gates/plan/requires_human_approval", true},
		{"/gates/plan/requires_human_approval", "", "/gates/plan/requires_human_approval", true},
		{"/gates/ship/requires_human_approval", `true`, "/gates/ship/requires_human_approval", false},
		{"/gates/ship/credentialed", `false`, "/gates/ship/credentialed", true},
		{"/gates/ship/requires_verification_pass", `false`, "/gates/ship/requires_verification_pass", true},
		{"/gates/plan/requires_files", `["a.md"]`, "/gates/plan/requires_files", true},
		{"/gates/plan/requires_files", `["b.md","c.md","a.md"]`, "/gates/plan/requires_files", false},
		{"/gates/plan/gate_actions", `[{"run":"x"}]`, "/gates/plan/gate_actions", true},
		{"/gates/plan/unknown", `1`, "/gates/plan/unknown", true},
		{"/gates/more", `{}`, "/gates/more", false},
		{"/routing/planning/exit_gate", "", "/routing/planning/exit_gate", true},
		{"/routing/planning/exit_gate", `"ship"`, "/routing/planning/exit_gate", true},
		{"/routing/planning/allowed_next_roles", `["pm"]`, "/routing/planning/allowed_next_roles", false},
		{"/routing/planning/allowed_next_roles", `[]`, "/routing/planning/allowed_next_roles", true},
		{"/routing/build/allowed_next_roles", `["dev","pm"]`, "/routing/build/allowed_next_roles", true},
		{"/routing/build/max_concurrent_turns", `1`, "/routing/build/max_concurrent_turns", false},
		{"/routing/build/max_concurrent_turns", `3`, "/routing/build/max_concurrent_turns", true},
		{"/routing/planning/timeout_minutes", `30`, "/routing/planning/timeout_minutes", false},
		{"/routing/planning/timeout_action", `"skip_phase"`, "/routing/planning/timeout_action", true},
		{"/routing/qa", `{}`, "/routing/qa", true},
		{"/policies", `[]`, "", true},
		{"/rules/strict_verification", `false`, "/rules/strict_verification", true},
		{"/rules/max_turn_retries", "", "/rules/max_turn_retries", false}, // the default is 2
		{"/rules/enforce_routing", `true`, "/rules/enforce_routing", false},
		{"/rules/later_version", `true`, "/rules/later_version", true},
		{"/rules", "", "", true},
		{"/budget", "", "", true},
		{"/budget/per_turn_max_usd", `1`, "/budget/per_turn_max_usd", false},
		{"/budget/per_run_max_usd", `10.0`, "", false}, // another spelling
		{"/budget/on_exceed", `"warn"`, "/budget/on_exceed", true},
		{"/timeouts", "", "/timeouts", true},
		{"/timeouts/per_phase_minutes", `5`, "/timeouts/per_phase_minutes", false},
		{"/timeouts/per_turn_minutes", `31`, "/timeouts/per_turn_minutes", true},
		{"/approval_policy", "", "/approval_policy", false}, // then a person decides
		{"/approval_policy/phase_transitions", "", "/approval_policy/phase_transitions", false},
		{"/approval_policy/run_completion", `{"action":"auto_approve"}`, "/approval_policy/run_completion", true},
		{"/approval_policy/phase_transitions", `{"default":"auto_approve"}`, "/approval_policy/phase_transitions",
			true},
		{"/hooks/before_acceptance", "[" + h("one", "x", "blocking") + "," + h("two", "y", "blocking") + "]",
			"/hooks/before_acceptance/1", false},
		{"/hooks/before_acceptance", "[" + h("one", "x", "blocking") + "]", "/hooks/before_acceptance/1", true},
		{"/hooks/before_acceptance", "[" + h("two", "y", "advisory") + "," + h("one", "x", "blocking") + "]",
			"/hooks/before_acceptance", true},
		{"/hooks/before_acceptance", "[" + h("one", "z", "blocking") + "," + h("two", "y", "advisory") + "]",
			"/hooks/before_acceptance/0", true},
		{"/hooks/before_gate", "[" + h("one", "x", "blocking") + "]", "/hooks/before_gate/0", false},
		{"/hooks", "", "", true},
		{"/workflow_kit", "{}", "/workflow_kit", true},
		{"/workflow_kit",
			`{"phases":{"planning":{"template":"security-review","artifacts":[{"path":"spec.md","semantics":"section_check",
			"semantics_config":{"required_sections":["## B","## A"]},"owned_by":"pm"}]}}}`, "/workflow_kit", false},
		{"/workflow_kit/later", "1", "/workflow_kit", true},
		{"/git_hooks/protected", `["ci/**","x"]`, "/git_hooks/protected", false},
		{"/git_hooks/protected", `["x"]`, "/git_hooks/protected", true},
		{"/git_hooks/protected_branches", "", "/git_hooks/protected_branches", true},
		{"/git_hooks", "", "", true},
		{"/gate_semantic_coverage_mode", `"lenient"`, "/gate_semantic_coverage_mode", true},
		{"/gate_semantic_coverage_mode", "", "/gate_semantic_coverage_mode", false},
		{"/intent_coverage_mode", `"lenient"`, "/intent_coverage_mode", true},
		{"/intent_coverage_mode", `"strict"`, "/intent_coverage_mode", false},
		{"/roles/dev/write_authority", `"proposed"`, "/roles/dev/write_authority", false},
		{"/roles/pm/write_authority", `"authoritative"`, "/roles/pm/write_authority", true},
		{"/roles/dev/declared_file_scope", `["src"]`, "/roles/dev/declared_file_scope", false},
		{"/roles/dev/declared_file_scope", "", "/roles/dev/declared_file_scope", true},
		{"/roles/pm/declared_file_scope", `["src"]`, "/roles/pm/declared_file_scope", false},
		{"/roles/pm/decision_authority", `50`, "/roles/pm/decision_authority", true},
		{"/roles/pm/runtime", `"a"`, "/roles/pm/runtime", true},
		{"/roles/new", `{"title":"N","mandate":"m","write_authority":"review_only","runtime":"h"}`, "/roles/new",
			true},
		{"/authority", `{"grants":[]}`, "/authority", true},
		{"/x_other/deep", `[1]`, "/x_other/deep", true},
		{"/x~y", `1`, "/x~0y", true},
		{"/schedules", `{"n":{"every_minutes":5}}`, "/schedules", true},
	} {
		before, after := config.DecodeGoverning([]byte(ruleDoc)), ruleEdit(t, ruleDoc, tc.at, tc.Member)
		changes := config.RuleChanges(before, after)
		var at []string
		for _, c := range changes {
			at = append(at, c.Pointer)
		}
		name := tc.at + " = " + tc.Member
		if got := len(config.Weakening(changes)) > 0; got != tc.weakens {
			t.Errorf("%s: weakens %v, want %v: %+v", name, got, tc.weakens, changes)
		}
		if tc.want != "" && !slices.Equal(at, []string{tc.want}) {
			t.Errorf("%s: changes at %v, want %s", name, at, tc.want)
		}
		if tc.want == "" && !tc.weakens && len(changes) > 0 {
			t.Errorf("%s: changes of what is a setting: %+v", name, changes)
		}
		if same := config.RulesDigest(before) == config.RulesDigest(after); same != (len(changes) == 0) {
			t.Errorf("%s: the same digest %v with %d changes", name, same, len(changes))
		}
	}
}

func TestRuleChangesOfPhaseOrder(t *testing.T) {
	before := config.DecodeGoverning([]byte(ruleDoc))
	routing := before.Raw.Object("routing")
	turned := ojson.NewObject("build", routing.Object("build"), "planning", routing.Object("planning"))
	after := ruleEdit(t, ruleDoc, "/routing", string(ojson.Compact(turned)))
	changes := config.RuleChanges(before, after)
	if len(changes) != 1 || changes[0].Pointer != "/routing" || !changes[0].Weakens {
		t.Errorf("another order of phases: %+v", changes)
	}
	if config.RulesDigest(before) == config.RulesDigest(after) {
		t.Error("another order of phases has the same digest")
	}
}

func TestRuleChangesOfSkippedPhases(t *testing.T) {
	skip := string(ojson.Compact(ruleEdit(t, ruleDoc, "/routing/planning/timeout_action", `"skip_phase"`).Raw))
	for _, at := range []string{"/routing/planning/timeout_minutes", "/timeouts/per_phase_minutes"} {
		if changes := config.RuleChanges(config.DecodeGoverning([]byte(skip)),
			ruleEdit(t, skip, at, "2")); len(config.Weakening(changes)) != 1 {
			t.Errorf("a shorter time until a phase is skipped, %s: %+v", at, changes)
		}
	}
	none := string(ojson.Compact(ruleEdit(t, skip, "/timeouts", "").Raw))
	if changes := config.RuleChanges(config.DecodeGoverning([]byte(none)),
		config.DecodeGoverning([]byte(skip))); len(config.Weakening(changes)) != 1 {
		t.Errorf("limits that skip a phase come to hold: %+v", changes)
	}
	if changes := config.RuleChanges(config.DecodeGoverning([]byte(skip)),
		ruleEdit(t, skip, "/routing/planning/timeout_action", `"escalate"`)); len(config.Weakening(changes)) != 0 ||
		len(changes) != 1 {
		t.Errorf("a person instead of a skipped phase: %+v", changes)
	}
}

func TestRuleChangesOfNoConfiguration(t *testing.T) {
	cfg := config.DecodeGoverning([]byte(ruleDoc))
	for _, data := range []string{"", "{", "[]", `{"schema_version":"9"}`,
		strings.Replace(ruleDoc, `"type":"manual"`, `"type":"robot"`, 1)} {
		if config.DecodeGoverning([]byte(data)) != nil {
			t.Errorf("%.30q governs", data)
		}
	}
	if config.DecodeGoverning(nil) != nil || config.RulesDigest(nil) != "" || config.RuleChanges(nil, nil) != nil {
		t.Error("a missing configuration has rules")
	}
	if lost := config.RuleChanges(cfg, nil); len(lost) != 1 || !lost[0].Weakens || lost[0].Pointer != "" ||
		lost[0].After != "" {
		t.Errorf("a lost configuration: %+v", lost)
	}
	if found := config.RuleChanges(nil, cfg); len(found) != 1 || found[0].Weakens {
		t.Errorf("a first configuration: %+v", found)
	}
}

// ruleChoices are members and the values to draw for them; "" removes the member.
var ruleChoices = []struct {
	at     string
	values []string
}{
	{"/gates/plan/requires_files", []string{"", `[]`, `["a.md"]`, `["a.md","b.md"]`}},
	{"/gates/plan/requires_verification_pass", []string{"", `true`, `false`}},
	{"/gates/plan/requires_human_approval", []string{"", `true`, `false`}},
	{"/gates/plan/credentialed", []string{"", `true`, `false`}},
	{"/routing/planning/exit_gate", []string{"", `"plan"`, `"ship"`}},
	{"/routing/planning/timeout_minutes", []string{"", `10`, `60`}},
	{"/routing/planning/timeout_action", []string{"", `"warn"`, `"escalate"`, `"skip_phase"`}},
	{"/timeouts", []string{"", `{"per_phase_minutes":20}`,
		`{"per_phase_minutes":40,"per_run_minutes":5,"action":"warn"}`, `{}`}},
	{"/rules", []string{"", `{"strict_verification":true}`, `{"strict_verification":false}`}},
	{"/approval_policy", []string{
		"", `{}`, `{"phase_transitions":{"default":"auto_approve"}}`,
		`{"phase_transitions":{"default":"require_human"}}`,
		`{"phase_transitions":{"default":"auto_approve","rules":[{"from_phase":"planning","action":"require_human"}]}}`,
		`{"phase_transitions":{"default":"require_human","rules":[{"action":"auto_approve","when":{"roles_participated":["pm"]}}]}}`,
	}},
	{"/workflow_kit", []string{
		"", `{}`, `{"phases":{"planning":{"artifacts":[{"path":"b.md","required":false,"owned_by":"pm"}]}}}`,
		`{"phases":{"planning":{"artifacts":[{"path":"b.md","owned_by":"pm"},{"path":"c.md"}]}}}`,
	}},
	{"/policies", []string{
		"", `[]`, `[{"id":"cap","rule":"max_total_turns","action":"warn","params":{"limit":3}}]`,
		`[{"id":"cap","rule":"max_total_turns","action":"block","params":{"limit":3}}]`,
		`[{"id":"cap","rule":"max_total_turns","action":"block","params":{"limit":6},"scope":{"phases":["planning"],"roles":["pm"]}}]`,
		`[{"id":"cap","rule":"max_total_turns","action":"block","params":{"limit":3},"scope":{"phases":["planning"]}}]`,
	}},
}

// rulePair draws two configurations that govern and differ in at most three members.
func rulePair(t *rapid.T) (before, after *config.Config) {
	picked := make([]string, len(ruleChoices))
	for i, c := range ruleChoices {
		picked[i] = rapid.SampledFrom(c.values).Draw(t, c.at)
	}
	before = ruleDecode(t, picked)
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		i := rapid.IntRange(0, len(ruleChoices)-1).Draw(t, "edited")
		picked[i] = rapid.SampledFrom(ruleChoices[i].values).Draw(t, "to")
	}
	return before, ruleDecode(t, picked)
}

func ruleDecode(t *rapid.T, picked []string) *config.Config {
	root, err := ojson.DecodeObject([]byte(ruleDoc))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range ruleChoices {
		parts := strings.Split(c.at[1:], "/")
		o := root
		for _, p := range parts[:len(parts)-1] {
			o = o.Object(p)
		}
		if key := parts[len(parts)-1]; picked[i] == "" {
			o.Delete(key)
		} else if v, err := ojson.Decode([]byte(picked[i])); err != nil {
			t.Fatal(err)
		} else {
			o.Set(key, v)
		}
	}
	cfg := config.DecodeGoverning(ojson.Compact(root))
	if cfg == nil {
		_, problems, _ := config.Decode(ojson.Compact(root))
		t.Fatal(problems.Join())
	}
	return cfg
}

// ruleSituation is a drawn situation of a run that wants to leave planning.
type ruleSituation struct {
	gate   gates.Input
	policy limits.PolicyInput
	state  *run.State
	now    time.Time
}

func ruleWorld(t *rapid.T) ruleSituation {
	var facts []evidence.FileFact
	for _, p := range []string{"a.md", "b.md", "c.md", ".planning/PM_SIGNOFF.md", ".planning/SYSTEM_SPEC.md",
		".planning/ROADMAP.md"} {
		if rapid.Bool().Draw(t, p) {
			facts = append(facts, evidence.FileFact{
				Path:   p,
				Exists: true,
				Data:   []byte("Approved: YES\n## Purpose\nx\n## Interface\nx\n## Acceptance Tests\n- [ ] x\n"),
			})
		}
	}
	pm := rapid.Bool().Draw(t, "pm took part")
	entered := "2026-01-01T00:00:00.000Z"
	start, _ := wire.ParseTime(entered)
	next := "build"
	return ruleSituation{
		gate: gates.Input{
			Phase:                    "planning",
			Participated:             func(_, role string) bool { return pm && role == "pm" },
			TransitionRequest:        &next,
			VerificationStatus:       rapid.SampledFrom([]string{"", "pass", "fail"}).Draw(t, "verification"),
			VerificationReproducible: rapid.Bool().Draw(t, "reproducible"),
			Files:                    evidence.NewFiles(facts),
		},
		policy: limits.PolicyInput{
			Phase:      "planning",
			Role:       rapid.SampledFrom([]string{"pm", "dev"}).Draw(t, "role"),
			TotalTurns: rapid.IntRange(0, 8).Draw(t, "turns"),
		},
		state: &run.State{Phase: "planning", PhaseEnteredAt: &entered, CreatedAt: &entered},
		now:   start.Add(time.Duration(rapid.IntRange(0, 70).Draw(t, "minutes")) * time.Minute),
	}
}

// openness says how open the way out of planning is: 0 closed, 1 for a person, 2 open.
func (w ruleSituation) openness(cfg *config.Config) int {
	in := w.gate
	in.Config = cfg
	r := gates.EvaluatePhaseExit(in)
	switch {
	case !r.Passed:
		return 0
	case !r.BlockedByHuman:
		return 2
	}
	v := gates.EvaluateApproval(cfg, gates.ApprovalInput{
		GateType:     run.GatePhase,
		Gate:         &r,
		Phase:        "planning",
		NextPhase:    "build",
		Participated: in.Participated,
	})
	if v.Auto {
		return 2
	}
	return 1
}

// A change that does not count as weakening opens no gate and disables no policy and no time limit.
func TestUnmarkedRuleChangesAreAsStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rulePair(t)
		changes := config.RuleChanges(before, after)
		if same := config.RulesDigest(before) == config.RulesDigest(after); same != (len(changes) == 0) {
			t.Fatalf("the same digest %v with %d changes", same, len(changes))
		}
		if len(config.RuleChanges(before, before)) != 0 {
			t.Fatal("a configuration differs from itself")
		}
		if len(config.Weakening(changes)) > 0 {
			return
		}
		w := ruleWorld(t)
		if b, a := w.openness(before), w.openness(after); a > b {
			t.Fatalf("the way out of the phase went from %d to %d: %+v", b, a, changes)
		}
		rank := map[string]int{"": 0, "warn": 1, "escalate": 2, "block": 3}
		kept := map[string]string{}
		for _, v := range limits.EvaluatePolicies(after, w.policy) {
			kept[v.PolicyID] = v.Action
		}
		for _, v := range limits.EvaluatePolicies(before, w.policy) {
			if rank[kept[v.PolicyID]] < rank[v.Action] {
				t.Fatalf("policy %s: %s became %q: %+v", v.PolicyID, v.Action, kept[v.PolicyID], changes)
			}
		}
		hits := func(cfg *config.Config, action string) (out []string) {
			for _, h := range limits.EvaluateTimeouts(cfg, w.state, nil, w.now) {
				if h.Action == action {
					out = append(out, h.Scope)
				}
			}
			return out
		}
		if b, a := hits(before, config.TimeoutEscalate), hits(after, config.TimeoutEscalate); !coversAll(a, b) {
			t.Fatalf("time limits that stop the run: %v, then %v: %+v", b, a, changes)
		}
		if b, a := hits(before, config.TimeoutSkipPhase), hits(after, config.TimeoutSkipPhase); !coversAll(b, a) {
			t.Fatalf("time limits that skip the phase: %v, then %v: %+v", b, a, changes)
		}
	})
}

// A difference in one direction is a difference in the other, and not both directions are stricter.
func TestRuleChangesAreOneWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rulePair(t)
		there, back := config.RuleChanges(before, after), config.RuleChanges(after, before)
		if (len(there) == 0) != (len(back) == 0) {
			t.Fatalf("%+v there, %+v back", there, back)
		}
		w := ruleWorld(t)
		if len(config.Weakening(there))+len(config.Weakening(back)) == 0 && w.openness(before) != w.openness(after) {
			t.Fatalf("called the same both ways, and one is more open: %+v", there)
		}
	})
}

// Every member at every place is covered, and nothing panics.
func TestRuleChangesOfAnyDocument(t *testing.T) {
	leaf := rapid.SampledFrom(
		[]string{"null", "true", "0", "-0", "1e400", `"x"`, "[]", "{}", `[{"id":"a"},{"id":"a"}]`, `{"a":null}`})
	keys := []string{"gates", "routing", "policies", "hooks", "roles", "runtimes", "rules", "budget", "timeouts",
		"workflow_kit",
		"approval_policy", "git_hooks", "run_loop", "project", "authority"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *config.Config {
			root, err := ojson.DecodeObject([]byte(ruleDoc))
			if err != nil {
				t.Fatal(err)
			}
			for i := range rapid.IntRange(0, 3).Draw(t, label+"edits") {
				key := rapid.SampledFrom(keys).Draw(t, fmt.Sprint(label, "key", i))
				v, err := ojson.Decode([]byte(leaf.Draw(t, fmt.Sprint(label, "value", i))))
				if err != nil {
					t.Fatal(err)
				}
				if inner := root.Object(key); inner != nil && rapid.Bool().Draw(t, fmt.Sprint(label, "inside", i)) {
					inner.Set(rapid.SampledFrom(append(inner.Keys(), "new")).Draw(t, fmt.Sprint(label, "member", i)),
						v)
				} else {
					root.Set(key, v)
				}
			}
			cfg, _ := config.DecodeObject(root)
			return cfg
		}
		before, after := draw("before "), draw("after ")
		changes := config.RuleChanges(before, after)
		if same := config.RulesDigest(before) == config.RulesDigest(after); same != (len(changes) == 0) {
			t.Fatalf("the same digest %v with changes %+v", same, changes)
		}
	})
}

// coversAll reports whether list has every item of want.
func coversAll(list, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(list, s) })
}
