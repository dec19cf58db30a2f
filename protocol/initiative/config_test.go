// Tests of the configuration: every finding with its code and place in the order, defaults, order of names.

package initiative

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// goodConfig is an initiative with every kind of barrier.
const goodConfig = `{
  "schema_version": "0.1",
  "project": {"id": " shop ", "name": "Shop", "extra": 1},
  "repos": {
    "web": {"path": "./repos/web"},
    "api": {"path": " repos/api ", "default_branch": "trunk", "required": true},
    "docs": {"path": "repos/docs", "required": false}
  },
  "workstreams": {
    "contract": {"phase": "design", "repos": ["api", "web"], "entry_repo": "api", "depends_on": [], "completion_barrier": "interface_alignment",
      "interface_alignment": {"decision_ids_by_repo": {"api": ["DEC-1"], "web": ["DEC-2", "DEC-3"]}}},
    "names": {"phase": "design", "repos": ["docs"], "entry_repo": "docs", "depends_on": ["contract", "contract"], "completion_barrier": "named_decisions",
      "named_decisions": {"decision_ids_by_repo": {"docs": ["DEC-007"]}}},
    "build": {"phase": "make", "repos": ["api", "web"], "entry_repo": "web", "depends_on": ["contract"], "completion_barrier": "ordered_repo_sequence"},
    "polish": {"phase": "make", "repos": ["web", "api"], "entry_repo": "web", "depends_on": ["build"], "completion_barrier": "all_repos_accepted"},
    "launch": {"phase": "ship", "repos": ["api"], "entry_repo": "api", "depends_on": ["polish"], "completion_barrier": "shared_human_gate"}
  },
  "routing": {"design": {"entry_workstream": "names"}, "make": {}, "ship": {"entry_workstream": "launch"}},
  "gates": {"initiative_ship": {"requires_human_approval": true, "requires_repos": ["api", "web"]}},
  "hooks": {"before_gate": [{"name": "look", "type": "process", "command": ["true"], "timeout_ms": 500, "mode": "blocking"}]},
  "note": "kept"
}`

func object(t testing.TB, text string) *ojson.Object {
	t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// value is any JSON.
func value(t testing.TB, text string) ojson.Value {
	t.Helper()
	v, err := ojson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// set changes the member at a dotted path; an empty text removes it.
func set(t testing.TB, o *ojson.Object, at, text string) {
	t.Helper()
	keys := strings.Split(at, ".")
	for _, k := range keys[:len(keys)-1] {
		if o = o.Object(k); o == nil {
			t.Fatalf("%s is not an object on the way to %s", k, at)
		}
	}
	last := keys[len(keys)-1]
	if text == "" {
		o.Delete(last)
		return
	}
	o.Set(last, value(t, text))
}

func configOf(t testing.TB, text string) *Config {
	t.Helper()
	c, p, e := Decode([]byte(text))
	if e != nil || len(p) > 0 {
		t.Fatalf("%v %v", e, p)
	}
	return c
}

func TestGoodConfig(t *testing.T) {
	c := configOf(t, goodConfig)
	if c.ProjectID != "shop" || c.Repo("api").Path != "repos/api" || c.Repo("api").DefaultBranch != "trunk" ||
		c.Repo("web").DefaultBranch != "main" || !c.Repo("web").Required || c.Repo("docs").Required {
		t.Errorf("%+v %+v", c, c.Repo("api"))
	}
	if got := c.Repos.Keys(); !cmp.Equal(got, []string{"web", "api", "docs"}) {
		t.Errorf("repositories are out of order: %v", got)
	}
	if got := c.Phases(); !cmp.Equal(got, []string{"design", "make", "ship"}) || c.NextPhase("make") != "ship" ||
		c.NextPhase("ship") != "" || c.NextPhase("x") != "" {
		t.Errorf("phases %v", got)
	}
	if got := c.Workstream("names").DependsOn; !cmp.Equal(got, []string{"contract"}) {
		t.Errorf("a dependency named twice is one dependency: %v", got)
	}
	var order []string
	for _, w := range c.PhaseWorkstreams("design") {
		order = append(order, w.ID)
	}
	if !cmp.Equal(order, []string{"names", "contract"}) {
		t.Errorf("the entry workstream comes first: %v", order)
	}
	if ids, _ := c.Workstream("contract").Decisions.Get("web"); !cmp.Equal(ids, []string{"DEC-2", "DEC-3"}) {
		t.Errorf("decisions %v", ids)
	}
	if c.Raw.String("note") != "kept" {
		t.Error("an unknown member is lost")
	}
}

func TestPhasesWithoutRouting(t *testing.T) {
	o := object(t, goodConfig)
	o.Delete("routing")
	for id, phase := range map[string]string{
		"contract": "qa",
		"names":    "qa",
		"build":    "planning",
		"polish":   "planning",
		"launch":   "implementation",
	} {
		set(t, o, "workstreams."+id+".phase", `"`+phase+`"`)
	}
	c, p := DecodeObject(o)
	if got := c.Phases(); len(p) > 0 || !cmp.Equal(got, []string{"qa", "planning", "implementation"}) {
		t.Errorf("%v %v", got, p)
	}
}

func TestConfigFindings(t *testing.T) {
	const (
		align = "workstreams.contract.interface_alignment"
		names = "workstreams.names.named_decisions"
	)
	for _, c := range []struct{ at, value, want string }{
		{"schema_version", ``, "schema_version_invalid"},
		{"schema_version", `0.1`, "schema_version_invalid"},
		{"project", `[]`, "project_invalid"},
		{"project.id", `" "`, "project_id_invalid"},
		{"project.name", `null`, "project_name_invalid"},
		{"project", `{}`, "project_id_invalid project_name_invalid"},
		{"repos.Up", `{"path": "x"}`, "repo_id_invalid"},
		{"repos.web", `"x"`, "repo_invalid"},
		{"repos.web.path", ``, "repo_path_invalid"},
		{"repos.web.default_branch", `""`, "repo_default_branch_invalid"},
		{"repos.web.required", `1`, "repo_required_invalid"},
		{"workstreams", ``, "workstreams_invalid routing_entry_workstream_unknown routing_entry_workstream_unknown"},
		{"workstreams.x y",
			`{"phase":"make","repos":["api"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"}`, "workstream_id_invalid"},
		{"workstreams.polish", `1`, "workstream_invalid"},
		{"workstreams.build.phase", `"planning"`, "workstream_phase_invalid"},
		{"workstreams.build.repos", `[]`, "workstream_repos_invalid workstream_entry_repo_mismatch"},
		{"workstreams.build.repos", `["web", " ", "web", "zzz", []]`,
			"workstream_repo_invalid workstream_repo_duplicate workstream_repo_unknown workstream_repo_invalid"},
		{"workstreams.build.entry_repo", `""`, "workstream_entry_repo_invalid"},
		{"workstreams.build.entry_repo", `"docs"`, "workstream_entry_repo_mismatch"},
		{"workstreams.build.depends_on", ``, "workstream_depends_on_invalid"},
		{"workstreams.build.depends_on", `["", "zzz", "contract"]`,
			"workstream_dependency_invalid workstream_dependency_unknown"},
		{"workstreams.build.depends_on", `["build"]`, "workstream_cycle"},
		{"workstreams.contract.depends_on", `["polish"]`, "workstream_cycle"},
		{"workstreams.build.completion_barrier", `"never"`, "workstream_completion_barrier_invalid"},
		{align, ``, "workstream_interface_alignment_invalid"},
		{align, `{}`, "workstream_interface_alignment_decisions_invalid"},
		{align + ".decision_ids_by_repo.web", ``, "workstream_interface_alignment_repo_missing"},
		{align + ".decision_ids_by_repo.web", `[]`, "workstream_interface_alignment_repo_invalid"},
		{align + ".decision_ids_by_repo.web", `["DEC-", "dec-1", "DEC-1x", 7]`,
			strings.TrimSpace(strings.Repeat("workstream_interface_alignment_decision_invalid ", 4))},
		{align + ".decision_ids_by_repo.web", `["DEC-1", "DEC-1"]`,
			"workstream_interface_alignment_decision_duplicate"},
		{align + ".decision_ids_by_repo.docs", `["DEC-1"]`, "workstream_interface_alignment_repo_unknown"},
		{names, `7`, "workstream_named_decisions_invalid"},
		{names + ".decision_ids_by_repo", `[]`, "workstream_named_decisions_decisions_invalid"},
		{names + ".decision_ids_by_repo.docs", `["x"]`, "workstream_named_decisions_decision_invalid"},
		{"routing", `null`,
			"workstream_phase_invalid workstream_phase_invalid workstream_phase_invalid workstream_phase_invalid workstream_phase_invalid routing_invalid"},
		{"routing.9x", `{}`, "routing_phase_invalid"},
		{"routing.make", `null`, "routing_entry_invalid"},
		{"routing.make.entry_workstream", `null`, "routing_entry_workstream_invalid"},
		{"routing.make.entry_workstream", `"zzz"`, "routing_entry_workstream_unknown"},
		{"routing.make.entry_workstream", `"launch"`, "routing_phase_mismatch"},
		{"gates", `[]`, "gates_invalid"},
		{"gates.A", `{}`, "gate_id_invalid"},
		{"gates.a", `true`, "gate_invalid"},
		{"gates.initiative_ship.requires_human_approval", `null`, "gate_requires_human_approval_invalid"},
		{"gates.initiative_ship.requires_repos", `null`, "gate_requires_repos_invalid"},
		{"gates.initiative_ship.requires_repos", `["api", 1, "api", "zzz"]`,
			"gate_requires_repo_invalid gate_requires_repo_duplicate gate_requires_repo_unknown"},
		{"hooks", `[]`, "hooks_invalid"},
		{"hooks.after_dispatch", `[]`, "hooks_invalid"},
		{"hooks.on_escalation", `[{"name":"n","type":"process","command":["x"],"timeout_ms":500,"mode":"blocking"}]`,
			"hooks_invalid"},
	} {
		o := object(t, goodConfig)
		set(t, o, c.at, c.value)
		_, p := DecodeObject(o)
		var codes []string
		for _, f := range p {
			codes = append(codes, f.Code)
			if f.Field == "" || f.Message == "" || strings.ContainsAny(f.Message, "\n") {
				t.Errorf("%s: poor finding %+v", c.at, f)
			}
		}
		// The phases of an unread workstream do not matter to this test.
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s = %s: %s, want %s", c.at, c.value, got, c.want)
		}
	}
}

// Sections are reported in the order of the protocol, whatever their order in
// the document.
func TestFindingsKeepTheProtocolsOrder(t *testing.T) {
	o := object(t, `{"hooks": 1, "gates": 1, "routing": [], "workstreams": [], "repos": [], "project": 1}`)
	_, p := DecodeObject(o)
	got := make([]string, len(p))
	for i, f := range p {
		got[i] = f.Code
	}
	want := []string{"schema_version_invalid", "project_invalid", "repos_invalid", "workstreams_invalid",
		"routing_invalid", "gates_invalid", "hooks_invalid"}
	if !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if e := ConfigError(p); e == nil || e.Code != CodeInvalidConfig || len(e.Problems) != len(want) {
		t.Errorf("%+v", e)
	}
}

func TestCycles(t *testing.T) {
	stream := func(deps string) string {
		return `{"phase":"qa","repos":["a"],"entry_repo":"a","depends_on":[` + deps +
			`],"completion_barrier":"all_repos_accepted"}`
	}
	decode := func(streams string) []string {
		_, p := DecodeObject(object(t,
			`{"schema_version":"0.1","project":{"id":"p","name":"p"},"repos":{"a":{"path":"a"}},"workstreams":{`+
				streams+`}}`))
		return Lines(p)
	}
	got := decode(`"x":` + stream(`"y"`) + `,"y":` + stream(`"z"`) + `,"z":` + stream(`"y"`))
	if want := []string{"workstream_cycle: circular workstream dependency detected: y -> z -> y"}; !cmp.Equal(got,
		want) {
		t.Errorf("%v", got)
	}
	got = decode(`"x":` + stream(`"x"`) + `,"y":` + stream(`"y","x"`))
	if len(got) != 2 {
		t.Errorf("two cycles: %v", got)
	}
	// A diamond is not a cycle.
	if got := decode(`"a":` + stream(``) + `,"b":` + stream(`"a"`) + `,"c":` + stream(`"a"`) + `,"d":` +
		stream(`"b","c"`)); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestDecodeRefusesWhatIsNoDocument(t *testing.T) {
	for text, code := range map[string]string{
		`{`:             "invalid_json",
		`[]`:            CodeInvalidConfig,
		`{"a":1,"a":2}`: "invalid_json",
		"\xff":          "invalid_json",
	} {
		if _, _, e := Decode([]byte(text)); e == nil || e.Code != code {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(goodConfig))
	f.Add([]byte(`{"schema_version":"0.1","project":{},"repos":{"a":null},"workstreams":{"x":{"repos":["a",[]],"depends_on":["x"],"completion_barrier":"named_decisions","named_decisions":{"decision_ids_by_repo":{"a":[{}]}}}},"routing":{"":1},"gates":{"":{"requires_repos":[{}]}},"hooks":{"before_gate":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, p, e := Decode(data)
		_, p2, e2 := Decode(data)
		if !cmp.Equal(p, p2) || (e == nil) != (e2 == nil) {
			t.Fatalf("two readings differ: %v %v", p, p2)
		}
		if e != nil {
			if e.Code == "" || strings.ContainsAny(e.Message, "\r\n") {
				t.Fatalf("%+v", e)
			}
			return
		}
		for _, f := range p {
			if f.Code == "" || f.Message == "" {
				t.Fatalf("poor finding %+v", f)
			}
		}
		if (ConfigError(p) == nil) != (len(p) == 0) {
			t.Fatal("findings and error disagree")
		}
		for _, phase := range c.Phases() {
			c.PhaseWorkstreams(phase)
		}
		if len(p) > 0 {
			return
		}
		for _, b := range NewBarriers(c, "t").All() {
			if s, _ := b.Evaluate(c, NewHistory(nil, "s")); s != Pending {
				t.Fatalf("barrier %s begins as %s", b.ID, s)
			}
		}
	})
}
