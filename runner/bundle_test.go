package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

func (p *project) read(path string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(path)))
	p.must(err)
	return string(data)
}

func (p *project) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(p.dir, filepath.FromSlash(path)))
	return err == nil
}

// verified fails unless the turn's bundle is as sealed and recorded.
func (p *project) verified(turn *run.Turn) *turnfiles.Bundle {
	p.t.Helper()
	v, err := p.r.View(p.ctx)
	p.must(err)
	b, err := p.r.VerifyBundle(p.ctx, v, turn)
	p.must(err)
	if len(b.Problems) > 0 {
		p.t.Errorf("the bundle is not as sealed: %v", b.Problems)
	}
	return b
}

// reseal does what a hook of another tool would have done before sealing.
func (p *project) reseal(turn *run.Turn) {
	p.t.Helper()
	root, err := os.OpenRoot(p.dir)
	p.must(err)
	defer func() { _ = root.Close() }()
	_, err = dispatch.Finalize(root, dispatch.BundleDir(turn.TurnID), dispatch.Identity{
		RunID:  p.state().Run(),
		TurnID: turn.TurnID,
		Role:   turn.AssignedRole,
	}, "2026-01-02T03:04:05.678Z")
	p.must(err)
}

func TestBundleSupplementsSurviveARejection(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	dir := wire.BundleDir(a.Turn.TurnID) + "/"
	p.verified(a.Turn)
	p.write(dir+"hook/notes.txt", "from a hook")
	p.reseal(a.Turn)
	p.write(dir+"COORDINATOR_CONTEXT.json", "{}") // the reference's coordinator does not seal
	p.write(dir+"planted.md", "orders nobody gave")
	p.write(dir+"stdout.log", "what the first attempt printed")
	out, err := p.r.RejectTurn(p.ctx, runner.RejectOptions{TurnID: a.Turn.TurnID, Reason: "again"})
	p.must(err)
	if out.Result.Turn.TurnID != a.Turn.TurnID || out.Result.Turn.Attempt != 2 {
		t.Fatalf("%+v", out.Result.Turn)
	}
	if p.read(dir+"hook/notes.txt") != "from a hook" || p.read(dir+"COORDINATOR_CONTEXT.json") != "{}" ||
		p.exists(dir+"stdout.log") {
		t.Error("the supplements did not survive, or an old log did")
	}
	if s := p.read(dir + "MANIFEST.json"); !strings.Contains(s, "hook/notes.txt") ||
		!strings.Contains(s, "COORDINATOR_CONTEXT.json") || strings.Contains(s, "planted.md") {
		t.Errorf("sealed: %s", s)
	}
	if !strings.Contains(p.read(dir+"PROMPT.md"), "## Previous Attempt Failed") {
		t.Error("the core was not renewed")
	}
	// A forbidden addition is left where it is and reported.
	v, err := p.r.View(p.ctx)
	p.must(err)
	b, err := p.r.VerifyBundle(p.ctx, v, out.Result.Turn)
	p.must(err)
	if len(b.Problems) != 1 || b.Problems[0].Type != dispatch.UnexpectedFile || b.Problems[0].Path != "planted.md" {
		t.Errorf("%v", b.Problems)
	}
	p.must(os.Remove(filepath.Join(p.dir, dir, "planted.md")))
	p.verified(out.Result.Turn)

	// A damaged bundle is restored completely from the record.
	p.must(os.RemoveAll(filepath.Join(p.dir, dir)))
	rec, err := p.r.OpenRun(p.ctx, p.state().Run(), "")
	p.must(err)
	f, err := rec.Files()
	p.must(err)
	if string(f.Files[dir+"hook/notes.txt"]) != "from a hook" {
		t.Error("the supplement is not on record")
	}
	for name, data := range f.Files {
		if strings.HasPrefix(name, dir) {
			p.write(name, string(data))
		}
	}
	p.verified(out.Result.Turn)

	// Acceptance removes the recorded files, and only those.
	p.stage(a.Turn, "summary", "done", "objections", review("OBJ-001"), "files_changed", []string{},
		"proposed_next_role", "pm")
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	if p.exists(dir) {
		t.Error("the bundle is still there")
	}
}

func TestReviewersSeeFilesAndLog(t *testing.T) {
	p := newProject(t, func(cfg *ojson.Object) {
		cfg.Set("prompts", ojson.NewObject("pm", ".planning/linked.md"))
	})
	secret := filepath.Join(t.TempDir(), "secret.txt")
	p.must(os.WriteFile(secret, []byte("SECRET"), 0o666))
	if err := os.Symlink(secret, filepath.Join(p.dir, ".planning/linked.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	a := p.assign("pm")
	if !strings.Contains(strings.Join(a.Warnings, "\n"),
		"the instructions of role pm at .planning/linked.md are left out") {
		t.Errorf("warnings %q", a.Warnings)
	}
	p.write(".planning/ROADMAP.md", "# Roadmap\r\n\r\n```\nship\n")
	p.must(os.Symlink(secret, filepath.Join(p.dir, ".planning/other.md")))
	p.write(wire.BundleDir(a.Turn.TurnID)+"/stdout.log", strings.Repeat("early\n", 100_000)+"\x1b[31mlate\n")
	p.stage(a.Turn, "summary", "planned", "objections", review("OBJ-001"),
		"files_changed", []string{".planning/ROADMAP.md", ".planning/other.md"}, "proposed_next_role", "pm")
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
	p.must(err)
	kept := p.read(dispatch.AuditDir(a.Turn.TurnID) + "/stdout.log")
	if len(kept) > 64<<10 || !strings.HasSuffix(kept, "late\n") {
		t.Errorf("%d bytes of the log are kept", len(kept))
	}
	if index := p.read(string(wire.DocDispatchIndex)); strings.Contains(index, a.Turn.TurnID) ||
		!strings.Contains(index, `"active_turns": {}`) {
		t.Errorf("the index still lists the turn: %s", index)
	}

	b := p.assign("pm")
	context := p.read(wire.BundleDir(b.Turn.TurnID) + "/CONTEXT.md")
	for _, want := range []string{
		"### Changed File Previews\n\n#### `.planning/ROADMAP.md`\n\n````\n# Roadmap\n\n```\nship\n````\n",
		"_1 of these files could not be read", "### Dispatch Log Excerpt", "\nlate\n",
	} {
		if !strings.Contains(context, want) {
			t.Errorf("the context lacks %q", want)
		}
	}
	prompt := p.read(wire.BundleDir(b.Turn.TurnID) + "/PROMPT.md")
	if strings.Contains(context+prompt, "SECRET") {
		t.Error("a file outside of the project was read")
	}
	if !strings.Contains(p.read(string(wire.DocDispatchIndex)), `"code": "prompt_template_unreadable"`) {
		t.Error("the index does not carry the warning")
	}
	_, err = p.r.ReissueTurn(p.ctx, runner.ReissueOptions{TurnID: b.Turn.TurnID, Reason: "again"})
	p.must(err)
	if index := p.read(string(wire.DocDispatchIndex)); strings.Contains(index, b.Turn.TurnID) {
		t.Errorf("the index lists a turn that was replaced: %s", index)
	}
}
