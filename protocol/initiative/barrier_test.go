// Tests of barriers: each type against histories, what it waits for, what survives a rewrite.

package initiative

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// accepted returns a history of "workstream/repo:decision,decision" acceptances.
func accepted(list ...string) *History {
	var rows []*ojson.Object
	for i, s := range list {
		place, ids, _ := strings.Cut(s, ":")
		stream, repo, _ := strings.Cut(place, "/")
		var decisions []any
		for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
			if i%2 == 0 {
				decisions = append(decisions, id)
			} else {
				decisions = append(decisions, ojson.NewObject("id", id, "statement", "s"))
			}
		}
		rows = append(rows, ojson.NewObject("type", rowProjection, "super_run_id", "srun", "projection_ref", "proj_"+s,
			"workstream_id", stream,
			"repo_id", repo, "repo_turn_id", "turn_"+s, "decisions", decisions))
	}
	return NewHistory(rows, "srun")
}

func TestBarrierEvaluate(t *testing.T) {
	cfg := configOf(t, goodConfig)
	for _, c := range []struct {
		name, stream, barrier string // barrier changes the entry, "" leaves it
		history               []string
		status, satisfied     string
	}{
		{"all: nobody", "polish", ``, nil, Pending, ""},
		{"all: another workstream counts for nothing", "polish", ``, []string{"build/web", "build/api"}, Pending, ""},
		{"all: one", "polish", ``, []string{"polish/api"}, PartiallySatisfied, "api"},
		{"all: one twice", "polish", ``, []string{"polish/api", "polish/api"}, PartiallySatisfied, "api"},
		{"all: both, in the order they came", "polish", ``, []string{"polish/api", "polish/web"}, Satisfied,
			"api web"},
		{"all: a repository that is not required", "polish", ``, []string{"polish/docs"}, Pending, ""},
		{"all: nobody is required", "polish", `{"required_repos":[]}`, []string{"polish/api"}, PartiallySatisfied, ""},
		{"all: required twice", "polish", `{"required_repos":["api","api"]}`, []string{"polish/api"}, Satisfied,
			"api"},
		{"all: satisfied stays", "polish", `{"status":"satisfied","satisfied_repos":["web"]}`, nil, Satisfied, "web"},
		{"all: an unknown status is judged again", "polish", `{"status":"odd"}`, []string{"polish/api"},
			PartiallySatisfied, "api"},
		{"all: history shrank", "polish", `{"status":"partially_satisfied","satisfied_repos":["api"]}`, nil, Pending,
			""},
		{"alignment: begun", "contract", ``, []string{"contract/web"}, PartiallySatisfied, ""},
		{"alignment: one aligned", "contract", ``, []string{"contract/web:DEC-2", "contract/web:DEC-3"},
			PartiallySatisfied, "web"},
		{"alignment: half of the decisions", "contract", ``, []string{"contract/web:DEC-2", "contract/api:DEC-1"},
			PartiallySatisfied, "api"},
		{"alignment: all, in the order required", "contract", ``,
			[]string{"contract/web:DEC-2,DEC-3", "contract/api:DEC-9,DEC-1"}, Satisfied, "api web"},
		{"alignment: decisions of another repository", "contract", ``,
			[]string{"contract/api:DEC-1,DEC-2,DEC-3", "contract/web"}, PartiallySatisfied, "api"},
		{"alignment: decisions in another workstream", "contract", ``,
			[]string{"build/api:DEC-1", "build/web:DEC-2,DEC-3"}, Pending, ""},
		{"alignment: by the older member", "contract", `{"required_decision_ids_by_repo":null}`,
			[]string{"contract/web:DEC-2,DEC-3", "contract/api:DEC-1"}, Satisfied, "api web"},
		{"alignment: the newer member counts whole", "contract", `{"required_decision_ids_by_repo":{"api":["DEC-1"]}}`,
			[]string{"contract/web:DEC-2,DEC-3", "contract/api:DEC-1"}, PartiallySatisfied, "api"},
		{"alignment: no decisions are no alignment", "contract",
			`{"required_decision_ids_by_repo":{"api":[],"web":[]}}`, []string{"contract/web", "contract/api"},
			PartiallySatisfied, ""},
		{"named: missing", "names", ``, []string{"names/docs:DEC-7"}, PartiallySatisfied, ""},
		{"named: there", "names", ``, []string{"names/docs:DEC-007"}, Satisfied, "docs"},
		{"ordered: later first", "build", ``, []string{"build/api"}, PartiallySatisfied, "api"},
		{"ordered: entry", "build", ``, []string{"build/web"}, Satisfied, "web"},
		{"ordered: tracked to the end", "build", `{"status":"satisfied","satisfied_repos":["web"]}`,
			[]string{"build/web", "build/api"}, Satisfied, "web api"},
		{"ordered: never taken back", "build", `{"status":"satisfied","satisfied_repos":["web"]}`, nil, Satisfied,
			"web"},
		{"ordered: entry comes from the configuration", "build", `{"required_repos":["api"]}`, []string{"build/web"},
			Satisfied, ""},
		{"ordered: workstream is gone", "build",
			`{"workstream_id":"gone","status":"partially_satisfied","satisfied_repos":["api"]}`, []string{"gone/web"},
			PartiallySatisfied, "api"},
		{"human: nobody else", "launch", ``, []string{"launch/api"}, Pending, ""},
		{"unknown type", "launch", `{"type":"moon","satisfied_repos":["x"]}`, []string{"launch/api"}, Pending, "x"},
	} {
		w := cfg.Workstream(c.stream)
		o := NewBarrier(w, "t").Object()
		if c.barrier != "" {
			for k, v := range object(t, c.barrier).All() {
				o.Set(k, v)
			}
		}
		status, satisfied := newBarrier("b", o).Evaluate(cfg, accepted(c.history...))
		if status != c.status || strings.Join(satisfied, " ") != c.satisfied {
			t.Errorf("%s: %s %v, want %s %s", c.name, status, satisfied, c.status, c.satisfied)
		}
	}
}

func TestNewBarriersHaveTheProtocolsShape(t *testing.T) {
	b := NewBarriers(configOf(t, goodConfig), "2026-01-02T03:04:05.678Z").Object()
	want := []string{"contract_completion", "names_completion", "build_completion", "polish_completion",
		"launch_completion"}
	if !cmp.Equal(b.Keys(), want) {
		t.Fatalf("%v", b.Keys())
	}
	for id, text := range map[string]string{
		"contract_completion": `{"workstream_id":"contract","type":"interface_alignment","status":"pending","required_repos":["api","web"],"satisfied_repos":[],"required_decision_ids_by_repo":{"api":["DEC-1"],"web":["DEC-2","DEC-3"]},"alignment_decision_ids":{"api":["DEC-1"],"web":["DEC-2","DEC-3"]},"created_at":"2026-01-02T03:04:05.678Z"}`,
		"names_completion":    `{"workstream_id":"names","type":"named_decisions","status":"pending","required_repos":["docs"],"satisfied_repos":[],"required_decision_ids_by_repo":{"docs":["DEC-007"]},"alignment_decision_ids":null,"created_at":"2026-01-02T03:04:05.678Z"}`,
		"build_completion":    `{"workstream_id":"build","type":"ordered_repo_sequence","status":"pending","required_repos":["api","web"],"satisfied_repos":[],"required_decision_ids_by_repo":null,"alignment_decision_ids":null,"created_at":"2026-01-02T03:04:05.678Z"}`,
	} {
		if got := string(ojson.Compact(b.Object(id))); got != text {
			t.Errorf("%s:\n%s\n%s", id, got, text)
		}
	}
}

// What another tool wrote into barriers.json survives our rewrite.
func TestBarriersKeepWhatTheyDoNotKnow(t *testing.T) {
	const text = `{"z":{"status":"pending","notes":"n","workstream_id":"polish","type":"all_repos_accepted","required_repos":["api"],"odd":[1]},"a":7}`
	b, p := DecodeBarriers(object(t, text))
	if len(p) != 1 || p[0].Field != "a" {
		t.Errorf("%v", p)
	}
	if got := string(ojson.Compact(b.Object())); got != text {
		t.Errorf("%s", got)
	}
	cfg := configOf(t, goodConfig)
	after := *b.Get("z")
	after.Status, after.Satisfied = after.Evaluate(cfg, accepted("polish/api"))
	got := string(ojson.Compact(b.with(&after).Object()))
	want := `{"z":{"status":"satisfied","notes":"n","workstream_id":"polish","type":"all_repos_accepted","required_repos":["api"],"odd":[1],"satisfied_repos":["api"]},"a":7}`
	if got != want {
		t.Errorf("%s", got)
	}
	if b.Get("z").Status != Pending || string(ojson.Compact(b.Object())) != text {
		t.Error("the old barriers changed")
	}
}

func TestBarrierWaiting(t *testing.T) {
	cfg := configOf(t, goodConfig)
	for stream, want := range map[string]string{
		"contract": "api[DEC-1] web[DEC-3]",
		"names":    "docs[DEC-007]",
		"build":    "api[]",
		"polish":   "web[] api[]",
		"launch":   "",
	} {
		var got []string
		for repo, missing := range NewBarrier(cfg.Workstream(stream),
			"t").Waiting(accepted("contract/web:DEC-2", "build/web", "launch/api")).All() {
			got = append(got, repo+"["+strings.Join(missing, ",")+"]")
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s waits for %q, want %q", stream, s, want)
		}
	}
}

func TestHistoryOfOneRunOnly(t *testing.T) {
	row := func(run, repo string) *ojson.Object {
		o := ojson.NewObject("type", rowProjection, "projection_ref", "proj_"+run+repo, "workstream_id", "polish",
			"repo_id", repo, "repo_turn_id", "t")
		if run != "" {
			o.Set("super_run_id", run)
		}
		return o
	}
	h := NewHistory([]*ojson.Object{row("old", "api"), row("new", "web"), row("", "docs")}, "new")
	if got := h.Accepted("polish"); !cmp.Equal(got, []string{"web", "docs"}) {
		t.Errorf("%v", got)
	}
	if !h.refs["proj_oldapi"] {
		t.Error("a reference of another run may not be given again")
	}
	if h.Projection("api", "t") != nil {
		t.Error("a turn of another run is projected")
	}
}
