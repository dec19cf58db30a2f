// Fetching and pushing, and making the results durable.

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

// fetchTries is how often to try a fetch whose pack housekeeping removes before git has renamed it: git prune
// --expire=now removes any tmp_pack.
const fetchTries = 5

// Fetch runs fetches with a git, one after another while they succeed, and makes durable what arrived, even from a
// failed one. remote is the one whose tracking refs move, "" for none; in is the standard input of each. Error:
// fetch_too_large.
func (r *Repository) Fetch(ctx context.Context, by *Git, remote string, in []byte, fetches ...[]string) error {
	return r.fetch(ctx, by, remote, nil, in, fetches)
}

// FetchLocal runs the fetch from another repository of this machine that moves the refs of the locks, and makes durable
// what came.
func (r *Repository) FetchLocal(ctx context.Context, locks []GitLock, args []string) error {
	return r.fetch(ctx, r.Git, "", locks, nil, [][]string{args})
}

func (r *Repository) fetch(ctx context.Context, by *Git, remote string, locks []GitLock, in []byte,
	fetches [][]string,
) error {
	limit, unfinished := r.fetchLimit(ctx), r.unfinishedPacks()
	by = by.writing(limit)
	note := &LockNote{LockOwner: NewOwner("fetch"), Locks: locks}
	if Within(r.CommonDir, r.packDir()) {
		note.Packs = r.packDir()
	}
	return r.tracking(by, note, remote, func(by *Git) (err error) {
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
		serr := r.syncFetched(remote)
		if len(locks) > 0 {
			serr = errors.Join(serr, note.sync()) // their removal has to last before the note goes
		}
		if err == nil {
			return serr
		}
		return err
	})
}

// Push runs a push with a git, which moves the remote's tracking refs to what the remote accepted, and returns what
// it printed.
func (r *Repository) Push(ctx context.Context, by *Git, remote string, args ...string) (out []byte, err error) {
	err = r.tracking(by, &LockNote{LockOwner: NewOwner("push")}, remote, func(by *Git) (err error) {
		out, err = by.Run(ctx, nil, args...)
		// A lock that was renamed by then must not reappear after a power cut, when its note is gone.
		if serr := SyncAll(nil, r.trackingDirs(remote)); err == nil && serr != nil {
			return fail.Errorf(fail.CodeUnreadable, serr, "the directories of refs cannot be synced")
		}
		return err
	})
	return out, err
}

// tracking calls work to start gits that move tracking refs of a remote, under the note, to which it adds their locks.
func (r *Repository) tracking(by *Git, note *LockNote, remote string, work func(*Git) error) error {
	if dir, ok := r.trackingDir(remote); ok {
		note.Locks = append(note.Locks, GitLock{Path: filepath.Join(r.CommonDir, "packed-refs.lock")})
		note.Below = []string{dir}
	}
	if note.Locks == nil && note.Packs == "" {
		return work(by)
	}
	return r.UnderNote(note, func(mark func(*Git) *Git) error { return work(mark(by)) })
}

// prunedWhileFetching reports whether a git failed because the pack it had just written was gone. There is no exit
// status for this.
func prunedWhileFetching(err error) bool {
	said := ComplaintOf(err)
	return strings.Contains(said, "unable to rename temporary") && strings.Contains(said, "No such file or directory")
}

// trackingDir is the directory of a remote's tracking refs, where they are files.
func (r *Repository) trackingDir(remote string) (dir string, ok bool) {
	name := "refs/remotes/" + remote
	return filepath.Join(r.CommonDir, filepath.FromSlash(name)), remote != "" && r.RefFormat == "files" && SafeRefName(name)
}

// trackingDirs returns that directory and those below it.
func (r *Repository) trackingDirs(remote string) (dirs []string) {
	if top, ok := r.trackingDir(remote); ok {
		return dirsBelow(top)
	}
	return nil
}

// syncFetched makes what a git has fetched survive a power cut: git syncs files but not the directories that name
// them. Call it before a ref is moved to the new objects. It syncs the directories of objects and of the remote's
// tracking refs. Error: unreadable.
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
