// git's own housekeeping beside an operation: nothing recorded is lost to it.

package gitstore

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func keeps(t *testing.T, d *driver) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(d.store.repo.ObjectsDir, "pack", "*.keep"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func noKeeps(t *testing.T, d *driver) {
	t.Helper()
	if left := keeps(t, d); len(left) > 0 {
		t.Errorf("still held: %v", left)
	}
}

// maintenances are all the ways in which git immediately removes unreachable objects.
var maintenances = map[string][][]string{
	"repack and prune": {{"repack", "-adq"}, {"prune", "--expire=now"}},
	"gc":               {{"gc", "-q", "--prune=now"}},
	"cruft":            {{"-c", "gc.cruftPacks=true", "gc", "-q", "--prune=now"}}, // since git 2.37
	"geometric":        {{"repack", "-dq", "--geometric=2"}, {"prune", "--expire=now"}},
	"multi-pack-index": {{"multi-pack-index", "write"}, {"multi-pack-index", "expire"},
		{"multi-pack-index", "repack", "--batch-size=0"},
		{"repack", "-adq"}, {"prune", "--expire=now"}},
	"maintenance": {{"maintenance", "run", "--quiet", "--task=incremental-repack", "--task=loose-objects"},
		{"repack", "-adq"}, {"prune", "--expire=now"}},
}

// TestMaintenanceBeforeTheRefMoves cleans the repository between the writing of an operation's objects and the move
// of its ref, when no ref reaches them.
func TestMaintenanceBeforeTheRefMoves(t *testing.T) {
	testrepo.Serving(t)
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		for _, linked := range []bool{false, true} {
			for name, commands := range maintenances {
				t.Run(format+"-"+map[bool]string{true: "linked", false: "main"}[linked]+"-"+name, func(t *testing.T) {
					t.Parallel()
					r := testrepo.New(t, testrepo.Options{ObjectFormat: format, LinkedWorktree: linked})
					d := scaffold(t, r.Dir)
					ran := 0
					d.store.opts.Publish = func(ctx context.Context, repo *git.Repository, m decision.Move) error {
						for _, args := range commands {
							gitIn(t, r.Dir, args...)
						}
						ran++
						return decision.Alone(ctx, repo, m)
					}
					d.must(initOp(false))
					d.turns(2)
					d.clean()
					r.Fsck()
					if ran != 5 {
						t.Errorf("cleaned up %d times", ran)
					}
					gitIn(t, r.Dir, "gc", "-q", "--prune=now")
					d.clean()
					noKeeps(t, d)
				})
			}
		}
	}
}

// TestMaintenanceWhileAPackIsWritten cleans at every step of writing a pack.
func TestMaintenanceWhileAPackIsWritten(t *testing.T) {
	for name, commands := range maintenances {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testrepo.New(t, testrepo.Options{})
			repo := opened(t, r)
			r.Git("gc", "-q") // there is nothing to index without a pack
			objs := smallCommit(t, repo.ObjectFormat, "slowly", 3)
			clean := func() {
				for _, args := range commands {
					gitIn(t, r.Dir, args...)
				}
			}
			h, err := git.BuildPack(filesBehind(repo).Packs.Dir, repo.ObjectFormat, 0o755, len(objs),
				func(p *pack.Writer) error {
					for _, o := range objs {
						clean()
						if err := p.Add(o); err != nil {
							return err
						}
					}
					clean()
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			clean()
			r.Git("update-ref", "refs/agentxchain/runs/x", string(objs[len(objs)-1].OID))
			h.Release()
			clean()
			r.Fsck()
		})
	}
}

// TestPackRemovedBeforeTheRefMoves removes the pack of an operation although it is held, as no program of git's
// does: it is restored before the operation reports that it is recorded.
func TestPackRemovedBeforeTheRefMoves(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
		d := scaffold(t, r.Dir)
		d.store.opts.Publish = func(ctx context.Context, repo *git.Repository, m decision.Move) error {
			// Only the pending ones: git needs the commit that a ref is to be at.
			for _, keep := range keeps(t, d) {
				for _, ext := range []string{".pack", ".idx", git.KeepExt} {
					away := keep[:len(keep)-len(git.KeepExt)] + ext
					defer func() { _ = os.Remove(away) }()
				}
			}
			_, err := repo.Git.Run(ctx, nil, "update-ref", m.Ref.Name, string(m.Ref.New))
			return err
		}
		d.must(initOp(false))
		d.turns(1)
		d.clean()
		r.Fsck()
		noKeeps(t, d)
	}
}

// TestLeftoverIsNotReliedOn has an operation need objects that are already in the repository, in a pack that no ref
// reaches: the leftover of an operation that lost.
func TestLeftoverIsNotReliedOn(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	d := scaffold(t, r.Dir)
	d.store.opts.Publish = func(context.Context, *git.Repository, decision.Move) error {
		return fail.Errorf(fail.CodeRefMoved, nil, "another was faster")
	}
	if _, _, err := d.try(initOp(false)); fail.CodeOf(err) != fail.CodeRefMoved {
		t.Fatal(err)
	}
	noKeeps(t, d)
	d.n = 0 // the very same operation again
	d.store.opts.Publish = func(ctx context.Context, repo *git.Repository, m decision.Move) error {
		gitIn(t, r.Dir, "repack", "-adq")
		gitIn(t, r.Dir, "prune", "--expire=now")
		return decision.Alone(ctx, repo, m)
	}
	d.must(initOp(false))
	d.clean()
	r.Fsck()
}

// TestHoldOfAKilledCommand checks that the next command releases the hold of a killed command, and git cleans up
// its objects, but not the hold of a running command.
func TestHoldOfAKilledCommand(t *testing.T) {
	d := oneTurnAndNext.copy(t)
	_ = d.store.Close()
	if !crash(t, d.Dir, "accept", "commit.before-ref") {
		t.Fatal("not reached")
	}
	e := openDriver(t, d.Dir)
	e.n = 100
	if n := len(keeps(t, e)); n != 1 {
		t.Fatalf("%d holds after the kill", n)
	}
	if stale := e.store.repo.StaleHolds(false); len(stale) != 1 {
		t.Fatalf("%v", stale)
	}
	at := 0
	e.store.opts.Publish = func(ctx context.Context, repo *git.Repository, m decision.Move) error {
		at = len(keeps(t, e))
		if stale := repo.StaleHolds(true); len(stale) > 0 {
			t.Errorf("%v of a command at work", stale)
		}
		return decision.Alone(ctx, repo, m)
	}
	e.must(e.acceptOp)
	if at != 1 {
		t.Errorf("%d holds in the middle of the next command", at)
	}
	noKeeps(t, e)
	e.clean()
}

// TestHoldOfAGitThatGoesOn checks that a hold stays while a git that the killed command had started is alive: it
// may be about to move a ref to the held objects.
func TestHoldOfAGitThatGoesOn(t *testing.T) {
	d := oneTurnAndNext.copy(t)
	_ = d.store.Close()
	if !crash(t, d.Dir, "accept", "commit.before-ref") {
		t.Fatal("not reached")
	}
	e := openDriver(t, d.Dir)
	repo := e.store.repo
	found := keeps(t, e)
	if len(found) != 1 {
		t.Fatalf("%d holds after the kill", len(found))
	}
	hold, err := git.ReadLock(found[0])
	if err != nil {
		t.Fatal(err)
	}
	n := &git.LockNote{LockOwner: hold.LockOwner}
	n.Name, n.Acquired = n.Token, time.Now()
	if err := repo.WriteLockNote(n); err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("git", "-C", d.Dir, "cat-file", "--batch")
	orphan.Env = append(os.Environ(), "AGENTXCHAIN_GIT_LOCKS="+n.Token)
	stdin, err := orphan.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	if stale := repo.StaleHolds(true); len(stale) > 0 {
		t.Errorf("%v was given free while its git was at work", stale)
	}
	_ = stdin.Close()
	if err := orphan.Wait(); err != nil {
		t.Fatal(err)
	}
	if stale := repo.StaleHolds(true); len(stale) != 1 {
		t.Errorf("%v after the end of its git", stale)
	}
	noKeeps(t, e)
}

// TestHoldThatAPowerCutTook has hold files whose contents were lost: one without a pack beside it is removed once
// it is old enough, any other may be a person's.
func TestHoldThatAPowerCutTook(t *testing.T) {
	testrepo.Serving(t)
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	dir := filepath.Join(repo.ObjectsDir, "pack")
	for _, c := range []struct {
		name, data string
		age        time.Duration
		index      bool
		goes       bool
	}{
		{"empty", "", time.Minute, false, true},
		{"zeros", "\x00\x00\x00", time.Minute, false, true},
		{"half", `{"owner_pid":12,"acq`, time.Minute, false, true},
		{"of now", "", 0, false, false},
		{"of a clock that is ahead", "", -time.Hour, false, true},
		{"with its pack", "", time.Minute, true, false},
		{"of a person", "precious\n", time.Minute, false, false},
	} {
		pack := filepath.Join(dir, "pack-"+strings.Repeat("1", 40))
		for _, ext := range []string{git.KeepExt, ".pack", ".idx"} {
			data := ""
			if ext == git.KeepExt {
				data = c.data
			} else if ext == ".idx" && !c.index {
				continue
			}
			if err := os.WriteFile(pack+ext, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-c.age)
			if err := os.Chtimes(pack+ext, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if stale := repo.StaleHolds(true); (len(stale) == 1) != c.goes {
			t.Errorf("%s: %v", c.name, stale)
		}
		if _, err := os.Lstat(pack + ".pack"); (err != nil) != c.goes {
			t.Errorf("%s: the pack: %v", c.name, err)
		}
		for _, ext := range []string{git.KeepExt, ".pack", ".idx"} {
			_ = os.Remove(pack + ext)
		}
	}
}

// TestIndexThatAPowerCutLeft has the unfinished index of a pack whose .keep was lost: it is removed once it is old
// enough.
func TestIndexThatAPowerCutLeft(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	pack := filepath.Join(repo.ObjectsDir, "pack", "pack-"+strings.Repeat("1", 40))
	for _, c := range []struct {
		name, with string
		age        time.Duration
		goes       bool
	}{
		{"alone", "", time.Minute, true},
		{"of now", "", 0, false},
		{"of a pack that is there", ".idx", time.Minute, false},
		{"of a pack that is held", git.KeepExt, time.Minute, false},
	} {
		var made []string
		for _, ext := range []string{".pack", ".idx.new", c.with} {
			if ext == "" {
				continue
			}
			made = append(made, pack+ext)
			if err := os.WriteFile(pack+ext, []byte("of a person\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-c.age)
			if err := os.Chtimes(pack+ext, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if stale := repo.StaleHolds(false); (len(stale) == 1) != c.goes {
			t.Errorf("%s: %v is stale", c.name, stale)
		}
		repo.StaleHolds(true)
		for _, name := range made {
			if _, err := os.Lstat(name); (err != nil) != c.goes {
				t.Errorf("%s: %s: %v", c.name, filepath.Base(name), err)
			}
			_ = os.Remove(name)
		}
	}
}

// TestMaintenanceDuringACheckpoint has git's own hooks clean the repository in the middle of its commit: when the
// files are stored, and when the commit is, a moment before the branch moves.
func TestMaintenanceDuringACheckpoint(t *testing.T) {
	for _, o := range []testrepo.Options{{}, {LinkedWorktree: true}, {ObjectFormat: object.FormatSHA256}} {
		for hook, times := range map[string]int{"pre-commit": 100, "reference-transaction": 3} {
			t.Run(o.Name()+"-"+hook, func(t *testing.T) {
				t.Parallel()
				r := testrepo.New(t, o)
				repo := opened(t, r)
				counted := filepath.Join(t.TempDir(), "counted")
				// As another process would: without the index of the commit.
				script := "#!/bin/sh\n[ \"${1:-prepared}\" = prepared ] || exit 0\necho x >>" + counted +
					"\n[ $(grep -c x " + counted + ") -le " + strconv.Itoa(times) + " ] || exit 0\n" +
					"unset GIT_INDEX_FILE\ngit repack -adq && git prune --expire=now\n"
				if err := os.WriteFile(filepath.Join(repo.CommonDir, "hooks", hook), []byte(script),
					0o755); err != nil {
					t.Fatal(err)
				}
				r.Write("staged.txt", "of the person\n")
				r.Git("add", "staged.txt")
				r.Write("deep/down/new.txt", "new\n")
				r.Write("a.txt", "changed\n")
				before := r.Git("rev-parse", "HEAD")
				oid, err := gitcommit.Paths(context.Background(), repo, []string{"deep/down/new.txt", "a.txt"},
					"checkpoint")
				if err != nil {
					t.Fatal(err)
				}
				if ran, err := os.ReadFile(counted); err != nil || len(ran) < 2 {
					t.Errorf("the hook ran %d times, %v", len(ran)/2, err)
				}
				if err := os.Remove(filepath.Join(repo.CommonDir, "hooks", hook)); err != nil {
					t.Fatal(err)
				}
				if got := r.Git("rev-parse", string(oid)+"^"); got != before ||
					r.Git("rev-parse", "HEAD") != string(oid) {
					t.Errorf("%s is on %s, want %s", oid, got, before)
				}
				if got := r.Git("reflog", "--format=%H", "-2", "HEAD"); got != string(oid)+"\n"+before {
					t.Errorf("reflog %q", got)
				}
				gitIn(t, r.Dir, "gc", "-q", "--prune=now")
				if got := r.Git("status", "--porcelain"); got != "A  staged.txt" {
					t.Errorf("status %q", got)
				}
				if out := r.Git("fsck", "--full", "--strict", "--no-dangling"); out != "" {
					t.Errorf("git fsck: %s", out)
				}
				if left, _ := filepath.Glob(filepath.Join(repo.ObjectsDir, "pack", "*.keep")); len(left) > 0 {
					t.Errorf("left %v", left)
				}
			})
		}
	}
}

// TestMaintenanceRemovesALeftoverOfACommit makes a commit of objects that are already in the repository, in a pack
// that no ref reached, which a running repack removes afterwards.
func TestMaintenanceRemovesALeftoverOfACommit(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
		repo := opened(t, r)
		r.Write("a.txt", "changed\n")
		r.Git("add", "a.txt")
		tree := r.Git("write-tree")
		commit := r.Git("commit-tree", tree, "-p", "HEAD", "-m", "checkpoint")
		ids := r.Git("rev-list", "--objects", "--no-object-names", commit, "--not", "HEAD") + "\n"
		leftover := filepath.Join(repo.ObjectsDir, "pack",
			"pack-"+r.GitInput(ids, "pack-objects", "-q", filepath.Join(repo.ObjectsDir, "pack", "pack")))
		r.Git("prune-packed", "-q")
		r.Git("update-ref", "HEAD", commit)
		if err := gitcommit.Keep(context.Background(), repo, object.OID(commit), nil); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".idx", ".pack"} {
			if err := os.Remove(leftover + ext); err != nil {
				t.Fatal(err)
			}
		}
		if out := r.Git("fsck", "--full", "--strict", "--no-dangling"); out != "" {
			t.Errorf("git fsck: %s", out)
		}
		if got := r.Git("show", "HEAD:a.txt"); got != "changed" {
			t.Errorf("%q", got)
		}
	}
}

// TestMaintenanceIndexesAPackThatGoes removes packs that a multi-pack-index names, as when one is written from an
// outdated list: the next command removes the index.
func TestMaintenanceIndexesAPackThatGoes(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		d := scaffold(t, testrepo.New(t, testrepo.Options{ObjectFormat: format}).Dir)
		d.must(initOp(false))
		d.turns(3)
		dir := filepath.Join(d.store.repo.ObjectsDir, "pack")
		packs, err := filepath.Glob(filepath.Join(dir, "*.pack"))
		if err != nil || len(packs) < 3 {
			t.Fatal(packs, err)
		}
		gitIn(t, d.Dir, "repack", "-aq") // everything again; the earlier packs stay
		gitIn(t, d.Dir, "multi-pack-index", "write")
		d.store.repo.DropStaleMidx()
		if _, err := os.Stat(filepath.Join(dir, pack.MidxName)); err != nil {
			t.Fatalf("one that holds was removed: %v", err)
		}
		named := pack.MidxPacks(filepath.Join(dir, pack.MidxName))
		for _, p := range packs {
			if !slices.Contains(named, filepath.Base(p)) {
				t.Errorf("%s is not among %v", p, named)
			}
			for _, ext := range []string{".idx", ".pack"} {
				if err := os.Remove(strings.TrimSuffix(p, ".pack") + ext); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = d.store.Close()
		e := openDriver(t, d.Dir)
		e.n = 100
		e.turns(1)
		e.clean()
		gitIn(t, d.Dir, "multi-pack-index", "verify")
		gitIn(t, d.Dir, "fsck", "--full", "--strict")
	}
}
