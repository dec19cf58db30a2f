package runner_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func (p *project) op() runner.OpID {
	p.t.Helper()
	s, err := p.r.LoadState(p.ctx)
	p.must(err)
	return s.Op
}

func (p *project) bundle(turnID string) *runner.Written {
	p.t.Helper()
	w, err := p.r.WriteDispatchBundle(p.ctx, turnID)
	p.must(err)
	return w
}

func TestWriteDispatchBundleIsIdempotentAndKeepsAdditions(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	dir := wire.BundleDir(a.Turn.TurnID) + "/"
	before := p.op()
	if w := p.bundle(""); w.Rebuilt || w.Turn.TurnID != a.Turn.TurnID || p.op() != before {
		t.Errorf("a bundle as assigned was made anew: %+v", w)
	}

	// Another tool's hook adds a file and seals; only the record lacks it.
	p.write(dir+"hook/notes.txt", "from a hook")
	p.reseal(a.Turn)
	if w := p.bundle(a.Turn.TurnID); !w.Rebuilt || p.op() == before {
		t.Errorf("the foreign seal was left: %+v", w)
	}
	p.verified(a.Turn)
	after := p.op()
	if w := p.bundle(a.Turn.TurnID); w.Rebuilt || p.op() != after {
		t.Errorf("the second call did something: %+v", w)
	}

	// Removed or changed files are restored from the record.
	for _, harm := range []func(){
		func() { p.must(os.Remove(filepath.Join(p.dir, dir, "hook/notes.txt"))) },
		func() { p.write(dir+"hook/notes.txt", "other orders") },
		func() { p.write(dir+"PROMPT.md", "other orders") },
		func() { p.write(dir+"MANIFEST.json", "{") },
		func() { p.must(os.RemoveAll(filepath.Join(p.dir, dir))) },
	} {
		harm()
		if w := p.bundle(a.Turn.TurnID); !w.Rebuilt {
			t.Error("a damaged bundle was left")
		}
		p.verified(a.Turn)
		if p.read(dir+"hook/notes.txt") != "from a hook" {
			t.Error("the hook's file is not what it was")
		}
	}
	if n := strings.Count(p.read(".agentxchain/events.jsonl"), `"turn_dispatched"`); n != 1 {
		t.Errorf("%d turn_dispatched events", n)
	}
	p.sound()
}

// A turn that another tool has only assigned is dispatched by its bundle.
func TestWriteDispatchBundleDispatchesAnAssignedTurn(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	doc, err := ojson.DecodeObject([]byte(p.read(string(wire.DocState))))
	p.must(err)
	turn := doc.Object("active_turns").Object(a.Turn.TurnID)
	turn.Set("status", "assigned")
	turn.Delete("dispatched_at")
	p.write(string(wire.DocState), string(ojson.Pretty(doc)))
	w := p.bundle(a.Turn.TurnID)
	if !w.Rebuilt || w.Turn.Status != wire.TurnDispatched || w.Turn.DispatchedAt == "" {
		t.Errorf("%+v", w.Turn)
	}
	if n := strings.Count(p.read(".agentxchain/events.jsonl"), `"turn_dispatched"`); n != 2 {
		t.Errorf("%d turn_dispatched events", n)
	}
	if w := p.bundle(a.Turn.TurnID); w.Rebuilt {
		t.Error("dispatched twice")
	}
	p.sound()
}

func TestRefreshedBaselineIsNotTheAgents(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("dev")
	p.write("fixture.txt", "the runner's\n")
	out, err := p.r.RefreshTurnBaseline(p.ctx, "")
	p.must(err)
	if !out.OK || !slices.Equal(out.Files, []string{"fixture.txt"}) {
		t.Fatalf("%+v", out.Files)
	}
	p.write("src/a.txt", "the agent's\n")
	p.stage(a.Turn, "summary", "did it", "files_changed", []string{"src/a.txt"}, "objections", review("OBJ-001"),
		"proposed_next_role", "pm")
	p.stageOf(a.Turn)
	got, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	if files := got.Result.Entry.Object("observed_artifact").Strings("files_changed"); slices.Contains(files,
		"fixture.txt") || !slices.Contains(files, "src/a.txt") {
		t.Errorf("observed %v", files)
	}
	p.sound()
}

// stageOf stages the file at the canonical path once more, through the interface.
func (p *project) stageOf(turn *run.Turn) {
	p.t.Helper()
	data := []byte(p.read(runner.TurnStagingResultPath(turn.TurnID)))
	out, err := p.r.StageResult(p.ctx, turn.TurnID, data)
	p.must(err)
	if out.Size != len(data) || p.read(out.Path) != string(data) {
		p.t.Errorf("%+v", out)
	}
}

// The staging directory may have been put elsewhere by an agent.
func TestStageResultStaysInTheProject(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	outside := t.TempDir()
	dir := filepath.Join(p.dir, ".agentxchain/staging", a.Turn.TurnID)
	p.must(os.RemoveAll(dir))
	if err := os.Symlink(outside, dir); err != nil {
		t.Skip("no symbolic links here")
	}
	out, err := p.r.StageResult(p.ctx, a.Turn.TurnID, []byte(`{"schema_version":"1.0"}`))
	if err == nil || out.OK || out.Code == "" {
		t.Errorf("%+v %v", out, err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("a file was written outside of the project")
	}
}

func TestHeldLock(t *testing.T) {
	p := newProject(t, nil)
	h, err := p.r.AcquireLock(p.ctx, "a series")
	p.must(err)
	if again, err := p.r.AcquireLock(p.ctx, "again"); err == nil || again.Code != "locked" {
		t.Errorf("taken twice: %+v %v", again, err)
	}
	a := p.assign("pm")
	p.stage(a.Turn, "summary", "did it", "files_changed", []string{}, "objections", review("OBJ-001"),
		"proposed_next_role", "pm")
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	select {
	case <-h.Lost():
		t.Error("the lock was lost")
	default:
	}
	if !p.exists(wire.LockPath) {
		t.Error("an operation gave the held lock back")
	}
	// A caller that forgets to release does not lock others out for good.
	p.must(p.r.Close())
	if p.exists(wire.LockPath) {
		t.Error("Close has kept the lock")
	}
	p.must(p.r.ReleaseLock(h))
	if p.r, err = runner.Open(p.ctx, p.dir, runner.Options{LockWait: -1}); err != nil {
		t.Fatal(err)
	}
	p.assign("pm")
	p.sound()
}

func TestQueries(t *testing.T) {
	if runner.ActiveTurnCount(nil) != 0 || runner.ActiveTurn(nil) != nil || runner.ActiveTurns(nil) != nil ||
		runner.MaxConcurrentTurns(nil, "x") != 1 || runner.FindTurn(nil, "x") != nil {
		t.Error("questions about nothing have an answer")
	}
	p := newProject(t, func(cfg *ojson.Object) {
		cfg.Object("routing").Object("planning").Set("max_concurrent_turns", 4)
	})
	a, b := p.assign("pm"), p.assign("eng_director")
	s, err := p.r.LoadState(p.ctx)
	p.must(err)
	c, err := p.r.LoadContext(p.ctx)
	p.must(err)
	if turns := runner.ActiveTurns(s.State); len(turns) != 2 || turns[0].TurnID != a.Turn.TurnID ||
		turns[1].TurnID != b.Turn.TurnID {
		t.Errorf("%v", turns)
	}
	if runner.ActiveTurn(s.State) != nil || s.Turn != nil || runner.ActiveTurnCount(s.State) != 2 ||
		runner.FindTurn(s.State, b.Turn.TurnID) == nil {
		t.Error("two turns count as one")
	}
	if runner.MaxConcurrentTurns(c.Config, "planning") != 4 || runner.MaxConcurrentTurns(c.Config, "qa") != 1 ||
		runner.MaxConcurrentTurns(c.Config, "nowhere") != 1 {
		t.Error("concurrency")
	}
}
