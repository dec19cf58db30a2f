// Tests of restoring honest artifacts: to another machine and back, requirements of the checkout, and later
// commits.

package restore

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func restoreOK(t *testing.T, dir string, artifact []byte, opt Options) *Outcome {
	t.Helper()
	out, err := into(t, dir, bytes.NewReader(artifact), opt)
	if err != nil {
		t.Fatalf("%v (%s)", err, codeIn(err))
	}
	return out
}

func TestThereAndBack(t *testing.T) {
	s := newSource(t)
	out := restoreOK(t, s.clone, s.artifact, Options{})
	if !out.Done || out.Plan.Relation != gitstore.RestoreAdopts || out.Plan.Op == "" || out.Plan.Kept != "" {
		t.Errorf("%+v", out.Plan)
	}
	if a, b := governedBytes(t, s.dir), governedBytes(t, s.clone); !maps.Equal(a, b) {
		t.Errorf("other files: %v", changedNames(a, b))
	}
	if d := testGit(t, s.clone, "status", "--porcelain"); d != "" {
		t.Errorf("status: %s", d)
	}
	sound(t, s.clone)
	goOn(t, s.clone)
	_, back := exported(t, s.clone, ExportOptions{})
	if out = restoreOK(t, s.dir, back, Options{}); out.Plan.Relation != gitstore.RestoreContinues {
		t.Errorf("%+v", out.Plan)
	}
	if a, b := governedBytes(t, s.dir), governedBytes(t, s.clone); !maps.Equal(a, b) {
		t.Errorf("other files: %v", changedNames(a, b))
	}
	sound(t, s.dir)
	goOn(t, s.dir)
	sound(t, s.dir)

	// Restoring an older artifact is a person's decision; what it displaces is kept, and the newer operations stay
	// in the run's history.
	before := governedBytes(t, s.dir)
	if _, err := into(t, s.dir, bytes.NewReader(s.artifact), Options{}); codeIn(err) != CodeTurnDisplaced {
		t.Fatalf("a turn at work was not asked about: %v", err)
	}
	giveUp := func(string) (bool, error) { return true, nil }
	if out = restoreOK(t, s.dir, s.artifact, Options{GiveUp: giveUp}); out.Plan.Relation != gitstore.RestoreReplaces ||
		out.Plan.Kept == "" {
		t.Fatalf("%+v", out.Plan)
	}
	kept, err := os.ReadFile(filepath.Join(s.dir, out.Plan.Kept, string(wire.DocState)))
	if err != nil || string(kept) != before[string(wire.DocState)] {
		t.Errorf("the displaced state is not kept: %v", err)
	}
	if d := testGit(t, s.dir, "status", "--porcelain"); d != "" {
		t.Errorf("status: %s", d)
	}
	sound(t, s.dir)
	// The next command sees the restored state, not the newer one.
	withRunner(t, s.dir, func(r *runner.Runner) {
		v, err := r.View(t.Context())
		if err != nil || len(v.Notices) > 0 || v.Op != out.Plan.Op {
			t.Errorf("%v %v", v, err)
		}
	})
	goOn(t, s.dir)
	sound(t, s.dir)
	// Again: there is nothing left to do.
	_, again := exported(t, s.dir, ExportOptions{})
	if out = restoreOK(t, s.dir, again, Options{}); out.Plan.Relation != gitstore.RestoreSame ||
		len(out.Plan.Actions) > 0 {
		t.Errorf("%+v", out.Plan)
	}
}

// TestRestoreReplacesWhatIsThere has files that are removed, files that stay, and files that become directories.
func TestRestoreReplacesWhatIsThere(t *testing.T) {
	s := newSource(t)
	write(t, s.dir, ".agentxchain/intake/a/b.txt", "in a directory\n")
	write(t, s.dir, ".agentxchain/missions/plan", "in place of a directory\n")
	write(t, s.dir, ".planning/\u00e9 \"quoted\".md", "odd name\n")
	write(t, s.dir, ".planning/bin.dat", "\x00\xff\xfe binary \xc0")
	testGit(t, s.dir, "add", "-A")
	testGit(t, s.dir, "commit", "-qm", "more")
	_, artifact := exported(t, s.dir, ExportOptions{})
	testGit(t, s.clone, "pull", "-q")
	write(t, s.clone, ".git/info/exclude", ".agentxchain/\n")
	write(t, s.clone, ".agentxchain/reviews/old/x.md", "goes\n")
	write(t, s.clone, ".agentxchain/reports/report-x.md", "generated, stays\n")
	if err := os.RemoveAll(filepath.Join(s.clone, ".agentxchain/missions")); err != nil {
		t.Fatal(err)
	}
	write(t, s.clone, ".agentxchain/missions/plan/deep/x", "goes\n")
	if err := os.RemoveAll(filepath.Join(s.clone, ".agentxchain/intake")); err != nil {
		t.Fatal(err)
	}
	write(t, s.clone, ".agentxchain/intake/a", "goes\n")
	out := restoreOK(t, s.clone, artifact, Options{})
	a, b := governedBytes(t, s.dir), governedBytes(t, s.clone)
	if b[".agentxchain/reports/report-x.md"] == "" {
		t.Error("a generated report is gone")
	}
	delete(b, ".agentxchain/reports/report-x.md")
	if !maps.Equal(a, b) {
		t.Errorf("other files: %v", changedNames(a, b))
	}
	for p, want := range map[string]string{
		".agentxchain/reviews/old/x.md":     "goes\n",
		".agentxchain/missions/plan/deep/x": "goes\n",
		".agentxchain/intake/a":             "goes\n",
	} {
		if got, err := os.ReadFile(filepath.Join(s.clone, out.Plan.Kept, p)); err != nil || string(got) != want {
			t.Errorf("%s is not kept: %q %v", p, got, err)
		}
	}
	sound(t, s.clone)
}

func TestPlanChangesNothing(t *testing.T) {
	s := newSource(t)
	before := digestTree(t, s.clone)
	out := restoreOK(t, s.clone, s.artifact, Options{DryRun: true})
	if out.Done || len(out.Plan.Actions) == 0 || out.Plan.Op != "" {
		t.Errorf("%+v", out.Plan)
	}
	if now := digestTree(t, s.clone); !maps.Equal(before, now) {
		t.Errorf("changed %v", changedNames(before, now))
	}
}

func TestCheckoutIsRefused(t *testing.T) {
	s := newSource(t)
	for _, c := range []struct {
		code, says string
		make       func(dir string)
	}{
		{wire.CodeDirtyTree, "a.txt (modified)", func(dir string) { write(t, dir, "a.txt", "changed\n") }},
		{wire.CodeDirtyTree, "a.txt (staged)", func(dir string) {
			write(t, dir, "a.txt", "changed\n")
			testGit(t, dir, "add", "a.txt")
		}},
		{wire.CodeDirtyTree, "d/e.txt (deleted)", func(dir string) { _ = os.Remove(filepath.Join(dir, "d/e.txt")) }},
		{wire.CodeDirtyTree, ".planning/ROADMAP.md (modified)", func(dir string) {
			write(t, dir, ".planning/ROADMAP.md", "changed\n")
		}},
		{wire.CodeDirtyTree, ".planning/new.md (untracked)", func(dir string) {
			write(t, dir, ".planning/new.md", "x\n")
		}},
		{wire.CodeDirtyTree, `".planning/x\x1b[31m\n" (untracked)`, func(dir string) {
			write(t, dir, ".planning/x\x1b[31m\n", "x\n")
		}},
		{CodeHeadMismatch, "belongs to commit", func(dir string) {
			write(t, dir, "more.txt", "x\n")
			testGit(t, dir, "add", "more.txt")
			testGit(t, dir, "commit", "-q", "-m", "more")
		}},
		{CodeHeadMismatch, "belongs to commit", func(dir string) {
			testGit(t, dir, "checkout", "-q", "--orphan", "other")
			testGit(t, dir, "rm", "-q", "--cached", "a.txt")
			testGit(t, dir, "commit", "-q", "-m", "other")
		}},
		{CodeProjectMismatch, "other", func(dir string) {
			data, err := os.ReadFile(filepath.Join(dir, wire.ConfigPath))
			if err != nil {
				t.Fatal(err)
			}
			o, err := ojson.DecodeObject(data)
			if err != nil {
				t.Fatal(err)
			}
			o.Object("project").Set("id", "other")
			write(t, dir, wire.ConfigPath, string(ojson.Pretty(o)))
		}},
		{gitstore.CodeNotProject, "", func(dir string) { _ = os.Remove(filepath.Join(dir, wire.ConfigPath)) }},
		{fail.CodeNotRepository, "", func(dir string) { _ = os.RemoveAll(filepath.Join(dir, ".git")) }},
		{fail.CodeLocked, "", func(dir string) {
			write(t, dir, wire.LockPath, "{}")
			lockAsAnother(t, dir)
		}},
	} {
		dir := filepath.Join(t.TempDir(), "clone")
		testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, dir)
		c.make(dir)
		before := digestTree(t, dir)
		_, err := into(t, dir, bytes.NewReader(s.artifact), Options{})
		if codeIn(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v (%s), want %s %s", err, codeIn(err), c.code, c.says)
		}
		if now := digestTree(t, dir); !maps.Equal(before, now) {
			t.Errorf("%s: changed %v", c.code, changedNames(before, now))
		}
	}
}

// lockAsAnother leaves a lock of another live process: this one's parent.
func lockAsAnother(t *testing.T, dir string) {
	t.Helper()
	lock, err := lockfile.Acquire(t.Context(), filepath.Join(dir, filepath.FromSlash(wire.LockPath)), "test", 0)
	if err != nil {
		// The file is torn for now; it is replaced by a complete one.
		_ = os.Remove(filepath.Join(dir, filepath.FromSlash(wire.LockPath)))
		if lock, err = lockfile.Acquire(t.Context(), filepath.Join(dir, filepath.FromSlash(wire.LockPath)), "test",
			0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = lock.Release() })
}

func TestOnto(t *testing.T) {
	s := newSource(t)
	idle := filepath.Join(t.TempDir(), "idle")
	testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, idle)
	testGit(t, idle, "remote", "remove", "origin") // otherwise its run would be the one to continue
	withRunner(t, idle, func(r *runner.Runner) {
		if _, err := r.InitRun(t.Context(), runner.InitRunOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	_, quiet := exported(t, idle, ExportOptions{}) // no turn is active
	_ = testGit
	for _, c := range []struct {
		name     string
		artifact []byte
		make     func(dir string)
		code     string
		deciding string
	}{
		{"product, no turn", quiet, func(dir string) { write(t, dir, "a.txt", "x\n") }, "", ""},
		{"product, a turn", s.artifact, func(dir string) { write(t, dir, "a.txt", "x\n") }, CodeContradicted, "a.txt"},
		{"planning, other bytes", quiet, func(dir string) {
			write(t, dir, planned, "x\n")
		}, CodeContradicted, planned},
		{"planning, there and back", quiet, func(dir string) {
			data, _ := os.ReadFile(filepath.Join(dir, planned))
			write(t, dir, planned, "x\n")
			testGit(t, dir, "commit", "-qam", "there")
			write(t, dir, planned, string(data))
			write(t, dir, "a.txt", "x\n")
		}, "", ""},
		{"history rewritten", quiet, func(dir string) {
			write(t, dir, "a.txt", "x\n")
			testGit(t, dir, "commit", "-qam", "x", "--amend")
			write(t, dir, "a.txt", "y\n")
		}, CodeHeadMismatch, ""},
	} {
		dir := filepath.Join(t.TempDir(), "clone")
		testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, dir)
		c.make(dir)
		testGit(t, dir, "commit", "-qam", "more")
		if _, err := into(t, dir, bytes.NewReader(c.artifact), Options{}); codeIn(err) != CodeHeadMismatch {
			t.Errorf("%s: without --onto: %v", c.name, err)
		}
		before := digestTree(t, dir)
		out, err := into(t, dir, bytes.NewReader(c.artifact), Options{Onto: true})
		if codeIn(err) != c.code {
			t.Errorf("%s: %v (%s)", c.name, err, codeIn(err))
		}
		if err != nil {
			if c.deciding != "" && !strings.Contains(err.Error(), c.deciding) {
				t.Errorf("%s: %v does not name %s", c.name, err, c.deciding)
			}
			if now := digestTree(t, dir); !maps.Equal(before, now) {
				t.Errorf("%s: changed %v", c.name, changedNames(before, now))
			}
			continue
		}
		if out.Head == nil || out.Head.Relation != headAhead || out.Head.Commits < 1 {
			t.Errorf("%s: %+v", c.name, out.Head)
		}
		sound(t, dir)
	}
}

// TestInitiativesAreRefused: only the artifact of one run can be restored.
func TestInitiativesAreRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, coordinatorFile,
		`{"schema_version":"0.1","project":{"id":"co","name":"Co"},"repos":{"gone":{"path":"gone"}},"workstreams":{"core":{}},"routing":{"planning":{}}}`)
	write(t, dir, multiDir+"/state.json",
		`{"super_run_id":"srun_1","status":"active","phase":"planning","repo_runs":{"gone":{"status":"linked"}}}`)
	_, data := exported(t, dir, ExportOptions{})
	passes(t, data)
	s := newSource(t)
	before := digestTree(t, s.clone)
	_, err := into(t, s.clone, bytes.NewReader(data), Options{})
	if codeIn(err) != CodeKind || !strings.Contains(err.Error(), "initiative") {
		t.Errorf("%v (%s)", err, codeIn(err))
	}
	if now := digestTree(t, s.clone); !maps.Equal(before, now) {
		t.Errorf("changed %v", changedNames(before, now))
	}
}

// TestProjectsWithoutARun can also be restored, even over one that has a run; the run then stays recorded.
func TestProjectsWithoutARun(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	if _, err := testproject.Init(t.Context(), r.Dir, runner.ProjectOptions{ID: "proj"}); err != nil {
		t.Fatal(err)
	}
	r.CommitAll("governed")
	s := &source{dir: r.Dir, clone: filepath.Join(t.TempDir(), "clone")}
	r.Git("clone", "-q", "-c", "maintenance.autoDetach=false", r.Dir, s.clone)
	_, artifact := exported(t, s.dir, ExportOptions{})
	assign(t, s.dir)
	_, s.artifact = exported(t, s.dir, ExportOptions{})
	if out := restoreOK(t, s.clone, artifact, Options{}); out.Plan.Relation != gitstore.RestoreIdle || out.Run != "" {
		t.Errorf("%+v", out.Plan)
	}
	sound(t, s.clone)
	write(t, s.dir, ".agentxchain/staging/turn_x/empty", "")
	if err := os.Remove(filepath.Join(s.dir, ".agentxchain/staging/turn_x/empty")); err != nil {
		t.Fatal(err)
	}
	ref := runRef(t, s.artifact)
	tip := testGit(t, s.dir, "rev-parse", ref)
	restoreOK(t, s.dir, artifact, Options{GiveUp: func(string) (bool, error) { return true, nil }})
	if now := testGit(t, s.dir, "rev-parse", ref); now != tip {
		t.Errorf("the run's ref moved to %s", now)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".agentxchain/staging")); err == nil {
		t.Error("empty directories are left")
	}
	sound(t, s.dir)
	assign(t, s.dir)
	sound(t, s.dir)
}
