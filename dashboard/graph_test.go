package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
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
	writeFile(t, dir, "agentxchain-multi.json", `{"schema_version":"0.1","project":{"id":"p","name":"P"},"repos":{`+
		strings.Join(repos, ",")+`},"workstreams":{`+
		stream("plan", "planning", "")+","+stream("api", "implementation", `"plan"`)+","+
		stream("web", "implementation", `"api"`)+
		`},"routing":{"planning":{"entry_workstream":"plan"},"implementation":{"entry_workstream":"api"}}}`)
	writeFile(t, dir, ".agentxchain/multirepo/state.json",
		`{"schema_version":"0.1","super_run_id":"srun_1","project_id":"p","status":"active","phase":"implementation","repo_runs":{},"pending_gate":null,"phase_gate_status":{}}`)
	writeFile(t, dir, ".agentxchain/multirepo/barriers.json",
		`{"plan_completion":{"workstream_id":"plan","type":"all_repos_accepted","status":"satisfied","required_repos":`+all+`,"satisfied_repos":`+all+`},`+
			`"api_completion":{"workstream_id":"api","type":"all_repos_accepted","status":"pending","required_repos":`+
			all+`,"satisfied_repos":[]}}`)
	writeFile(t, dir, ".agentxchain/multirepo/history.jsonl", initiativeHistory(12))
	v := serve(t, Options{Dir: dir, Replay: &Replay{Artifact: "run.json"}})
	got := mainOf(v.page("/board"))
	_, svg, ok := strings.Cut(got, `<svg class="graph"`)
	svg, _, _ = strings.Cut(svg, "</svg>")
	if !ok {
		t.Fatalf("there is no graph:\n%s", got)
	}
	for _, want := range []string{`>plan</text>`, `>api</text>`, `web</text>`, `class="way open"`, `class="way shut"`,
		"plan to api: barrier all repos accepted is satisfied", "api to web: barrier all repos accepted is pending",
		">+4</text>",
		`class="node done"`, `class="node now"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("the graph lacks %q:\n%s", want, svg)
		}
	}
	for _, want := range []string{"The initiative in time", `<tspan class="name">r11</tspan>`,
		"turn_plan03, dev in r03 in planning: accepted after 4 min",
		"24 turns in", "&lt;b&gt;done"} {
		if !strings.Contains(got, want) {
			t.Errorf("the board lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, `href="/turns/turn_plan`) {
		t.Error("a turn of another repository leads to a page that is not here")
	}
}

// initiativeHistory returns the history of an initiative in which every repository did a turn in
// each of two phases; the last turn is active.
func initiativeHistory(repos int) string {
	var b strings.Builder
	minute := 0
	row := func(kind, rest string) {
		fmt.Fprintf(&b, `{"type":%q,"timestamp":"2026-01-01T%02d:%02d:00.000Z","super_run_id":"srun_1"%s}`+"\n", kind,
			minute/60, minute%60, rest)
		minute += 4
	}
	row("run_initialized", `,"project_id":"p","repo_runs":{}`)
	for _, stream := range []string{"plan", "api"} {
		for i := range repos {
			of := fmt.Sprintf(`,"workstream_id":%q,"repo_id":"r%02d","repo_run_id":"run_%d","repo_turn_id":"turn_%s%02d"`, stream, i, i, stream, i)
			row("turn_dispatched", of+`,"role":"dev","context_ref":null`)
			if stream == "plan" || i < repos-1 {
				row("acceptance_projection",
					of+`,"projection_ref":"x","summary":"<b>done</b>","files_changed":[],"decisions":[]`)
			}
		}
		if stream == "plan" {
			row("phase_transition_requested",
				`,"gate":"planning->implementation","from":"planning","to":"implementation"`)
			row("phase_transition_approved",
				`,"gate":"planning->implementation","from":"planning","to":"implementation"`)
		}
	}
	return b.String()
}

// TestInitiativeInTime draws a lane for each repository, from the initiative's own history.
func TestInitiativeInTime(t *testing.T) {
	var facts []*timeline.Fact
	for line := range strings.Lines(initiativeHistory(12)) {
		row, err := ojson.DecodeObject([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, timeline.Coordination(row, func(stream string) string {
			return map[string]string{"": "planning", "plan": "planning", "api": "implementation"}[stream]
		})...)
	}
	d := timeline.Draw(timeline.Build(facts, timeline.Options{Run: "srun_1"}))
	if len(d.Lanes) != 12 || d.Lanes[3].Name != "r03" || d.Lanes[3].Turns != 2 {
		t.Errorf("%d lanes: %+v", len(d.Lanes), d.Lanes)
	}
	if len(d.Turns) != 24 || d.Turns[23].Outcome != timeline.Open || d.Turns[0].Outcome != timeline.Accepted ||
		d.Turns[0].Worked() != 4*time.Minute {
		t.Errorf("%d turns, the first %+v", len(d.Turns), d.Turns[0])
	}
	if len(d.Phases) != 2 || d.Phases[0].Name != "planning" || d.Phases[1].Name != "implementation" {
		t.Errorf("%+v", d.Phases)
	}
	if len(d.Posts) != 1 || !d.Posts[0].Opened || len(d.Waits) != 1 ||
		d.Waits[0].End.Sub(d.Waits[0].Start) != 4*time.Minute {
		t.Errorf("%+v %+v", d.Posts, d.Waits)
	}
	if rows, _ := d.Rows(100); !slices.ContainsFunc(rows, func(r timeline.Row) bool {
		return r.Cells[2] == "dev in r07"
	}) {
		t.Errorf("%+v", rows)
	}
}

// TestGraphPlaces puts every workstream to the right of what it depends on and on no other.
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
			part := rows[from:] // the order within a phase says nothing about dependencies
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
