// Fetching and pushing, and making durable what came of it.

package git

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// fetchTries is how often a fetch is made whose pack housekeeping takes before git has given it its name:
// git prune --expire=now removes any tmp_pack.
const fetchTries = 5

// Fetch runs fetches by a git, one after another while they work, and makes durable what came, of one that failed as
// well. remote is the one whose tracking names move, "" for none; in is what each reads on its standard input.
// Error: fetch_too_large.
func (r *Repository) Fetch(ctx context.Context, by *Git, remote string, in []byte, fetches ...[]string) error {
	limit, unfinished := r.fetchLimit(ctx), r.unfinishedPacks()
	by = by.writing(limit)
	return r.tracking(by, "fetch", remote, func(by *Git) (err error) {
		for _, args := range fetches {
			for range fetchTries {
				if _, err = by.Run(ctx, in, args...); !prunedWhileFetching(err) {
					break
				}
			}
			if err != nil {
				break
			}
		}
		if err != nil {
			err = r.endFetch(err, remote, limit, unfinished)
		}
		if serr := r.syncFetched(remote); err == nil {
			return serr
		}
		return err
	})
}

// Push runs a push by a git, which moves the tracking names of the remote to what it has taken, and returns what it
// printed.
func (r *Repository) Push(ctx context.Context, by *Git, remote string, args ...string) (out []byte, err error) {
	err = r.tracking(by, "push", remote, func(by *Git) (err error) {
		out, err = by.Run(ctx, nil, args...)
		// A lock that got its name by then must not be there again after a power cut, when the note of it is gone.
		if serr := SyncAll(nil, r.trackingDirs(remote)); err == nil && serr != nil {
			return fail.Errorf(fail.CodeUnreadable, serr, "the directories of refs cannot be synced")
		}
		return err
	})
	return out, err
}

// tracking has work start gits that move tracking names of a remote, under a note of the locks that they take.
func (r *Repository) tracking(by *Git, what, remote string, work func(*Git) error) error {
	dir, ok := r.trackingDir(remote)
	if !ok {
		return work(by)
	}
	return r.UnderNote(&LockNote{
		LockOwner: NewOwner(what),
		Locks:     []GitLock{{Path: filepath.Join(r.CommonDir, "packed-refs.lock")}},
		Below:     []string{dir},
	}, func(mark func(*Git) *Git) error { return work(mark(by)) })
}

// prunedWhileFetching reports that a git failed because the pack was gone that it had just written. There is no exit
// status for it.
func prunedWhileFetching(err error) bool {
	var ge *GitError
	return errors.As(err, &ge) && strings.Contains(ge.Stderr, "unable to rename temporary") &&
		strings.Contains(ge.Stderr, "No such file or directory")
}

// trackingDir is where git keeps the tracking names of a remote as files.
func (r *Repository) trackingDir(remote string) (dir string, ok bool) {
	name := "refs/remotes/" + remote
	return filepath.Join(r.CommonDir, filepath.FromSlash(name)), remote != "" && r.RefFormat == "files" && SafeRefName(name)
}

// trackingDirs are that directory and those below it.
func (r *Repository) trackingDirs(remote string) (dirs []string) {
	if top, ok := r.trackingDir(remote); ok {
		return dirsBelow(top)
	}
	return nil
}

// syncFetched makes what a git has brought survive a power cut: git syncs files, and not the directories that name
// them. It is due before a ref is moved to what came. Synced are the directories of objects, and those of the
// tracking names of the remote. Error: unreadable.
func (r *Repository) syncFetched(remote string) error {
	list, err := os.ReadDir(r.ObjectsDir)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the objects cannot be listed")
	}
	dirs := []string{r.ObjectsDir}
	for _, e := range list {
		if b, err := hex.DecodeString(e.Name()); e.IsDir() && (e.Name() == "pack" || err == nil && len(b) == 1) {
			dirs = append(dirs, filepath.Join(r.ObjectsDir, e.Name()))
		}
	}
	if err := SyncAll(nil, append(dirs, r.trackingDirs(remote)...)); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the directories of objects and refs cannot be synced")
	}
	return nil
}
