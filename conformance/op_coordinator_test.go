// Tests of the coordinator's operations: names do not matter, what is refused, what the setup may contain.

package conformance

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// coordinatorFixture is an initiative of two repositories, of which the first has already accepted.
const coordinatorFixture = `{
  "fixture_id": "X", "tier": 3, "surface": "coordinator", "description": "d", "type": "transition",
  "setup": {
    "coordinator_config": {"schema_version": "0.1", "project": {"id": "p", "name": "P"},
      "repos": {"one": {"path": "../one"}, "two": {"path": "./repos/two"}},
      "workstreams": {"ws": {"phase": "qa", "repos": ["one", "two"], "entry_repo": "one", "depends_on": [], "completion_barrier": "named_decisions",
        "named_decisions": {"decision_ids_by_repo": {"one": ["DEC-1"], "two": ["DEC-2"]}}}}},
    "repos": {"one": {"path": "../one", "files": {"src/a": "x"}}, "two": {}},
    "coordinator_state": {"super_run_id": "srun", "status": "active", "phase": "qa", "repo_runs": {}},
    "barriers": {"b": {"workstream_id": "ws", "type": "named_decisions", "status": "partially_satisfied", "required_repos": ["one", "two"], "satisfied_repos": ["one"],
      "required_decision_ids_by_repo": {"one": ["DEC-1"], "two": ["DEC-2"]}}},
    "coordinator_history": [
      {"type": "acceptance_projection", "super_run_id": "srun", "projection_ref": "proj_before", "workstream_id": "ws", "repo_id": "one", "repo_turn_id": "t1", "decisions": ["DEC-1"]},
      {"type": "turn_dispatched", "super_run_id": "srun", "workstream_id": "ws", "repo_id": "one", "repo_turn_id": "t9"}]
  },
  "input": {"operation": "project_repo_acceptance", "args": {"repo_id": "two", "workstream_id": "ws", "accepted_turn": {"turn_id": "t2", "files_changed": ["y"], "decisions": [{"id": "DEC-2"}]}}},
  "expected": {"result": "success", "projection_ref": {"assert": "id_prefix", "value": "proj_"}, "barrier_effects": [{"barrier_id": "b", "previous_status": "partially_satisfied", "new_status": "satisfied"}],
    "barrier_snapshot": {"b": {"status": "satisfied"}}, "context_invalidations": ["t9"]}
}`

func TestCoordinatorOperations(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct {
		name, from, to, expected string // expected "" keeps the fixture's
		status                   Status
	}{
		{"as it is", "", "", "", StatusPass},
		{"a projection that is there", `"repo_id": "two", "workstream_id": "ws", "accepted_turn": {"turn_id": "t2"`,
			`"repo_id": "one", "workstream_id": "ws", "accepted_turn": {"turn_id": "t1"`,
			`{"result":"success","projection_ref":"proj_before","barrier_effects":[],"barrier_snapshot":{"b":{"status":"partially_satisfied"}},"context_invalidations":[]}`,
			StatusPass},
		{"another decision", `{"id": "DEC-2"}`, `{"id": "DEC-3"}`,
			`{"result":"success","barrier_effects":[],"barrier_snapshot":{"b":{"status":"partially_satisfied"}}}`,
			StatusPass},
		{"a sibling's file", `["y"]`, `["../../../one/src/a"]`,
			`{"result":"error","error_type":"cross_repo_write_violation"}`, StatusPass},
		{"a file that begins with dots", `["y"]`, `["..y/z"]`, "", StatusPass},
		{"no such repository", `"repo_id": "two", "workstream_id"`, `"repo_id": "six", "workstream_id"`,
			`{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"no such workstream", `"workstream_id": "ws", "accepted_turn"`, `"workstream_id": "x", "accepted_turn"`,
			`{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"no turn", `"turn_id": "t2", `, ``, `{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"a repository outside of the workstream", `"repos": ["one", "two"], "entry_repo"`,
			`"repos": ["one"], "entry_repo"`, `{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"history of another run", `"super_run_id": "srun", "projection_ref"`,
			`"super_run_id": "old", "projection_ref"`,
			`{"result":"success","barrier_snapshot":{"b":{"status":"partially_satisfied"}}}`, StatusPass},
		{"a configuration that is wrong", `"entry_repo": "one"`, `"entry_repo": "x"`,
			`{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"two repositories in one place", `"two": {"path": "./repos/two"}`, `"two": {"path": "../one"}`,
			`{"result":"error","error_type":"projection_failed"}`, StatusPass},
		{"another status is a failure", `"barrier_snapshot": {"b": {"status": "satisfied"}}`,
			`"barrier_snapshot": {"b": {"status": "pending"}}`, "", StatusFail},
		{"no state",
			`"coordinator_state": {"super_run_id": "srun", "status": "active", "phase": "qa", "repo_runs": {}},`, ``,
			"", StatusError},
		{"a state that is none", `"status": "active", "phase"`, `"status": "tired", "phase"`, "", StatusError},
		{"a member of a repository that is not known", `"two": {}`, `"two": {"odd": 1}`, "", StatusError},
		{"a repository outside of the scratch directory", `"path": "../one", "files"`, `"path": "../../one", "files"`,
			"", StatusError},
		{"a repository in the coordinator's files", `"two": {}`, `"two": {"path": ".agentxchain/multirepo"}`, "",
			StatusError},
		{"a file outside of its repository", `"src/a"`, `"../a"`, "", StatusError},
		{"a setup member of another room", `"repos": {"one": {"path": "../one", "files"`,
			`"ledger": [{}], "repos": {"one": {"path": "../one", "files"`, "", StatusError},
		{"history that is none", `{"type": "turn_dispatched"`, `7, {"type": "turn_dispatched"`, "", StatusError},
		{"a turn that is none",
			`"accepted_turn": {"turn_id": "t2", "files_changed": ["y"], "decisions": [{"id": "DEC-2"}]}`,
			`"accepted_turn": 7`, "", StatusError},
	} {
		text := coordinatorFixture
		if c.from != "" {
			if strings.Count(text, c.from) != 1 {
				t.Fatalf("%s: %q is there %d times", c.name, c.from, strings.Count(text, c.from))
			}
			text = strings.Replace(text, c.from, c.to, 1)
		}
		if c.expected != "" {
			text = text[:strings.Index(text, `"expected"`)] + `"expected": ` + c.expected + "}"
		}
		if r := testAdapter().Execute([]byte(text)); r.Status != c.status {
			t.Errorf("%s must end in %s: %s", c.name, c.status, r.Line())
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCoordinatorConfigOperation(t *testing.T) {
	fixture := func(config, expected string) []byte {
		return []byte(`{"fixture_id":"X","tier":3,"surface":"coordinator","description":"d","type":"validate","setup":{` +
			config + `},"input":{"operation":"validate_coordinator_config","args":{}},"expected":` + expected + `}`)
	}
	for _, c := range []struct {
		config, expected string
		status           Status
	}{
		{`"coordinator_config":{}`, `{"result":"error","error_type":"invalid_coordinator_config"}`, StatusPass},
		{`"coordinator_config":[]`, `{"result":"error","error_type":"invalid_coordinator_config"}`, StatusPass},
		{``, `{"result":"error"}`, StatusError},
		{`"coordinator_config":{},"repos":7`, `{"result":"error"}`, StatusError},
	} {
		if r := testAdapter().Execute(fixture(c.config, c.expected)); r.Status != c.status {
			t.Errorf("%s must end in %s: %s", c.config, c.status, r.Line())
		}
	}
}

// The public coordinator fixtures with every name changed: an adapter that depends on the names fails here.
func TestCoordinatorCorpusRenamed(t *testing.T) {
	names := map[string]string{
		"api":                "engine",
		"web":                "hull",
		"core":               "keel",
		"core_barrier":       "sluice",
		"backend":            "stern",
		"frontend":           "bow",
		"alpha":              "port",
		"beta":               "star",
		"srun_test_001":      "srun_q",
		"turn_api_001":       "turn_k",
		"turn_web_001":       "turn_m",
		"DEC-101":            "DEC-7",
		"DEC-201":            "DEC-8",
		"proj_core_api_prev": "proj_z",
		"run_api_001":        "run_e",
		"run_web_001":        "run_h",
	}
	word := regexp.MustCompile(`[A-Za-z0-9_-]+`)
	n := 0
	for name, data := range corpus(t) {
		f, err := ReadFixture(data)
		if err != nil || f.Surface != "coordinator" {
			continue
		}
		n++
		changed := word.ReplaceAllStringFunc(string(data), func(s string) string {
			if to, ok := names[s]; ok {
				return to
			}
			return s
		})
		if _, err := ojson.Decode([]byte(changed)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r := testAdapter().Execute([]byte(changed)); r.Status != StatusPass {
			t.Errorf("%s renamed: %s", name, r.Line())
		}
	}
	if n != 8 {
		t.Errorf("%d fixtures of coordinators", n)
	}
}
