package restore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Another commit with the same files counts as the same: amended or squashed, whether the exported commit is known
// here or only its tree.
func TestSameFilesAreTheSamePlace(t *testing.T) {
	testrepo.Serving(t)
	s := newSource(t)
	testGit(t, s.clone, "commit", "-q", "--amend", "-m", "in other words")
	out := restoreOK(t, s.clone, s.artifact, Options{})
	if !out.SameTree || out.Head != nil {
		t.Errorf("%+v", out)
	}
	sound(t, s.clone)
	goOn(t, s.clone)
	sound(t, s.clone)

	// The exported commit was amended before anyone fetched it. A turn that began at it cannot continue elsewhere;
	// a run without one can.
	for _, active := range []bool{true, false} {
		s := newSource(t)
		if !active {
			s.dir = s.clone
			testGit(t, s.dir, "remote", "remove", "origin") // otherwise its run would be the one to continue
			withRunner(t, s.dir, func(r *runner.Runner) {
				if _, err := r.InitRun(t.Context(), runner.InitRunOptions{}); err != nil {
					t.Fatal(err)
				}
			})
		}
		_, artifact := exported(t, s.dir, ExportOptions{})
		testGit(t, s.dir, "commit", "-q", "--amend", "--allow-empty", "-m", "in other words")
		dir := filepath.Join(t.TempDir(), "clone")
		testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", "--depth=1", "file://"+s.dir, dir)
		_, err := into(t, dir, bytes.NewReader(artifact), Options{})
		want := ""
		if active {
			want = fail.CodeBaseMissing
		}
		if codeIn(err) != want {
			t.Errorf("active %v: %v (%s), want %q", active, err, codeIn(err), want)
		}
	}
}

// What the artifact does not touch stays; a plan lists everything in the way.
func TestChangesOfTheCheckout(t *testing.T) {
	s := newSource(t)
	write(t, s.clone, "notes.txt", "mine\n")
	out := restoreOK(t, s.clone, s.artifact, Options{Plan: true})
	if out.Done || len(out.Obstacles) > 0 || len(out.Keep) != 1 || out.Keep[0].Path != "notes.txt" ||
		out.Keep[0].Turn == "" {
		t.Errorf("%+v", out)
	}
	out = restoreOK(t, s.clone, s.artifact, Options{})
	if data, err := os.ReadFile(filepath.Join(s.clone, "notes.txt")); !out.Done || err != nil ||
		string(data) != "mine\n" {
		t.Errorf("%q %v", data, err)
	}
	sound(t, s.clone)

	dir := filepath.Join(t.TempDir(), "clone")
	testGit(t, t.TempDir(), "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, dir)
	write(t, dir, "b.txt", "more\n")
	testGit(t, dir, "add", "b.txt")
	testGit(t, dir, "commit", "-qm", "more")
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, ".planning/new.md", "x\n")
	write(t, dir, "notes.txt", "mine\n")
	out = restoreOK(t, dir, s.artifact, Options{Plan: true})
	if out.Done || len(out.Obstacles) != 2 || out.Obstacles[0].Code != CodeHeadMismatch ||
		out.Obstacles[1].Code != wire.CodeDirtyTree || len(out.Obstacles[1].Problems) != 2 || len(out.Keep) != 1 {
		t.Errorf("%+v", out.Obstacles)
	}
}
