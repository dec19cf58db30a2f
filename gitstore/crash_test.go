package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	crashVar = "GITSTORE_CRASH_CHILD"
	crashGit = "GITSTORE_CRASH_GIT" // program to use as git
)

// TestCrashChild is the process that the crash tests kill.
func TestCrashChild(t *testing.T) {
	spec := os.Getenv(crashVar)
	if spec == "" {
		t.Skip("only run by the crash tests")
	}
	op, dir, _ := strings.Cut(spec, ":")
	d := openDriver(t, dir)
	if bin := os.Getenv(crashGit); bin != "" {
		d.store.repo.Git.Bin = bin
	}
	d.n = 50
	switch op {
	case "init":
		d.must(initOp(false))
	case "assign":
		d.must(assignOp)
	case "accept":
		d.must(d.acceptOp)
	case "open":
		tx, err := d.store.Begin(context.Background(), "open", 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = tx.Close()
	}
}

// crash runs op in a child that dies at the named point; it returns false when the child did not reach it.
func crash(t *testing.T, dir, op, point string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), crashVar+"="+op+":"+dir, faults.Env+"="+point)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s at %s: %v\n%s", op, point, err, out)
	}
	return true
}

func commitPoints() []string {
	points := []string{"commit.before-objects", "commit.after-objects", "commit.after-note", "refs.update.before",
		"refs.update.after", "commit.after-ref",
		"durable.append.before", "durable.append.written", "durable.append.after:2", "durable.write.before",
		"durable.write.renamed", "durable.write.after:2",
		"commit.after-documents", "commit.after-bundles", "commit.before-state", "commit.after-state",
		"commit.before-cache", "commit.after-cache"}
	for _, l := range []wire.Ledger{wire.LedgerHistory, wire.LedgerDecisions, wire.LedgerEvents, wire.LedgerTalk} {
		points = append(points, "commit.after-ledger-"+string(l))
	}
	return points
}

// snapshotFiles hashes every file below dir except git's and the lock.
func snapshotFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if rel == ".git" || rel == filepath.FromSlash(".agentxchain/locks") {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			out[filepath.ToSlash(rel)] = hex.EncodeToString(sum[:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// governedFiles is snapshotFiles of the files that a run records.
func governedFiles(t *testing.T, d *driver) map[string]string {
	t.Helper()
	out := snapshotFiles(t, d.Dir)
	maps.DeleteFunc(out, func(p, _ string) bool {
		return !slices.ContainsFunc(wire.Ledgers(), func(l wire.Ledger) bool { return l.Path() == p }) &&
			!slices.Contains(wire.Documents(), wire.Document(p))
	})
	return out
}

// TestCrashAtEveryPoint kills each operation at each boundary: afterwards the run is the old or the new one, and it
// can continue.
func TestCrashAtEveryPoint(t *testing.T) {
	testrepo.Thorough(t)
	for op, start := range map[string]*template{"init": idleProject, "assign": oneTurn, "accept": oneTurnAndNext} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			reached := 0
			for _, point := range commitPoints() {
				if crashOnce(t, start.copy(t), op, point) {
					reached++
				}
			}
			if reached < 10 {
				t.Errorf("only %d points were reached", reached)
			}
		})
	}
	t.Run("linked", func(t *testing.T) {
		t.Parallel()
		for _, point := range []string{"commit.after-objects", "commit.after-ref", "commit.after-ledger-talk",
			"commit.before-state", "commit.before-cache"} {
			d := scaffold(t, testrepo.New(t, testrepo.Options{LinkedWorktree: true}).Dir)
			oneTurnAndNext.make(d)
			if !crashOnce(t, d, "accept", point) {
				t.Errorf("%s was not reached", point)
			}
		}
	})
}

func crashOnce(t *testing.T, d *driver, op, point string) bool {
	t.Helper()
	before := governedFiles(t, d)
	_ = d.store.Close()
	if !crash(t, d.Dir, op, point) {
		return false
	}
	e := openDriver(t, d.Dir)
	e.n = 100
	// Looking changes nothing.
	disk := snapshotFiles(t, d.Dir)
	seen := e.view()
	if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) {
		t.Fatalf("%s at %s: a view changed the disk", op, point)
	}
	tx, err := e.store.Begin(context.Background(), "after the crash", time.Second)
	if err != nil {
		t.Fatalf("%s at %s: %+v", op, point, err)
	}
	after := tx.View()
	_ = tx.Close()
	if after.Op != seen.Op || string(after.StateBytes) != string(seen.StateBytes) {
		t.Errorf("%s at %s: the view said %s, the command %s", op, point, seen.Op.Short(), after.Op.Short())
	}
	if v := e.view(); len(v.Notices) > 0 {
		t.Errorf("%s at %s: still to do: %v", op, point, v.Notices)
	}
	if r := e.fsck("*"); !r.Clean() || hasLeftover(r.Report) {
		t.Fatalf("%s at %s:\n%s", op, point, r)
	}
	files := governedFiles(t, e)
	isOld := maps.Equal(files, before)
	isNew := after.Run != "" && newState(op, after)
	if isOld == isNew {
		t.Errorf("%s at %s: old %v, new %v", op, point, isOld, isNew)
	}
	// The run continues.
	switch {
	case op == "init" && isOld:
		e.must(initOp(false))
	case op == "accept" && isOld:
		e.must(e.acceptOp)
	case op == "assign" && isNew:
		e.must(e.acceptOp)
	}
	e.turns(1)
	e.clean()
	checkRows(t, e)
	return true
}

func hasLeftover(r *proof.Report) bool {
	return slices.ContainsFunc(r.Findings, func(f proof.Finding) bool { return f.Code == proof.FindLeftover })
}

func newState(op string, v *View) bool {
	switch op {
	case "init":
		return v.Run != ""
	case "assign":
		return v.State.ActiveTurns.Len() == 1
	}
	return v.State.ActiveTurns.Len() == 0 && v.Index.Accepted == 2
}

// checkRows checks that no row is duplicated.
func checkRows(t *testing.T, d *driver) {
	t.Helper()
	for _, l := range wire.Ledgers() {
		if !l.JSONL() || !d.store.exists(l.Path()) {
			continue
		}
		seen := make(map[string]bool)
		for n, line := range record.Lines([]byte(d.read(l.Path()))) {
			if seen[string(line)] {
				t.Errorf("%s line %d is there twice", l.Path(), n)
			}
			seen[string(line)] = true
		}
	}
}

// TestCrashWhileCompleting kills the command that completes the files.
func TestCrashWhileCompleting(t *testing.T) {
	testrepo.Thorough(t)
	for _, second := range []string{"durable.append.written", "commit.after-documents", "commit.before-state",
		"commit.after-state"} {
		d := newDriver(t)
		d.must(initOp(false))
		d.must(assignOp)
		_ = d.store.Close()
		if !crash(t, d.Dir, "accept", "commit.after-ref") || !crash(t, d.Dir, "open", second) {
			t.Fatalf("%s was not reached", second)
		}
		e := openDriver(t, d.Dir)
		e.n = 100
		e.turns(1)
		if v := e.view(); v.Index.Accepted != 2 || len(v.Notices) > 0 {
			t.Errorf("%s: %d accepted, %v", second, v.Index.Accepted, v.Notices)
		}
		e.clean()
		checkRows(t, e)
	}
}

// TestCrashWithoutCache loses the cache in the crash as well.
func TestCrashWithoutCache(t *testing.T) {
	testrepo.Thorough(t)
	for _, op := range []string{"assign", "accept"} {
		for _, point := range []string{"commit.after-ref", "commit.after-ledger-events", "commit.after-documents",
			"commit.before-state", "commit.after-state"} {
			d := newDriver(t)
			d.must(initOp(false))
			d.turns(1)
			if op == "accept" {
				d.must(assignOp)
			}
			_ = d.store.Close()
			if !crash(t, d.Dir, op, point) {
				t.Fatalf("%s was not reached", point)
			}
			if err := d.store.dropCache(); err != nil {
				t.Fatal(err)
			}
			e := openDriver(t, d.Dir)
			e.n = 100
			if !newState(op, e.view()) {
				t.Errorf("%s at %s: the recorded operation is not seen", op, point)
			}
			if op == "assign" {
				e.must(e.acceptOp)
			}
			e.turns(1)
			e.clean()
			checkRows(t, e)
		}
	}
}

// copyTo copies the project as it is to another work tree.
func (d *driver) copyTo(dir string) {
	d.t.Helper()
	if err := os.CopyFS(filepath.Join(dir, ".agentxchain"), os.DirFS(d.path(".agentxchain"))); err != nil {
		d.t.Fatal(err)
	}
	for _, name := range []string{wire.ConfigPath, "TALK.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(d.read(name)), 0o666); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestOtherWorktreeGoesOn has two work trees alternate on one run.
func TestOtherWorktreeGoesOn(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{LinkedWorktree: true})
	d := scaffold(t, r.Dir)
	d.must(initOp(false))
	d.copyTo(r.Main)
	e := openDriver(t, r.Main)
	for i := range 4 {
		d.n, e.n = 100*i, 100*i+50
		d.turns(1)
		e.turns(2)
		if i == 2 {
			gitIn(t, r.Dir, "gc", "-q")
		}
	}
	d.turns(1)
	if v := d.view(); v.Index.Accepted != 13 {
		t.Errorf("%d accepted", v.Index.Accepted)
	}
	d.clean()
	checkRows(t, d)
}

// TestOtherWorktreeAmendsAfterAKill kills an acceptance in one work tree at each boundary of updating its files;
// then the other work tree amends that very row. The files of the first are at an operation in between.
func TestOtherWorktreeAmendsAfterAKill(t *testing.T) {
	testrepo.Serving(t)
	for _, point := range []string{"commit.after-ref", "commit.after-ledger-" + string(wire.LedgerHistory),
		"commit.after-documents", "commit.before-state", "commit.after-state", "commit.before-cache"} {
		r := testrepo.New(t, testrepo.Options{LinkedWorktree: true})
		d := scaffold(t, r.Dir)
		d.must(initOp(false))
		d.copyTo(r.Main)
		d.turns(1)
		d.must(assignOp)
		_ = d.store.Close()
		if !crash(t, r.Dir, "accept", point) {
			t.Fatalf("%s was not reached", point)
		}
		e := openDriver(t, r.Main)
		e.n = 100
		e.must(e.checkpointOp)
		d = openDriver(t, r.Dir)
		d.n = 200
		if v, err := d.store.View(context.Background()); err != nil || v.Index.Accepted != 2 {
			t.Fatalf("%s: %v, %v", point, v, err)
		}
		d.turns(1)
		d.clean()
		checkRows(t, d)
	}
}

// TestLeftFilesGo checks that the next command removes what an interrupted write left beside a file of ours, even
// when every file is as recorded. A file with a similar name stays.
func TestLeftFilesGo(t *testing.T) {
	d := oneTurnAndNext.copy(t)
	left := []string{".agentxchain/.state.json6358468527908967616", ".agentxchain/dispatch/.index.json12", ".TALK.md7"}
	stay := []string{".agentxchain/.state.json", ".agentxchain/.state.json12.bak", "state.json12"}
	for _, name := range append(left, stay...) {
		d.write(name, "{\n")
	}
	d.must(d.acceptOp)
	for _, name := range left {
		if _, err := os.Lstat(d.path(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range stay {
		if got := d.read(name); got != "{\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestFirstRowsThatAPowerCutTook checks that the first rows of a run are written again when only their length
// reached the disk.
func TestFirstRowsThatAPowerCutTook(t *testing.T) {
	for _, left := range []func(full string) string{
		func(full string) string { return strings.Repeat("\x00", len(full)) },
		func(full string) string { return full[:len(full)/2] + strings.Repeat("\x00", len(full)/3) },
	} {
		d := newDriver(t)
		_ = d.store.Close()
		if !crash(t, d.Dir, "init", "commit.before-state") {
			t.Fatal("not reached")
		}
		name := wire.LedgerEvents.Path()
		full := d.read(name)
		if full == "" {
			t.Fatal("no event was written")
		}
		d.write(name, left(full))
		e := openDriver(t, d.Dir)
		e.must(assignOp)
		if got := e.read(name); !strings.HasPrefix(got, full) {
			t.Errorf("the events are %q", got)
		}
		e.clean()
		checkRows(t, e)
	}
}
