package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// TestGraph draws an initiative of twelve repositories: each workstream, each dependency with the
// barrier on it.
func TestGraph(t *testing.T) {
	dir := laid(t, "")
	var repos, ids []string
	for i := range 12 {
		repos = append(repos, fmt.Sprintf(`"r%02d":{"path":"./r%02d"}`, i, i))
		ids = append(ids, fmt.Sprintf(`"r%02d"`, i))
	}
	all := "[" + strings.Join(ids, ",") + "]"
	stream := func(id, phase, deps string) string {
		return fmt.Sprintf(`%q:{"phase":%q,"repos":%s,"entry_repo":"r00","depends_on":[%s],"completion_barrier":"all_repos_accepted"}`, id, phase, all, deps)
	}
	writeFile(t, dir, "agentxchain-multi.json", `{"schema_version":"0.1","project":{"id":"p","name":"P"},"repos":{`+strings.Join(repos, ",")+`},"workstreams":{`+
		stream("plan", "planning", "")+","+stream("api", "implementation", `"plan"`)+","+stream("web", "implementation", `"api"`)+
		`},"routing":{"planning":{"entry_workstream":"plan"},"implementation":{"entry_workstream":"api"}}}`)
	writeFile(t, dir, ".agentxchain/multirepo/state.json",
		`{"schema_version":"0.1","super_run_id":"srun_1","project_id":"p","status":"active","phase":"implementation","repo_runs":{},"pending_gate":null,"phase_gate_status":{}}`)
	writeFile(t, dir, ".agentxchain/multirepo/barriers.json",
		`{"plan_completion":{"workstream_id":"plan","type":"all_repos_accepted","status":"satisfied","required_repos":`+all+`,"satisfied_repos":`+all+`},`+
			`"api_completion":{"workstream_id":"api","type":"all_repos_accepted","status":"pending","required_repos":`+all+`,"satisfied_repos":[]}}`)
	v := serve(t, Options{Dir: dir, Replay: &Replay{Artifact: "run.json"}})
	got := mainOf(v.page("/board"))
	_, svg, ok := strings.Cut(got, `<svg class="graph"`)
	svg, _, _ = strings.Cut(svg, "</svg>")
	if !ok {
		t.Fatalf("there is no graph:\n%s", got)
	}
	for _, want := range []string{`>plan</text>`, `>api</text>`, `web</text>`, `class="way open"`, `class="way shut"`,
		"plan to api: barrier all repos accepted is satisfied", "api to web: barrier all repos accepted is pending", ">+4</text>",
		`class="node done"`, `class="node now"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("the graph lacks %q:\n%s", want, svg)
		}
	}
}

// TestGraphPlaces puts every workstream right of what it depends on and on no other.
func TestGraphPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := []string{"plan", "build", "ship"}
		var rows []coordinator.Row
		for _, phase := range phases {
			from := len(rows)
			for i := range rapid.IntRange(0, 6).Draw(t, "streams") {
				w := &multirepo.Workstream{ID: fmt.Sprint(phase, i), Phase: phase}
				for _, r := range rows {
					if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
						w.DependsOn = append(w.DependsOn, r.Workstream.ID)
					}
				}
				rows = append(rows, coordinator.Row{Workstream: w})
			}
			part := rows[from:] // the order within a phase says nothing of what depends on what
			for i := range part {
				j := rapid.IntRange(0, i).Draw(t, "place")
				part[i], part[j] = part[j], part[i]
			}
		}
		g := &graphSVG{rows: rows, at: make(map[string][2]int)}
		g.place()
		seen := make(map[[2]int]string)
		for _, r := range rows {
			at := g.at[r.Workstream.ID]
			if other := seen[at]; other != "" {
				t.Fatalf("%s and %s are both at %v", r.Workstream.ID, other, at)
			}
			seen[at] = r.Workstream.ID
			for _, dep := range r.Workstream.DependsOn {
				if g.at[dep][0] >= at[0] {
					t.Fatalf("%s at %v depends on %s at %v", r.Workstream.ID, at, dep, g.at[dep])
				}
			}
		}
	})
}

// TestGraphOfTooMuch leaves the graph to the list.
func TestGraphOfTooMuch(t *testing.T) {
	v := crowded(t)
	if got := v.page("/board"); strings.Contains(got, `class="graph"`) {
		t.Error("120 workstreams are drawn")
	}
}
