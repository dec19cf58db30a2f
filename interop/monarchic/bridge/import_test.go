// Tests of how plans are imported, and of what is refused.

package bridge_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const diamond = "../../../examples/monarchic-plan/plan.json"

// pipeline returns a role-aware PipelineSpec with the given tasks.
func pipeline(tasks string) string {
	return `{"version":"v1","pipeline_id":"p","objective":"o","project_key":"k","tasks":[` + tasks + `]}`
}

func portablePlan(steps string) string {
	return `{"contract_version":"v1","plan_id":"pl","objective":"ob","status":"planned","created_at_ms":1,"updated_at_ms":2,"provenance":{"generated_by":"g","generated_at_ms":1},"steps":[` +
		steps + `]}`
}

func strictPlan(steps string) string {
	return `{"plan_id":"ps","intent_id":"i","plan_version":"v1","planner_version":"x","created_at":1,"steps":[` +
		steps + `],"replan_policy":{"strategy":"retry","max_attempts":1},"input_digest":"sha256:i"}`
}

// laid returns the charters of a new project, a line each: id phase role deps gates goal.
func laid(im *bridge.Import) string {
	var b strings.Builder
	for _, c := range im.Charters {
		fmt.Fprintf(&b, "%s %s %s %s %s %s\n", c.CharterID, c.Phase, c.Role, strings.Join(c.DependsOn, ","),
			strings.Join(c.GatesRequired, ","), c.Charter)
	}
	return b.String()
}

func TestPlansOfEveryForm(t *testing.T) {
	for name, c := range map[string]struct{ doc, kind, id, want string }{
		"legacy pipeline": {`{"pipeline_id":"old","tasks":[{"id":"a","task":"first"},{"id":"b","task":{"goal":"second","role":"qa"}}]}`,
			bridge.KindPipelineLegacy, "old", "a level-1 dev   first\nb level-2 qa a  second\n"},
		"role-aware pipeline": {pipeline(
			`{"id":"a","role":"dev","goal":"x","depends_on":[]},{"id":"b","role":"dev","role_id":"back","goal":"y","depends_on":[{"task_id":"a","kind":"handoff"}],"gates_required":["qa","qa","sec"]}`),
			bridge.KindPipeline, "p", "a level-1 dev   x\nb level-2 back a qa,sec y\n"},
		"aliases and enum spellings": {`{"version":"v1","pipelineId":"p","objective":"o","projectKey":"k","tasks":[{"task_id":"a","role":"QA","goal":"x"},{"id":"b","role":"scribe","goal":"y","dependsOn":["a"],"gatesRequired":["q"]}]}`,
			bridge.KindPipeline, "p", "a level-1 qa   x\nb level-2 publisher a q y\n"},
		"portable plan": {portablePlan(
			`{"step_id":"s1","description":"d1","depends_on":[],"task_template":{"role":"qa"}},{"step_id":"s2","description":"d2","depends_on":["s1"],"task_template":{"role_id":"back","goal":"g2","gates_required":["q"]}}`),
			bridge.KindPlan, "pl", "s1 level-1 qa   d1\ns2 level-2 back s1 q g2\n"},
		"strict plan": {strictPlan(
			`{"step_id":"s1","task_id":"t1","kind":"review","description":"look","dependencies":[],"inputs":{},"expected_outputs":[],"policy_tags":[]},` +
				`{"step_id":"s2","task_id":"t2","kind":"execution","description":"make","dependencies":["s1"],"inputs":{"branch":"x"},"expected_outputs":[],"policy_tags":["role:back"]}`),
			bridge.KindStrictPlan, "ps", "s1 level-1 reviewer   look\ns2 level-2 back s1  make\n"},
		"task": {`{"version":"v1","task_id":"t","role":"dev","goal":"g","gates_required":["qa","security"]}`,
			bridge.KindTask, "task-t", "t level-1 dev  qa,security g\n"},
		"task with a role by number": {`{"version":"v1","task_id":"t","role":9,"goal":"g"}`, bridge.KindTask, "task-t",
			"t level-1 researcher   g\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := bridge.ReadPlan([]byte("\ufeff"+c.doc), nil)
			if err != nil {
				t.Fatal(err)
			}
			im, err := bridge.ForNewProject(p, bridge.FitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if p.Kind != c.kind || p.ID != c.id || laid(im) != c.want {
				t.Errorf("%s %s\n%s", p.Kind, p.ID, laid(im))
			}
		})
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ doc, code, pointer string }{
		"no JSON":  {`{"a":`, wire.CodeInvalidJSON, ""},
		"a list":   {`[]`, bridge.CodePipelineInvalid, ""},
		"no plan":  {`{"version":"v1"}`, bridge.CodePipelineInvalid, ""},
		"no tasks": {pipeline(``), bridge.CodePipelineInvalid, ""},
		"another version": {strings.Replace(pipeline(`{"id":"a","role":"dev","goal":"x"}`), `"v1"`, `"v2"`,
			1), bridge.CodeUnsupported, "/version"},
		"circle": {pipeline(
			`{"id":"a","role":"dev","goal":"x","depends_on":["b"]},{"id":"b","role":"dev","goal":"x","depends_on":["a"]}`),
			bridge.CodePipelineInvalid, "/tasks/0/depends_on/0"},
		"unknown dependency": {pipeline(`{"id":"a","role":"dev","goal":"x","depends_on":["z"]}`),
			bridge.CodePipelineInvalid, "/tasks/0/depends_on/0"},
		"twice the same id": {pipeline(`{"id":"a","role":"dev","goal":"x"},{"id":"a","role":"dev","goal":"x"}`),
			bridge.CodePipelineInvalid, "/tasks/1/id"},
		"unsafe id": {pipeline(`{"id":"../a","role":"dev","goal":"x"}`), bridge.CodePipelineInvalid,
			"/tasks/0/id"},
		"message route": {pipeline(
			`{"id":"a","role":"dev","goal":"x"},{"id":"b","role":"dev","goal":"x","depends_on":[{"task_id":"a","kind":"message_route"}]}`),
			bridge.CodeUnrepresentable, "/tasks/1/depends_on/0"},
		"one task in a file": {pipeline(
			`{"id":"a","role":"dev","goal":"x","task_artifact":"a.json"},{"id":"b","role":"dev","goal":"x"}`),
			bridge.CodeUnrepresentable, "/tasks/0/task_artifact"},
		"a task in a file that is not there": {`{"version":"v1","pipeline_id":"p","tasks":[{"task_id":"a","role_id":"dev","task_artifact":"a.json"}]}`,
			bridge.CodePipelineInvalid, "/tasks/0/task_artifact"},
		"a task in a file outside": {`{"version":"v1","pipeline_id":"p","tasks":[{"task_id":"a","role_id":"dev","task_milestone":"m","task_artifact":"../a.json"}]}`,
			bridge.CodePipelineInvalid, "/tasks/0/task_artifact"},
		"a run context that is none": {pipeline(
			`{"id":"a","role":"dev","goal":"x","run_context":{"version":"v9","repo":"r","worktree":"w","image":"i","runner":"r"}}`),
			bridge.CodePipelineInvalid, "/tasks/0/run_context/version"},
		"role without role_id": {pipeline(`{"id":"a","role":"wizard","goal":"x"}`), wire.CodeUnknownRole,
			"/tasks/0/role"},
		"role_id that is none": {pipeline(`{"id":"a","role":"dev","role_id":"Big One","goal":"x"}`),
			wire.CodeUnknownRole, "/tasks/0/role_id"},
		"a person as role": {pipeline(`{"id":"a","role":"dev","role_id":"human","goal":"x"}`),
			wire.CodeUnknownRole, "/tasks/0/role_id"},
		"no goal": {pipeline(`{"id":"a","role":"dev"}`), bridge.CodePipelineInvalid, "/tasks/0/goal"},
		"skills twice": {pipeline(`{"id":"a","role":"dev","goal":"x","required_skills":["s","s"]}`),
			bridge.CodePipelineInvalid, "/tasks/0/required_skills/1"},
		"no objective": {`{"version":"v1","pipeline_id":"p","project_key":"k","tasks":[{"id":"a","role":"dev","goal":"x"}]}`,
			bridge.CodePipelineInvalid, "/objective"},
		"strict with more": {strings.Replace(strictPlan(``), `"plan_id"`, `"more":1,"plan_id"`,
			1), bridge.CodePipelineInvalid, "/more"},
		"step without template": {portablePlan(`{"step_id":"s","description":"d"}`), bridge.CodePipelineInvalid,
			"/steps/0/task_template"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := bridge.ReadPlan([]byte(c.doc), nil)
			if err == nil {
				_, err = bridge.ForNewProject(p, bridge.FitOptions{})
			}
			if err == nil {
				t.Fatal("taken")
			}
			if err.Code != c.code || err.Field != c.pointer || err.Hint == "" && c.code != wire.CodeInvalidJSON {
				t.Errorf("%s at %q (%q): %v", err.Code, err.Field, err.Hint, err)
			}
		})
	}
}

// Nothing is dropped: what has no effect is noted, what the agent should know is passed to it, and
// the whole task is kept.
func TestNothingOfATaskIsLost(t *testing.T) {
	doc := pipeline(`{"id":"a","role":"dev","goal":"x","inputs":{"n":1.50},"constraints":{"no_network":true},"required_skills":[{"id":"s","required":true}],
		"run_context":{"version":"v1","repo":"r","worktree":"w","image":"i","runner":"v"},"extensions":{"k":"v"},"color":"red",
		"delivery_contract":{"objective":"o","definition_of_done":["it runs","it stops"],"required_checks":["c"],"risk_tier":"low","review_policy":"human_required"}}`)
	p, err := bridge.ReadPlan([]byte(strings.Replace(doc, `"version"`, `"budget":7,"version"`, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	im, err := bridge.ForNewProject(p, bridge.FitOptions{Agent: "sh agent.sh"})
	if err != nil {
		t.Fatal(err)
	}
	c := im.Charters[0]
	if got := string(ojson.Compact(
		c.Task)); got != `{"inputs":{"n":1.50},"constraints":{"no_network":true},"required_skills":[{"id":"s","required":true}],"color":"red","delivery_contract":{"objective":"o","definition_of_done":["it runs","it stops"],"required_checks":["c"],"risk_tier":"low","review_policy":"human_required"}}` {
		t.Errorf("told: %s", got)
	}
	if !slices.Equal(c.AcceptanceContract, []string{"it runs", "it stops"}) ||
		c.Source.Object("extensions").String("k") != "v" || c.Source.Object("run_context").String("image") != "i" {
		t.Errorf("charter %s", ojson.Compact(ojson.Marshal(c)))
	}
	if n, _ := im.Record().Object("rest").Int("budget"); n != 7 {
		t.Errorf("record %s", ojson.Compact(im.Record()))
	}
	var noted []string
	for _, n := range p.Notes {
		noted = append(noted, n.Pointers...)
	}
	slices.Sort(noted)
	if want := []string{"/tasks/0/constraints", "/tasks/0/delivery_contract/required_checks", "/tasks/0/extensions",
		"/tasks/0/required_skills", "/tasks/0/run_context"}; !slices.Equal(noted, want) {
		t.Errorf("noted %q", noted)
	}
	cfg := configOf(t, im)
	if g := cfg.Gate("review"); g == nil || !g.RequiresHuman || g.RequiresVerify ||
		cfg.Role("dev").WriteAuthority != wire.Authoritative || cfg.Role("dev").RuntimeType != "local_cli" {
		t.Errorf("config %s", im.Config)
	}
}

func configOf(t interface{ Fatal(...any) }, im *bridge.Import) *config.Config {
	cfg, problems, err := config.Decode(im.Config)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cfg
}

func TestFittingAProject(t *testing.T) {
	cfg, problems, derr := config.Decode([]byte(`{"schema_version":"1.0","project":{"id":"p","name":"P"},
 "roles":{"pm":{"title":"PM","mandate":"m","write_authority":"review_only","runtime":"man"},"dev":{"title":"D","mandate":"m","write_authority":"authoritative","runtime":"man"},
  "tester":{"title":"T","mandate":"m","write_authority":"review_only","runtime":"man"}},
 "runtimes":{"man":{"type":"manual"}},
 "routing":{"planning":{"entry_role":"pm","allowed_next_roles":["pm"],"exit_gate":"scope"},"build":{"entry_role":"dev","allowed_next_roles":["dev","tester"],"exit_gate":"works","max_concurrent_turns":2},
  "ship":{"entry_role":"pm","allowed_next_roles":["pm","tester"],"exit_gate":"ready"}},
 "gates":{"scope":{},"works":{"requires_verification_pass":true},"ready":{"requires_human_approval":true}}}`))
	if derr != nil || len(problems) > 0 {
		t.Fatal(derr, problems)
	}
	state := run.FreshState(cfg, "")
	fit := func(doc string, change func(*run.State)) (*bridge.Import, *wire.Error) {
		t.Helper()
		p, err := bridge.ReadPlan([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := state.Clone()
		if change != nil {
			change(s)
		}
		return bridge.ForProject(p, cfg, s, bridge.FitOptions{})
	}
	im, refusal := fit(pipeline(
		`{"id":"t","role":"qa","goal":"x","depends_on":["d"],"gates_required":["works"]},{"id":"d","role":"dev","goal":"x","depends_on":["s"]},
		{"id":"s","role":"product_owner","goal":"x","depends_on":[]},{"id":"r","role":"product_owner","goal":"x","depends_on":["t"]}`), nil)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if got := laid(im); im.Config != nil ||
		got != "s planning pm   x\nd build dev s  x\nt build tester d works x\nr ship pm t  x\n" {
		t.Errorf("laid out as\n%s", got)
	}
	im, refusal = fit(pipeline(`{"id":"s","role":"product_owner","goal":"x"}`), func(s *run.State) {
		s.Phase = "build"
	})
	if refusal != nil || laid(im) != "s ship pm   x\n" {
		t.Errorf("%v, %s", refusal, laid(im))
	}
	for name, c := range map[string]struct {
		doc, code, pointer string
		change             func(*run.State)
	}{
		"no such role": {pipeline(`{"id":"a","role":"security","goal":"x"}`), wire.CodeUnknownRole,
			"/tasks/0/role", nil},
		"no such role_id": {pipeline(`{"id":"a","role":"dev","role_id":"back","goal":"x"}`), wire.CodeUnknownRole,
			"/tasks/0/role_id", nil},
		"role not any more": {pipeline(`{"id":"a","role":"dev","goal":"x"}`), bridge.CodeUnrepresentable,
			"/tasks/0/role", func(s *run.State) { s.Phase = "ship" }},
		"dev after the last": {pipeline(
			`{"id":"a","role":"product_owner","goal":"x","depends_on":["b"]},{"id":"b","role":"qa","goal":"x","depends_on":["c"],"gates_required":["nobody"]},{"id":"c","role":"dev","goal":"x"}`),
			bridge.CodeUnrepresentable, "/tasks/1/gates_required/0", nil},
		"gate that is past": {pipeline(`{"id":"a","role":"dev","goal":"x","gates_required":["scope"]}`),
			bridge.CodeUnrepresentable, "/tasks/0/gates_required/0", nil},
		"id taken": {pipeline(`{"id":"a","role":"dev","goal":"x"}`), bridge.CodeUnrepresentable, "/tasks/0",
			func(s *run.State) { s.CharterQueue = []*run.Charter{{CharterID: "a"}} }},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := fit(c.doc, c.change); err == nil || err.Code != c.code || err.Field != c.pointer {
				t.Errorf("%v", err)
			}
		})
	}
}

// Any graph without cycles becomes a project whose phases keep its order, never hold more than a
// phase may run, and whose charters a run accepts.
func TestEveryGraphBecomesAProject(t *testing.T) {
	roles := []string{"dev", "qa", "ops", "reviewer", "security", "publisher"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "tasks")
		tasks := make([]*ojson.Object, n)
		for i := range n {
			deps := []string{}
			for d := range i {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					deps = append(deps, fmt.Sprint("t", d))
				}
			}
			tasks[i] = ojson.NewObject("id", fmt.Sprint("t", i), "role", rapid.SampledFrom(roles).Draw(t, "role"),
				"goal", "do it", "depends_on", deps)
			if rapid.Bool().Draw(t, "gate") {
				tasks[i].Set("gates_required",
					[]string{rapid.SampledFrom([]string{"qa", "a b", "x/y"}).Draw(t, "name")})
			}
		}
		shuffled := rapid.Permutation(tasks).Draw(t, "order")
		doc := ojson.NewObject("version", "v1", "pipeline_id", "p", "objective", "o", "project_key", "k",
			"tasks", shuffled)
		p, err := bridge.ReadPlan(ojson.Compact(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		im, err := bridge.ForNewProject(p, bridge.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cfg := configOf(t, im)
		phase := map[string]int{}
		for i, ph := range im.Phases {
			if len(ph.Tasks) > config.MaxConcurrentTurns {
				t.Fatalf("phase %s has %d tasks", ph.Name, len(ph.Tasks))
			}
			for _, id := range ph.Tasks {
				if _, twice := phase[id]; twice {
					t.Fatalf("%s is in two phases", id)
				}
				phase[id] = i
			}
		}
		if len(phase) != n {
			t.Fatalf("%d of %d tasks have a phase", len(phase), n)
		}
		for _, task := range tasks {
			for _, d := range task.Strings("depends_on") {
				if phase[d] >= phase[task.String("id")] {
					t.Fatalf("%s does not come before %s", d, task.String("id"))
				}
			}
		}
		s := run.FreshState(cfg, "")
		s.Status = wire.StatusActive
		runID := "run_0000000000000001"
		s.RunID = &runID
		snap := &protocol.Snapshot{Config: cfg, State: s, Index: &run.Index{Run: runID}}
		if _, err := protocol.Apply(snap, &charters.QueueCharters{Plan: im.Record(), Charters: im.Charters},
			protocol.Env{Seed: strings.Repeat("0", 32)}); err != nil {
			t.Fatal(err)
		}
	})
}

// No document breaks the reader, and one that it accepts keeps all its tasks.
func FuzzReadPlan(f *testing.F) {
	if data, err := os.ReadFile(diamond); err == nil {
		f.Add(data)
	}
	f.Add([]byte(pipeline(`{"id":"a","role":1,"goal":"x","depends_on":[{"task_id":"a"}]}`)))
	f.Add([]byte(portablePlan(
		`{"step_id":"s","description":"d","task_template":{},"extensions":{"agentxchain":{"charter":{"charter_id":"c","charter":"g","role":"dev","depends_on":["c"]}}}}`)))
	f.Add([]byte(strictPlan(`{"step_id":"s"}`)))
	f.Add([]byte(`{"plan":{"steps":[null]},"tasks":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := bridge.ReadPlan(data, nil)
		if err != nil {
			if err.Code == "" || err.Message == "" {
				t.Fatalf("a refusal that says nothing: %+v", err)
			}
			return
		}
		im, err := bridge.ForNewProject(p, bridge.FitOptions{Agent: "x"})
		if err != nil {
			return
		}
		configOf(t, im)
		if len(im.Charters) != len(p.Tasks) {
			t.Fatalf("%d charters of %d tasks", len(im.Charters), len(p.Tasks))
		}
	})
}

// A refusal of the engine comes before anything is written, and a plan full of faults does not fill
// the screen.
func TestLargePlans(t *testing.T) {
	many := func(n int, role, more string) string {
		tasks := make([]string, n)
		for i := range tasks {
			tasks[i] = fmt.Sprintf(`{"id":"t%d","role":%q,"goal":"x"%s}`, i, role, more)
		}
		return pipeline(strings.Join(tasks, ","))
	}
	refusal := func(doc string) *wire.Error {
		t.Helper()
		p, err := bridge.ReadPlan([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bridge.ForNewProject(p, bridge.FitOptions{})
		return err
	}
	if err := refusal(many(charters.MaxQueued, "dev", "")); err != nil {
		t.Errorf("%v", err)
	}
	if err := refusal(many(charters.MaxQueued+1, "dev", "")); err == nil || err.Code != wire.CodeInvalidCharter {
		t.Errorf("%v", err)
	}
	if err := refusal(many(20, "dev",
		`,"inputs":{"text":"`+strings.Repeat("x", charters.MaxBytes/20)+`"}`)); err == nil ||
		err.Code != wire.CodeInvalidCharter || !strings.Contains(err.Message, "Split the plan") {
		t.Errorf("%v", err)
	}
	err := refusal(many(500, "wizard", ""))
	if err == nil || len(err.Problems) != 26 ||
		err.Problems[25].Message != "475 more findings of this kind are not listed." {
		t.Errorf("%v", err)
	}
}
