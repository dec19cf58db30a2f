// Tests of projections: what is refused, what is recorded, what a repeated call does.

package initiative

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func env(seed string) protocol.Env {
	return protocol.Env{Now: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Seed: seed}
}

// flatPlaces puts every repository at /<id> without a disk.
type flatPlaces []string

func (f flatPlaces) Owner(repo, file string) (string, *wire.Error) {
	var parts []string
	if !strings.HasPrefix(file, "/") {
		parts = []string{repo}
	}
	for c := range strings.SplitSeq(file, "/") {
		switch c {
		case "", ".":
		case "..":
			parts = parts[:max(len(parts)-1, 0)]
		default:
			parts = append(parts, c)
		}
	}
	for _, id := range f {
		if len(parts) > 0 && parts[0] == id {
			return id, nil
		}
	}
	return "", nil
}

// world returns a workspace at its start.
func world(t testing.TB, text string) *Workspace {
	t.Helper()
	cfg := configOf(t, text)
	w := &Workspace{
		Config:       cfg,
		Barriers:     NewBarriers(cfg, "t0"),
		History:      NewHistory(nil, "srun_1"),
		Places:       flatPlaces(cfg.Repos.Keys()),
		NextDecision: 1,
	}
	w.State = &State{
		SchemaVersion: Schema,
		SuperRunID:    "srun_1",
		ProjectID:     cfg.ProjectID,
		Status:        StatusActive,
		Phase:         cfg.Phases()[0],
		CreatedAt:     "t0",
		UpdatedAt:     "t0",
	}
	for _, id := range cfg.Repos.Keys() {
		run := "run_" + id
		w.State.RepoRuns.Set(id, &RepoRun{RunID: &run, Status: RepoLinked, Phase: w.State.Phase})
	}
	return w
}

func acceptance(repo, stream, turn string, files ...string) Acceptance {
	return Acceptance{Repo: repo, Workstream: stream, TurnID: turn, FilesChanged: files}
}

func TestProjectRefuses(t *testing.T) {
	w := world(t, goodConfig)
	done, e := Project(w, acceptance("api", "polish", "t1", "a"), env("s"))
	if e != nil {
		t.Fatal(e)
	}
	w = w.With(done)
	foreign := acceptance("api", "build", "t2")
	foreign.RunID = "run_other"
	for _, c := range []struct {
		name, code, field string
		in                Acceptance
	}{
		{"no such repository", CodeUnknownRepo, "repo_id", acceptance("zzz", "build", "t2")},
		{"no such workstream", CodeUnknownWorkstream, "workstream_id", acceptance("api", "zzz", "t2")},
		{"no turn", wire.CodeInvalidArgument, "turn_id", acceptance("api", "build", " ")},
		{"not part of it", CodeNotInWorkstream, "repo_id", acceptance("docs", "build", "t2")},
		{"another run", CodeRunMismatch, "repo_run_id", foreign},
		{"file of a sibling", CodeCrossRepoWrite, "files_changed", acceptance("api", "build", "t2", "ok", "../web/x")},
		{"file of nobody", CodeCrossRepoWrite, "files_changed", acceptance("api", "build", "t2", "/etc/passwd")},
		{"file of the workspace", CodeCrossRepoWrite, "files_changed", acceptance("api", "build", "t2", "../x")},
		{"turn of another workstream", CodeProjectionClash, "workstream_id", acceptance("api", "build", "t1")},
		{"a bad file of a known turn", CodeCrossRepoWrite, "files_changed",
			acceptance("api", "polish", "t1", "../web/x")},
	} {
		got, e := Project(w, c.in, env("s"))
		if e == nil || e.Code != c.code || e.Field != c.field || got != nil {
			t.Errorf("%s: %+v %+v", c.name, got, e)
		}
	}
	w.Places = nil
	if _, e := Project(w, acceptance("api", "build", "t2", "x"), env("s")); e == nil || e.Code != CodeRepoUnresolved {
		t.Errorf("without places: %+v", e)
	}
}

func TestProjectRecords(t *testing.T) {
	w := world(t, goodConfig)
	turn := object(t,
		`{"turn_id":"turn_9","summary":"s","files_changed":["src/a"],"decisions":[{"id":"DEC-2","why":1},"DEC-3"],"verification":{"status":"pass"},"other":1}`)
	in, e := DecodeAcceptance("web", "contract", turn)
	if e != nil {
		t.Fatal(e)
	}
	c, e := Project(w, in, env("seed"))
	if e != nil {
		t.Fatal(e)
	}
	ref := c.ProjectionRef
	if hex, ok := strings.CutPrefix(ref, "proj_contract_web_"); !ok || len(hex) != 8 {
		t.Errorf("reference %s", ref)
	}
	want := `{"type":"acceptance_projection","timestamp":"2026-01-02T03:04:05.678Z","super_run_id":"srun_1","projection_ref":"` + ref + `","workstream_id":"contract","repo_id":"web","repo_run_id":"run_web","repo_turn_id":"turn_9","summary":"s","files_changed":["src/a"],"decisions":[{"id":"DEC-2","why":1},"DEC-3"],"verification":{"status":"pass"}}`
	if len(c.History) != 1 || string(ojson.Compact(c.History[0])) != want {
		t.Errorf("%s", ojson.Compact(c.History))
	}
	want = `{"type":"barrier_transition","timestamp":"2026-01-02T03:04:05.678Z","barrier_id":"contract_completion","previous_status":"pending","new_status":"partially_satisfied","causation":{"super_run_id":"srun_1","workstream_id":"contract","repo_id":"web","barrier_type":"interface_alignment"}}`
	if len(c.BarrierLedger) != 1 || string(ojson.Compact(c.BarrierLedger[0])) != want {
		t.Errorf("%s", ojson.Compact(c.BarrierLedger))
	}
	if len(c.Effects) != 1 ||
		string(ojson.Compact(
			c.Effects[0].Row())) != `{"barrier_id":"contract_completion","previous_status":"pending","new_status":"partially_satisfied","workstream_id":"contract","type":"interface_alignment"}` {
		t.Errorf("%+v", c.Effects)
	}
	if w.Barriers.Get("contract_completion").Status != Pending || len(w.History.Rows()) != 0 {
		t.Error("projecting changed the workspace it was given")
	}
	if again, _ := Project(w, in, env("seed")); again.ProjectionRef != ref {
		t.Error("the same seed gives another reference")
	}

	after := w.With(c)
	c, e = Project(after, in, env("other"))
	if e != nil || c.ProjectionRef != ref || !c.Repeated || !c.Empty() || len(c.Effects) > 0 {
		t.Errorf("repeated: %+v %v", c, e)
	}
	// Barriers that a crash left behind are brought up to date.
	after.Barriers = w.Barriers
	c, e = Project(after, in, env("other"))
	if e != nil || c.ProjectionRef != ref || len(c.History) > 0 || len(c.Effects) != 1 || c.Barriers == nil {
		t.Errorf("repeated after a crash: %+v %v", c, e)
	}
	if c := Evaluate(after, env("x")); len(c.Effects) != 1 || c.Barriers == nil {
		t.Errorf("%+v", c)
	}
}

func TestProjectionOfAnEmptyTurn(t *testing.T) {
	w := world(t, goodConfig)
	w.State.RepoRuns.Set("api", &RepoRun{})
	c, e := Project(w, Acceptance{Repo: "api", Workstream: "build", TurnID: "t", Recovered: true}, env("s"))
	if e != nil {
		t.Fatal(e)
	}
	got := string(ojson.Compact(c.History[0]))
	if !strings.HasSuffix(got,
		`"repo_run_id":null,"repo_turn_id":"t","summary":"","files_changed":[],"decisions":[],"verification":null,"recovery":true}`) {
		t.Errorf("%s", got)
	}
}

// Two projections with the same seed and the same names get two references.
func TestReferencesAreNotGivenTwice(t *testing.T) {
	w := world(t, goodConfig)
	seen := map[string]bool{}
	for _, turn := range []string{"t1", "t2", "t3"} {
		c, e := Project(w, acceptance("api", "build", turn), env("same"))
		if e != nil || seen[c.ProjectionRef] {
			t.Fatalf("%s again: %v", c.ProjectionRef, e)
		}
		seen[c.ProjectionRef] = true
		w = w.With(c)
	}
}

func TestDecodeAcceptanceRefuses(t *testing.T) {
	for text, field := range map[string]string{
		`{"turn_id":1}`:                          "turn_id",
		`{"turn_id":"t","summary":[]}`:           "summary",
		`{"turn_id":"t","files_changed":"x"}`:    "files_changed",
		`{"turn_id":"t","files_changed":["",1]}`: "files_changed[1]",
		`{"turn_id":"t","decisions":{}}`:         "decisions",
	} {
		if _, e := DecodeAcceptance("r", "w", object(t, text)); e == nil || e.Code != wire.CodeInvalidArgument ||
			e.Field != field {
			t.Errorf("%s: %+v", text, e)
		}
	}
	if _, e := DecodeAcceptance("r", "w", nil); e != nil {
		t.Errorf("what is absent is no wrong type: %v", e)
	}
	if _, e := DecodeAcceptance("r", "w",
		object(t, `{"turn_id":"t","summary":null,"files_changed":null,"decisions":null}`)); e != nil {
		t.Error(e)
	}
}

func TestOvertakenTurns(t *testing.T) {
	w := world(t, goodConfig)
	sent := func(stream, repo, turn string) *ojson.Object {
		return ojson.NewObject("type", RowDispatched, "super_run_id", "srun_1", "workstream_id", stream,
			"repo_id", repo, "repo_turn_id", turn)
	}
	w.History = NewHistory([]*ojson.Object{
		sent("names", "docs", "t_dependent"), sent("contract", "web", "t_web"), sent("contract", "api", "t_api"),
		sent("contract", "web", "t_web"),
		sent("polish", "web", "t_further"), sent("zzz", "web", "t_unknown"),
		sent("build", "api", "t_same_repo_elsewhere"),
		ojson.NewObject("type", RowDispatched, "super_run_id", "older", "workstream_id", "contract", "repo_id", "web",
			"repo_turn_id", "t_old"),
	}, "srun_1")
	c, e := Project(w, acceptance("api", "contract", "t_api"), env("s"))
	if want := []string{"t_web", "t_dependent", "t_same_repo_elsewhere"}; e != nil || !cmp.Equal(c.Invalidated, want) {
		t.Errorf("%v %v", c, e)
	}
	w = w.With(c)
	// An accepted turn needs no new context.
	c, e = Project(w, acceptance("web", "contract", "t_web"), env("s"))
	if want := []string{"t_dependent", "t_same_repo_elsewhere"}; e != nil || !cmp.Equal(c.Invalidated, want) {
		t.Errorf("%v %v", c, e)
	}
}
