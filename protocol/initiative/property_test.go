// Random initiatives: a barrier is satisfied exactly when an independent model says so, despite repetitions,
// refusals and restarts.

package initiative

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// dice makes the choices from one drawn seed: many small drawn values would make
// small and dull initiatives.
type dice struct{ *rand.Rand }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

func pick[T any](d dice, of []T) T { return of[d.IntN(len(of))] }

// some returns n distinct members in any order.
func some(d dice, of []string, n int) []string {
	of = slices.Clone(of)
	d.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:n]
}

// drawConfig returns a valid configuration: up to 5 repositories and 6 workstreams. decision names the n-th
// decision of a workstream.
func drawConfig(d dice, decision func(workstream, n int) string) *ojson.Object {
	var repos, phases []string
	for i := range 1 + d.IntN(5) {
		repos = append(repos, fmt.Sprintf("r%d", i))
	}
	for i := range 1 + d.IntN(3) {
		phases = append(phases, fmt.Sprintf("p%d", i))
	}
	ro, wo, po := ojson.NewObject(), ojson.NewObject(), ojson.NewObject()
	for _, r := range some(d, repos, len(repos)) {
		ro.Set(r, ojson.NewObject("path", "repos/"+r))
	}
	for _, p := range phases {
		po.Set(p, ojson.NewObject())
	}
	var streams []string
	for i := range 1 + d.IntN(6) {
		id := fmt.Sprintf("w%d", i)
		members := some(d, repos, 1+d.IntN(len(repos)))
		kind := pick(d, barrierTypes())
		o := ojson.NewObject("phase", pick(d, phases), "repos", members, "entry_repo", pick(d, members),
			"depends_on", some(d, streams, d.IntN(len(streams)+1)), "completion_barrier", kind)
		if kind == NamedDecisions || kind == InterfaceAlignment {
			ids := ojson.NewObject()
			for _, r := range members {
				var list []string
				for n := range 1 + d.IntN(3) {
					list = append(list, decision(i, n+1))
				}
				ids.Set(r, list)
			}
			o.Set(kind, ojson.NewObject("decision_ids_by_repo", ids))
		}
		wo.Set(id, o)
		streams = append(streams, id)
	}
	return ojson.NewObject("schema_version", Schema, "project", ojson.NewObject("id", "p", "name", "P"), "repos", ro,
		"workstreams", wo, "routing", po)
}

// model knows only what was accepted, and the rules in plain terms.
type model struct {
	raw   *ojson.Object
	turns map[string]string          // repo/turn -> workstream
	done  map[string][]*ojson.Object // workstream/repo -> accepted turns
}

// accepts says whether the acceptance must be recorded.
func (m *model) accepts(repo, stream, turn string, files []string) (refused bool) {
	w := m.raw.Object("workstreams").Object(stream)
	if w == nil || !slices.Contains(w.Strings("repos"), repo) {
		return true
	}
	for _, f := range files {
		if strings.HasPrefix(f, "../") {
			return true
		}
	}
	at, known := m.turns[repo+"/"+turn]
	return known && at != stream
}

func (m *model) satisfied(stream string) (satisfied, begun bool) {
	w := m.raw.Object("workstreams").Object(stream)
	missing := false
	for _, repo := range w.Strings("repos") {
		turns := m.done[stream+"/"+repo]
		if len(turns) > 0 {
			begun = true
		}
		switch kind := w.String("completion_barrier"); kind {
		case "all_repos_accepted":
			missing = missing || len(turns) == 0
		case "ordered_repo_sequence":
			missing = missing || repo == w.String("entry_repo") && len(turns) == 0
		case "shared_human_gate":
			return false, false
		default:
			for _, id := range w.Object(kind).Object("decision_ids_by_repo").Strings(repo) {
				found := false
				for _, turn := range turns {
					found = found || strings.Contains(string(ojson.Compact(turn)), `"`+id+`"`)
				}
				missing = missing || !found
			}
		}
	}
	return !missing, begun
}

func (m *model) status(stream string) string {
	switch satisfied, begun := m.satisfied(stream); {
	case satisfied:
		return Satisfied
	case begun:
		return PartiallySatisfied
	}
	return Pending
}

// restart reads the workspace back from the bytes it would have been written as.
func restart(t *rapid.T, w *Workspace, all []*ojson.Object) *Workspace {
	out := *w
	o, err := ojson.DecodeObject(ojson.Pretty(w.Barriers.Object()))
	if err != nil {
		t.Fatal(err)
	}
	var problems wire.Problems
	if out.Barriers, problems = DecodeBarriers(o); len(problems) > 0 {
		t.Fatal(problems)
	}
	var rows []*ojson.Object
	for _, row := range all {
		read, err := run.DecodeLedgerLine(ojson.Compact(row))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, read)
	}
	out.History = NewHistory(rows, w.State.SuperRunID)
	if o, err = ojson.DecodeObject(ojson.Pretty(w.State.Object())); err != nil {
		t.Fatal(err)
	}
	var e *wire.Error
	if out.State, e = DecodeState(o); e != nil {
		t.Fatal(e)
	}
	return &out
}

// oneCheck is the number of initiatives per check of rapid: its 100 checks make 500 where the test runs thoroughly.
func oneCheck(t *testing.T) int { return testrepo.Times(t.Name(), 1, 5) }

func TestBarriersAgreeWithTheModel(t *testing.T) {
	checks := 0
	n := oneCheck(t)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			checks += acceptAtRandom(t)
		}
	})
	t.Logf("%d statuses compared", checks)
}

// acceptAtRandom plays random acceptances of one random initiative and returns how many
// statuses were compared.
func acceptAtRandom(t *rapid.T) (checks int) {
	d := dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))}
	raw := drawConfig(d, func(_, n int) string { return fmt.Sprint("DEC-", n) })
	cfg, problems := DecodeObject(raw)
	if len(problems) > 0 {
		t.Fatalf("%v in %s", Lines(problems), ojson.Compact(raw))
	}
	w := &Workspace{
		Config:       cfg,
		Barriers:     NewBarriers(cfg, "t"),
		Places:       flatPlaces(cfg.Repos.Keys()),
		NextDecision: 1,
		State:        &State{SchemaVersion: Schema, SuperRunID: "srun", Status: StatusActive, Phase: cfg.Phases()[0]},
	}
	// Rows of an earlier initiative in the same file have no effect here.
	var all []*ojson.Object
	for range d.IntN(4) {
		in := Acceptance{
			Repo:       pick(d, cfg.Repos.Keys()),
			Workstream: pick(d, cfg.Workstreams.Keys()),
			TurnID:     fmt.Sprint("t", d.IntN(6)),
			Decisions:  []any{"DEC-1", "DEC-2", "DEC-3"},
		}
		e := env("old")
		all = append(all, in.row("srun_before", "proj_old", &e))
	}
	w.History = NewHistory(all, "srun")
	m := &model{raw: raw, turns: map[string]string{}, done: map[string][]*ojson.Object{}}
	repos := append(slices.Clone(cfg.Repos.Keys()), "stranger")
	ledger := map[string]string{}
	for i := range 10 + d.IntN(30) {
		in := Acceptance{
			Repo:         pick(d, repos),
			Workstream:   pick(d, cfg.Workstreams.Keys()),
			TurnID:       fmt.Sprint("t", d.IntN(12)),
			FilesChanged: []string{"src/x"},
		}
		for n := range 3 {
			if d.one(2) {
				in.Decisions = append(in.Decisions,
					pick(d, []any{fmt.Sprint("DEC-", n+1), ojson.NewObject("id", fmt.Sprint("DEC-", n+1))}))
			}
		}
		if d.one(10) {
			in.FilesChanged = append(in.FilesChanged, "../"+pick(d, append(repos, "x"))+"x/y")
		}
		refused := in.Repo == "stranger" || m.accepts(in.Repo, in.Workstream, in.TurnID, in.FilesChanged)
		_, known := m.turns[in.Repo+"/"+in.TurnID]
		c, e := Project(w, in, env(fmt.Sprint("seed", i)))
		switch {
		case refused != (e != nil):
			t.Fatalf("step %d: %+v gave %v", i, in, e)
		case refused:
			continue
		case known != (len(c.History) == 0) || c.Repeated != known:
			t.Fatalf("step %d: known %v, change %+v", i, known, c)
		case known && !c.Empty():
			t.Fatalf("step %d: a repeated projection changed something: %+v", i, c)
		}
		if !known {
			m.turns[in.Repo+"/"+in.TurnID] = in.Workstream
			at := in.Workstream + "/" + in.Repo
			m.done[at] = append(m.done[at], c.History[0])
		}
		for _, row := range c.BarrierLedger {
			b := row.String("barrier_id")
			if was := ledger[b]; was != "" && was != row.String("previous_status") ||
				row.String("new_status") == row.String("previous_status") {
				t.Fatalf("step %d: the ledger of %s does not follow: %s", i, b, ojson.Compact(row))
			}
			ledger[b] = row.String("new_status")
		}
		all = append(all, c.History...)
		w = w.With(c)
		if d.one(3) {
			w = restart(t, w, all)
		}
		if c := Evaluate(w, env("again")); !c.Empty() {
			t.Fatalf("step %d: barriers were left behind: %+v", i, c.Effects)
		}
		for _, stream := range cfg.Workstreams.Keys() {
			b := w.Barriers.Get(BarrierID(stream))
			if want := m.status(stream); b.Status != want {
				t.Fatalf("step %d: %s (%s) is %s, the model says %s", i, b.ID, b.Type, b.Status, want)
			}
			for _, repo := range b.Satisfied {
				if len(m.done[stream+"/"+repo]) == 0 {
					t.Fatalf("step %d: %s counts %s, which accepted nothing", i, b.ID, repo)
				}
			}
			if waits := b.Waiting(w.History).Len(); b.Type != SharedHumanGate && b.Type != OrderedSequence &&
				(waits == 0) != (b.Status == Satisfied) {
				t.Fatalf("step %d: %s is %s and waits for %d repositories", i, b.ID, b.Status, waits)
			}
			checks++
		}
	}
	return checks
}
