// Tests of divergence, resync, recovery and next actions.

package initiative

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// sent returns an initiative whose first turn was dispatched.
func sent(t *testing.T) (w *Workspace, a *actors, turn string) {
	w = world(t, goodConfig)
	a = newActors(t, w)
	as, no := Select(w, a.read())
	if as == nil {
		t.Fatal(no)
	}
	turn, c := a.dispatch(w, as)
	return w.With(c), a, turn
}

func kinds(list []Mismatch) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Type+":"+m.Repo)
		if m.Detail == "" || m.Object().String("detail") != m.Detail {
			out = append(out, "no detail")
		}
	}
	return strings.Join(out, " ")
}

// TestBehind has a clone in another run than the initiative's: a run that the initiative has left blocks nothing.
func TestBehind(t *testing.T) {
	for _, c := range []struct {
		name  string
		run   string
		began string // when the run of the clone began, "" if unknown
		want  bool
	}{
		{"before the initiative took its run up", "run_x", "2026-01-01T00:00:00.000Z", true},
		{"since", "run_x", "2036-01-01T00:00:00.000Z", false},
		{"at a time that cannot be read", "run_x", "yesterday", false},
		{"at no time", "run_x", "", false},
		{"in the run that it left, whenever that began", "run_left", "2036-01-01T00:00:00.000Z", true},
		{"no run", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, a, _ := sent(t)
			left := &Change{}
			e := env("s")
			left.Record(w, &e, RowRelinked, "repo_id", "web", "from_run_id", "run_left", "to_run_id", w.State.RunOf("web"))
			w = w.With(left)
			web := a.states["web"]
			if web.RunID = &c.run; c.run == "" {
				web.RunID = nil
			}
			if web.CreatedAt = &c.began; c.began == "" {
				web.CreatedAt = nil
			}
			_, r := Resync(w, a.read(), env("t"))
			if r.OK || (r.Behind != nil) != c.want || (r.BlockedReason == "") != c.want {
				t.Errorf("behind %v, blocked %q; want behind %v", r.Behind, r.BlockedReason, c.want)
			}
		})
	}
}

func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a *actors, turn string)
		want   string
	}{
		{"at work", func(*actors, string) {}, ""},
		{"accepted", func(a *actors, turn string) { a.accept("api", turn, nil) }, "turn_accepted_unprojected:api"},
		{"rejected", func(a *actors, turn string) { a.reject("api", turn) }, "turn_rejected_unprojected:api"},
		{"gone", func(a *actors, turn string) { a.states["api"].ActiveTurns.Delete(turn) }, "turn_disappeared:api"},
		{"reissued", func(a *actors, turn string) { a.reissue("api", turn) }, ""},
		{"reissued and accepted", func(a *actors, turn string) { a.accept("api", a.reissue("api", turn), nil) },
			"turn_accepted_unprojected:api"},
		{"blocked", func(a *actors, turn string) { a.states["web"].Status = wire.StatusBlocked },
			"repo_blocked_unexpectedly:web"},
		{"completed", func(a *actors, turn string) { a.states["docs"].Status = wire.StatusCompleted },
			"repo_completed_unexpectedly:docs"},
		{"waiting for a person", func(a *actors, turn string) { a.states["docs"].Status = wire.StatusPaused }, ""},
		{"no state", func(a *actors, turn string) { a.states["web"] = nil }, "repo_state_missing:web"},
		{"unreadable, with a turn", func(a *actors, turn string) { a.hidden["api"] = true },
			"repo_config_missing:api"},
		{"on another run", func(a *actors, turn string) { r := "run_x"; a.states["web"].RunID = &r },
			"run_id_mismatch:web"},
		{"on no run", func(a *actors, turn string) { a.states["web"].RunID = nil }, "run_id_mismatch:web"},
	} {
		w, a, turn := sent(t)
		c.change(a, turn)
		gone := a.states["web"] == nil
		if gone {
			delete(a.states, "web")
		}
		kids := a.read()
		if gone {
			kids["web"] = NewChild("web", "/web", a.configs["web"], nil, nil, nil)
		}
		if got := kinds(Divergence(w, kids)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestResyncProjectsWhatWasAccepted(t *testing.T) {
	w, a, turn := sent(t)
	a.accept("api", a.reissue("api", turn), []any{"DEC-1"}, "src/x")
	c, r := Resync(w, a.read(), env("s"))
	if !r.OK || len(r.Projected) != 1 || r.Projected[0].Acceptance.TurnID != "turn_2" ||
		!cmp.Equal(r.Repos, []string{"api"}) || len(r.Barriers) != 1 {
		t.Fatalf("%s", ojson.Compact(r.Object()))
	}
	if row := c.History[0]; !row.Bool("recovery") || row.String("summary") != "did turn_2" ||
		row.String("repo_run_id") != "run_api" {
		t.Errorf("%s", ojson.Compact(row))
	}
	if last := c.History[len(c.History)-1]; last.String("type") != "state_resynced" ||
		len(last.Objects("barrier_changes")) != 1 {
		t.Errorf("%s", ojson.Compact(last))
	}
	after := w.With(c)
	if c, r := Resync(after, a.read(), env("s")); !c.Empty() || !r.OK {
		t.Errorf("a second resync changes something: %+v", c)
	}
	if got := kinds(Divergence(after, a.read())); got != "" {
		t.Error(got)
	}
}

func TestResyncAcknowledgesLostTurnsOnce(t *testing.T) {
	w, a, turn := sent(t)
	a.reject("api", turn)
	c, r := Resync(w, a.read(), env("s"))
	if !r.OK || len(c.History) != 1 || len(c.History[0].Objects("acknowledged_turns")) != 1 {
		t.Fatalf("%+v", c)
	}
	w = w.With(c)
	if c, _ := Resync(w, a.read(), env("s")); !c.Empty() || len(Divergence(w, a.read())) > 0 {
		t.Errorf("%+v", c)
	}
	if as, no := Select(w, a.read()); as == nil || as.Repo != "api" {
		t.Errorf("the work is given out again: %v", no)
	}
}

// A turn acknowledged as gone counts when its repository accepted it after all: its files arrived after the resync
// looked.
func TestTurnThatCameBackCounts(t *testing.T) {
	w, a, turn := sent(t)
	a.states["api"].ActiveTurns.Delete(turn)
	c, _ := Resync(w, a.read(), env("s"))
	if gone := c.History[len(c.History)-1].Objects("acknowledged_turns"); len(gone) != 1 {
		t.Fatalf("%d turns are acknowledged as gone, want 1", len(gone))
	}
	w = w.With(c)
	a.accept("api", turn, nil)
	c, r := Resync(w, a.read(), env("s"))
	if len(r.Projected) != 1 || r.Projected[0].Acceptance.TurnID != turn {
		t.Fatalf("the acceptance does not count: %s", ojson.Compact(r.Object()))
	}
	if again, _ := Resync(w.With(c), a.read(), env("s")); !again.Empty() {
		t.Errorf("it counts twice: %+v", again)
	}
}

// What a repository's record lacks proves nothing while its working files are invalid: a coordinator of the
// reference dispatches turns there without a row.
func TestRefusedFilesMakeNoTurnGone(t *testing.T) {
	w, a, turn := sent(t)
	a.states["api"].ActiveTurns.Delete(turn)
	kids := a.read()
	kids["api"].Refused = "state.json: turn " + turn + " is active, but no event says so"
	if c, _ := Resync(w, kids, env("s")); !c.Empty() {
		t.Errorf("the resync changes something: %+v", c)
	}
	next := NextActions(w, kids)
	if len(next) != 1 || next[0].Command != "-C /api status" || !strings.Contains(next[0].Reason, kids["api"].Refused) {
		t.Errorf("next: %+v", next)
	}
}

func TestResyncBlocksOnWhatCannotBeBelieved(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a *actors, turn string)
		want   string
	}{
		{"another run", func(a *actors, turn string) { r := "run_x"; a.states["web"].RunID = &r }, "run_x"},
		{"a sibling's file", func(a *actors, turn string) { a.accept("api", turn, nil, "../web/x") },
			"belongs to web"},
		{"an acceptance of another run", func(a *actors, turn string) {
			a.accept("api", turn, nil)
			a.history["api"][0].Set("run_id", "run_forged")
		}, "run_forged"},
		{"an acceptance that is none", func(a *actors, turn string) {
			a.accept("api", turn, nil)
			a.history["api"][0].Set("files_changed", "all")
		}, "files_changed"},
	} {
		w, a, turn := sent(t)
		c.change(a, turn)
		ch, r := Resync(w, a.read(), env("s"))
		if r.OK || ch.State == nil || ch.State.Status != StatusBlocked ||
			!strings.Contains(ch.State.BlockedReason, c.want) || len(r.Projected) > 0 {
			t.Errorf("%s: %s", c.name, ojson.Compact(r.Object()))
			continue
		}
		if again, r := Resync(w.With(ch), a.read(), env("s")); !again.Empty() || r.OK {
			t.Errorf("%s: a second resync changes something: %s", c.name, ojson.Compact(again.History))
		}
	}
}

func TestResyncAndAGateThatWaits(t *testing.T) {
	w := world(t, goodConfig).after(designDone...)
	a := newActors(t, w)
	c, e := Request(w, EvaluatePhase(w, a.read(), ""), env("s"))
	if e != nil {
		t.Fatal(e)
	}
	w = w.With(c)
	a.states["docs"].Status = wire.StatusPaused
	if c, r := Resync(w, a.read(), env("s")); !r.OK || !c.Empty() {
		t.Errorf("%+v", c)
	}
	a.states["docs"].Status = wire.StatusBlocked
	c, r := Resync(w, a.read(), env("s"))
	if r.OK || c.State.Status != StatusBlocked || c.State.PendingGate == nil ||
		!strings.Contains(r.BlockedReason, "docs") {
		t.Errorf("%+v", r)
	}
	w = w.With(c)
	// A resync without a reason of its own removes none.
	a.states["docs"].Status = wire.StatusActive
	c, r = Resync(w, a.read(), env("s"))
	if w = w.With(c); !r.OK || w.State.Status != StatusBlocked || w.State.BlockedReason == "" {
		t.Errorf("%+v", w.State)
	}
	report := strings.ReplaceAll(Report("r", "t"), reportPlaceholder, "done")
	c, _, e = Resume(w, a.read(), &report, env("s"))
	if e != nil || c.State.Status != StatusPaused || c.State.BlockedReason != "" ||
		c.History[len(c.History)-1].Object("pending_gate").String("gate_type") != GatePhase {
		t.Errorf("%+v %v", c, e)
	}
}

func TestRecoveryReport(t *testing.T) {
	fresh := Report("two\nlines", "now")
	if !strings.Contains(fresh, "**Blocked reason:** two lines\n") {
		t.Error(fresh)
	}
	for _, c := range []struct {
		name string
		text *string
		want int // problems, -1 for none at all
	}{
		{"none", nil, 0},
		{"fresh", &fresh, 3},
		{"empty", new(""), 3},
		{"filled", new("## Trigger\nx\n## Impact\n\n y \n## Mitigation\nz"), -1},
		{"one left",
			new("## Trigger\nx\n## Impact\n(operator FILLS this before running multi resume)\n## Mitigation\nz"), 1},
		{"the placeholder and more",
			new("## Trigger\n" + reportPlaceholder + "\nx\n## Impact\ny\n## Mitigation\nz\r\n"), -1},
		{"text above the sections", new("x\n## Trigger\n## Impact\ny\n## Mitigation\nz"), 1},
		{"a deeper heading is text", new("## Trigger\n### a\n## Impact\ny\n## Mitigation\nz"), -1},
	} {
		e := CheckReport(c.text)
		if c.want < 0 != (e == nil) || e != nil && (e.Code != CodeReportRequired || len(e.Problems) != c.want) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestResume(t *testing.T) {
	report := strings.ReplaceAll(Report("r", "t"), reportPlaceholder, "done")
	w, a, turn := sent(t)
	if _, _, e := Resume(w, a.read(), &report, env("s")); e == nil || e.Code != wire.CodeInvalidStateTransition {
		t.Error(e)
	}
	w = w.With(Block(w, "hook", env("s")))
	if _, _, e := Resume(w, a.read(), nil, env("s")); e == nil || e.Code != CodeReportRequired {
		t.Error(e)
	}
	a.accept("api", turn, nil)
	a.states["web"].Status = wire.StatusBlocked
	c, r, e := Resume(w, a.read(), &report, env("s"))
	if e == nil || e.Code != wire.CodeRunBlocked || len(r.Projected) != 1 ||
		c.State.BlockedReason != "child repos remain blocked: web" {
		t.Fatalf("%+v %v", c, e)
	}
	w = w.With(c)
	if c, _, e := Resume(w, a.read(), &report, env("s")); e == nil || !c.Empty() {
		t.Errorf("a second refusal changes something: %+v", c)
	}
	a.hidden["docs"] = true
	if _, _, e := Resume(w, a.read(), &report, env("s")); e == nil || e.Code != wire.CodeRunBlocked {
		t.Error(e)
	}
	a.hidden["docs"] = false
	a.states["web"].Status = wire.StatusActive
	c, _, e = Resume(w, a.read(), &report, env("s"))
	if e != nil || c.State.Status != StatusActive || c.Decisions[0].String("category") != "recovery" {
		t.Fatalf("%+v %v", c, e)
	}
	if got := string(ojson.Compact(c.History[len(c.History)-1])); !strings.HasSuffix(got,
		`"from":"blocked","to":"active","blocked_reason":"child repos remain blocked: web","pending_gate":null,`+
			`"unblocked_by":{"name":null,"email":null,"terminal":false}}`) {
		t.Error(got)
	}
}

func TestNextActions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *Workspace, a *actors, turn string) *Workspace
		want   string
	}{
		{"go on", func(w *Workspace, a *actors, _ string) *Workspace { return w }, "repo:-C /api status step:multi step"},
		{"accepted", func(w *Workspace, a *actors, turn string) *Workspace { a.accept("api", turn, nil); return w },
			"step:multi step"},
		{"accepted while a gate waits", func(w *Workspace, a *actors, turn string) *Workspace {
			a.accept("api", turn, nil)
			return gated(w)
		}, "resync:multi resync pending_gate:multi approve-gate"},
		{"completed by somebody", func(w *Workspace, a *actors, turn string) *Workspace {
			a.states["web"].Status = wire.StatusCompleted
			return w
		}, "resync:multi resync"},
		{"waiting children are no reason to resync", func(w *Workspace, a *actors, turn string) *Workspace {
			a.states["web"].Status = wire.StatusPaused
			return w
		}, "repo:-C /api status step:multi step"},
		{"blocked", func(w *Workspace, a *actors, _ string) *Workspace { return w.With(Block(w, "x", env("s"))) },
			"resume:multi resume"},
		{"blocked and behind", func(w *Workspace, a *actors, turn string) *Workspace {
			a.accept("api", turn, nil)
			return w.With(Block(w, "x", env("s")))
		}, "resume:multi resume"},
		{"another run", func(w *Workspace, a *actors, _ string) *Workspace {
			r := "x"
			a.states["web"].RunID = &r
			return w
		}, "repo_run_id_mismatch:multi resync repo_run_id_mismatch:multi resync"},
		{"another run, blocked", func(w *Workspace, a *actors, _ string) *Workspace {
			r := "x"
			a.states["web"].RunID = &r
			return w.With(Block(w, "x", env("s")))
		}, "repo_run_id_mismatch:multi resume repo_run_id_mismatch:multi resume"},
		{"a run that was abandoned", func(w *Workspace, a *actors, turn string) *Workspace {
			a.states["web"].Status = wire.StatusFailed
			return w
		}, "repo:-C /web assign --new-run repo:-C /api status step:multi step"},
		{"a run that asks for its completion too early", func(w *Workspace, a *actors, turn string) *Workspace {
			a.states["web"].Phase, a.states["web"].PendingRunCompletion = "make", &run.PendingCompletion{}
			return w
		}, "repo:-C /web approve --deny --reason 'Workstream contract waits for a turn of repository web.'" +
			" repo:-C /api status step:multi step"},
		{"a run that is complete too early", func(w *Workspace, a *actors, turn string) *Workspace {
			a.states["web"].Status = wire.StatusCompleted
			r, _ := w.State.RepoRuns.Get("web")
			r.Status = string(wire.StatusCompleted)
			return w
		}, "repo:-C /web assign --new-run repo:-C /api status step:multi step"},
		{"a gate that is ready no more", func(w *Workspace, a *actors, _ string) *Workspace { return gated(w) },
			"repo:-C /api status pending_gate:multi approve-gate"},
		{"a gate, blocked", func(w *Workspace, a *actors, _ string) *Workspace {
			w = gated(w)
			return w.With(Block(w, "x", env("s")))
		}, "resume:multi resume pending_gate:multi approve-gate"},
	} {
		w, a, turn := sent(t)
		w = c.change(w, a, turn)
		var got []string
		for _, n := range NextActions(w, a.read()) {
			got = append(got, n.Code+":"+n.Command)
			if n.Reason == "" || n.Object("axc").String("command") != "axc "+n.Command {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestWhatCannotBeReadComesFirst has a repository that is ahead of the record beside one that cannot be read.
func TestWhatCannotBeReadComesFirst(t *testing.T) {
	w, a, _ := sent(t)
	a.states["api"].Status = wire.StatusCompleted
	kids := a.read()
	for _, want := range []string{"-C /web doctor", "-C /web validate"} {
		kids["web"].State = nil
		if got := NextActions(w, kids); len(got) != 1 || got[0].Command != want {
			t.Errorf("%+v, want %s", got, want)
		}
		kids["web"].Config = nil
	}
}

// TestARepositoryThatIsBlockedAtTheGateComesFirst: a resync would block the initiative because of it.
func TestARepositoryThatIsBlockedAtTheGateComesFirst(t *testing.T) {
	w, a, _ := sent(t)
	w = gated(w)
	w.State.PendingGate.RequiredRepos = []string{"web"}
	a.states["web"].Status = wire.StatusBlocked
	if got := NextActions(w, a.read()); len(got) != 1 || got[0].Command != "-C /web status" {
		t.Errorf("%+v", got)
	}
}

func gated(w *Workspace) *Workspace {
	out := *w
	out.State = w.State.Clone()
	out.State.Status, out.State.PendingGate = StatusPaused, &PendingGate{GateType: GatePhase, Gate: "g"}
	return &out
}

// TestTurnsOfAnotherInitiativeDoNotCount has a turn accepted that this super run did not dispatch: a person's turn
// counts, another initiative's does not.
func TestTurnsOfAnotherInitiativeDoNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []*ojson.Object
		given map[string]string
		want  string
	}{
		"a person's": {nil, nil, "turn_accepted_unprojected:api"},
		"an earlier initiative's": {[]*ojson.Object{ojson.NewObject("type", "turn_dispatched", "super_run_id",
			"srun_0", "repo_id", "api", "repo_turn_id", "T")}, nil, ""},
		"counted there": {[]*ojson.Object{ojson.NewObject("type", "acceptance_projection", "super_run_id",
			"srun_0", "repo_id", "api", "repo_turn_id", "T")}, nil, ""},
		"another workspace's":     {nil, map[string]string{"T": "srun_9"}, ""},
		"ours, by the repository": {nil, map[string]string{"T": "srun_1"}, "turn_accepted_unprojected:api"},
		"another repository's row": {[]*ojson.Object{ojson.NewObject("type", "turn_dispatched", "super_run_id",
			"srun_0", "repo_id", "web", "repo_turn_id", "T")}, nil, "turn_accepted_unprojected:api"},
	} {
		t.Run(name, func(t *testing.T) {
			w, a, turn := sent(t)
			a.accept("api", turn, nil)
			kids := a.read()
			accepted := kids["api"].Rows[turn]
			accepted.Set("run_id", w.State.RunOf("api"))
			accepted.Set("phase", w.State.Phase)
			accepted.Set("accepted_at", w.State.CreatedAt)
			for _, row := range c.rows {
				if row.String("repo_turn_id") == "T" {
					row.Set("repo_turn_id", turn)
				}
			}
			w.History = NewHistory(c.rows, w.State.SuperRunID).with([]*ojson.Object{ojson.NewObject("type", "note")})
			if by := c.given["T"]; by == "srun_1" {
				kids["api"].Given = map[string]string{turn: w.State.SuperRunID}
			} else if by != "" {
				kids["api"].Given = map[string]string{turn: by}
			}
			if got := kinds(Divergence(w, kids)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
