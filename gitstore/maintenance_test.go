// What git's own housekeeping does beside an operation: nothing that is recorded is lost to it.

package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

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

// maintenances are all the ways in which git removes what no ref reaches, at once.
var maintenances = map[string][][]string{
	"repack and prune": {{"repack", "-adq"}, {"prune", "--expire=now"}},
	"gc":               {{"gc", "-q", "--prune=now"}},
	"cruft":            {{"gc", "-q", "--cruft", "--prune=now"}},
	"geometric":        {{"repack", "-dq", "--geometric=2"}, {"prune", "--expire=now"}},
	"multi-pack-index": {{"multi-pack-index", "write"}, {"multi-pack-index", "expire"}, {"multi-pack-index", "repack", "--batch-size=0"},
		{"repack", "-adq"}, {"prune", "--expire=now"}},
	"maintenance": {{"maintenance", "run", "--quiet", "--task=incremental-repack", "--task=loose-objects"}, {"repack", "-adq"}, {"prune", "--expire=now"}},
}

// TestMaintenanceBeforeTheRefMoves cleans the repository up between the writing of an
// operation's objects and the move of its ref, when no ref reaches them.
func TestMaintenanceBeforeTheRefMoves(t *testing.T) {
	for _, format := range []string{FormatSHA1, FormatSHA256} {
		for _, linked := range []bool{false, true} {
			for name, commands := range maintenances {
				t.Run(format+"-"+map[bool]string{true: "linked", false: "main"}[linked]+"-"+name, func(t *testing.T) {
					t.Parallel()
					r := testrepo.New(t, testrepo.Options{ObjectFormat: format, LinkedWorktree: linked})
					d := scaffold(t, r.Dir)
					ran := 0
					d.store.opts.Publish = func(ctx context.Context, repo *Repository, m Move) error {
						for _, args := range commands {
							gitIn(t, r.Dir, args...)
						}
						ran++
						return publishAlone(ctx, repo, m)
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

// TestPackRemovedBeforeTheRefMoves takes the pack of an operation away although it is
// held, as no program of git's does: it is put back before the operation says that it
// is recorded.
func TestPackRemovedBeforeTheRefMoves(t *testing.T) {
	for _, format := range []string{FormatSHA1, FormatSHA256} {
		r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
		d := scaffold(t, r.Dir)
		d.store.opts.Publish = func(ctx context.Context, repo *Repository, m Move) error {
			// Only the ones on their way: git asks for the commit that a ref is to be at.
			for _, keep := range keeps(t, d) {
				for _, ext := range []string{".pack", ".idx", keepExt} {
					away := keep[:len(keep)-len(keepExt)] + ext
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

// TestLeftoverIsNotReliedOn has an operation need objects that are in the repository
// already, in a pack that no ref reaches: the leftover of an operation that lost.
func TestLeftoverIsNotReliedOn(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	d := scaffold(t, r.Dir)
	d.store.opts.Publish = func(context.Context, *Repository, Move) error {
		return errorf(CodeRefMoved, nil, "another was faster")
	}
	if _, _, err := d.try(initOp(false)); CodeOf(err) != CodeRefMoved {
		t.Fatal(err)
	}
	noKeeps(t, d)
	d.n = 0 // the very same operation once more
	d.store.opts.Publish = func(ctx context.Context, repo *Repository, m Move) error {
		gitIn(t, r.Dir, "repack", "-adq")
		gitIn(t, r.Dir, "prune", "--expire=now")
		return publishAlone(ctx, repo, m)
	}
	d.must(initOp(false))
	d.clean()
	r.Fsck()
}

// TestHoldOfAKilledCommand is given free by the next command, whose objects git then
// cleans up, and that of a command at work is not.
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
	e.store.opts.Publish = func(ctx context.Context, repo *Repository, m Move) error {
		at = len(keeps(t, e))
		if stale := repo.StaleHolds(true); len(stale) > 0 {
			t.Errorf("%v of a command at work", stale)
		}
		return publishAlone(ctx, repo, m)
	}
	e.must(e.acceptOp)
	if at != 1 {
		t.Errorf("%d holds in the middle of the next command", at)
	}
	noKeeps(t, e)
	e.clean()
}
