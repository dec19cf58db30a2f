// Tests of killed restores: afterwards the checkout has the old files or the new ones, the next command works, and
// nothing is left over.

package restore

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

const childVar = "RESTORE_CRASH_CHILD"

// TestRestoreChild is the process that is killed.
func TestRestoreChild(t *testing.T) {
	spec := os.Getenv(childVar)
	if spec == "" {
		t.Skip("only run by the crash tests")
	}
	dir, artifact, _ := strings.Cut(spec, "|")
	if artifact == "" {
		withRunner(t, dir, func(r *runner.Runner) {
			if _, err := r.View(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		return
	}
	bundle := ""
	artifact, bundle, _ = strings.Cut(artifact, "|")
	f, err := os.Open(artifact)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := into(t, dir, f, Options{Bundle: bundle, LockWait: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
}

func child(spec, fault string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRestoreChild$")
	cmd.Env = append(os.Environ(), childVar+"="+spec, faults.Env+"="+fault)
	return cmd
}

// crashCase is a checkout to restore into and the expected result.
type crashCase struct {
	name, dir, artifact, bundle string
	before, after               map[string]string
}

func crashCases(t *testing.T) []*crashCase {
	t.Helper()
	s := newSource(t)
	base := t.TempDir()
	file := func(name string, data []byte) string {
		p := filepath.Join(base, name)
		if err := os.WriteFile(p, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return p
	}
	fresh := &crashCase{
		name:     "fresh",
		dir:      s.clone,
		artifact: file("first.json", s.artifact),
		before:   governedBytes(t, s.clone),
		after:    governedBytes(t, s.dir),
	}
	behind := &crashCase{name: "behind", dir: filepath.Join(base, "behind")}
	testGit(t, base, "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, behind.dir)
	restoreOK(t, behind.dir, s.artifact, Options{})
	write(t, behind.dir, ".agentxchain/intake/old.json", "{}\n")
	behind.before = governedBytes(t, behind.dir)
	goOn(t, s.dir)
	e, next := exported(t, s.dir, ExportOptions{Bundle: filepath.Join(base, "run.bundle")})
	if e.Bundle == nil {
		t.Fatal("no bundle")
	}
	behind.artifact, behind.after = file("second.json", next), governedBytes(t, s.dir)
	whole := &crashCase{
		name:     "bundle",
		dir:      filepath.Join(base, "whole"),
		artifact: behind.artifact,
		bundle:   filepath.Join(base, "run.bundle"),
		after:    behind.after,
	}
	testGit(t, base, "clone", "-q", "-c", "maintenance.autoDetach=false", s.dir, whole.dir)
	whole.before = governedBytes(t, whole.dir)
	return []*crashCase{fresh, behind, whole}
}

// copied returns a copy of the checkout for one crash.
func (c *crashCase) copied(t *testing.T) (dir, spec string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("cp", "-a", c.dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	spec = dir + "|" + c.artifact
	if c.bundle != "" {
		spec += "|" + c.bundle
	}
	return dir, spec
}

// settled runs the next command, whichever it is, and checks the result.
func (c *crashCase) settled(t *testing.T, dir, where string, n int) (isNew bool) {
	t.Helper()
	switch n % 3 {
	case 0:
		withRunner(t, dir, func(r *runner.Runner) {
			if _, err := r.View(t.Context()); err != nil {
				t.Fatalf("%s: %s: status: %v", c.name, where, err)
			}
		})
	case 1:
		sound(t, dir)
	case 2:
		s, err := gitstore.Open(t.Context(), dir, gitstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tx, err := s.Begin(t.Context(), "test", time.Second)
		if err != nil {
			t.Fatalf("%s: %s: begin: %v", c.name, where, err)
		}
		_ = tx.Close()
		_ = s.Close()
	}
	files := governedBytes(t, dir)
	isOld, isNew := maps.Equal(files, c.before), maps.Equal(files, c.after)
	if isOld == isNew {
		t.Fatalf("%s: %s: neither old nor new: %v; %v", c.name, where, changedNames(files, c.before),
			changedNames(files, c.after))
	}
	sound(t, dir)
	if isNew && c.name == "behind" {
		kept, _ := filepath.Glob(filepath.Join(dir,
			".agentxchain/transactions/restore-*/kept/.agentxchain/intake/old.json"))
		if len(kept) != 1 {
			t.Errorf("%s: %s: the displaced file is not kept", c.name, where)
		}
	}
	if d := testGit(t, dir, "status", "--porcelain"); d != "" {
		t.Errorf("%s: %s: %s", c.name, where, d)
	}
	testGit(t, dir, "fsck", "--strict", "--no-dangling")
	if isOld {
		// What did not happen can be repeated.
		if out, err := child(dir+"|"+c.artifact+map[bool]string{true: "|" + c.bundle}[c.bundle != ""],
			"").CombinedOutput(); err != nil {
			t.Fatalf("%s: %s: again: %v\n%s", c.name, where, err, out)
		}
		if files := governedBytes(t, dir); !maps.Equal(files, c.after) {
			t.Errorf("%s: %s: again: %v", c.name, where, changedNames(files, c.after))
		}
	}
	return isNew
}

func restorePoints() []string {
	return []string{"lock.acquired", "restore.noted", "restore.staged:1", "restore.staged:4", "restore.objects",
		"restore.ready", "refs.update.before", "refs.update.after", "restore.ref", "restore.removed",
		"restore.placed:1", "restore.placed:5", "restore.before-state", "restore.after-state", "restore.swept"}
}

func long() bool { return os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" }

// TestRestoreKilledAtEveryPoint kills at each named point, and the command that
// completes it as well.
func TestRestoreKilledAtEveryPoint(t *testing.T) {
	testrepo.Thorough(t)
	reached, done := 0, 0
	for i, c := range crashCases(t) {
		for n, point := range restorePoints() {
			if !long() && (n+i)%5 != 0 {
				continue
			}
			dir, spec := c.copied(t)
			out, err := child(spec, point).CombinedOutput()
			if err == nil {
				continue // this case does not reach it
			}
			if !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%s: %s: %v\n%s", c.name, point, err, out)
			}
			reached++
			// The process that completes it may be killed too.
			if second := []string{"restore.placed:2", "restore.before-state", "restore.swept"}[n%3]; n%2 == 0 {
				_ = child(dir, second).Run()
			}
			if c.settled(t, dir, point, n+i) {
				done++
			}
			_ = os.RemoveAll(dir)
		}
	}
	if reached < 5 || done == 0 || done == reached {
		t.Errorf("%d points were reached, %d times the restore was completed", reached, done)
	}
}

// TestRestoreKilledAnyTime kills at random times.
func TestRestoreKilledAnyTime(t *testing.T) {
	testrepo.Thorough(t)
	kills := 6
	if long() {
		kills = 200
	}
	if n, err := strconv.Atoi(os.Getenv("RESTORE_KILLS")); err == nil {
		kills = n
	}
	cases := crashCases(t)
	rng := rand.New(rand.NewPCG(7, 11))
	// How long a restore takes here.
	_, spec := cases[1].copied(t)
	start := time.Now()
	if out, err := child(spec, "").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole := time.Since(start)
	outcome := map[bool]int{}
	for n := range kills {
		c := cases[n%len(cases)]
		dir, spec := c.copied(t)
		cmd := child(spec, "")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rng.Int64N(int64(whole) * 5 / 4))
		time.Sleep(after)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		outcome[c.settled(t, dir, "after "+after.String(), n)]++
		_ = os.RemoveAll(dir)
	}
	t.Logf("%d kills within %v: %d old, %d new", kills, whole, outcome[false], outcome[true])
}
