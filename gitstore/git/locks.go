// Lock files that a killed git of ours has left behind. git removes its locks when it ends, also on SIGTERM, but
// not when it is killed, and then every later git that needs the lock fails.
//
// Before a git of ours takes locks, a note is written to the git directory: who starts it, when, and which locks it
// may take. The note is removed when that git has ended by itself. A lock is removed only when it is proven to be
// such a git's: the note names it, its owner and the git have ended, the lock is not older than the note, and it
// holds what that git was to write, or a beginning of that and has not changed while no git is at work here. The
// note is on disk before the git starts, so that a power cut cannot leave a lock without it.

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// GitLock is a lock file that git may take.
type GitLock struct {
	Path  string
	Wrote object.OID // what git writes into it, "" when unknown
}

// LockingGit calls work to start gits that take locks, under a note of them. The git that mark returns works under
// the note. If the note fails, nothing is started: a leftover lock would have no owner. Errors: those of work,
// git_failed.
func (r *Repository) LockingGit(what string, locks []GitLock, work func(mark func(*Git) *Git) error) error {
	return r.UnderNote(&LockNote{LockOwner: NewOwner(what), Locks: locks}, work)
}

func (r *Repository) UnderNote(n *LockNote, work func(mark func(*Git) *Git) error) error {
	n.Acquired = time.Now()
	n.Name = n.Token
	if err := r.WriteLockNote(n); err != nil {
		return fail.Errorf(fail.CodeGitFailed, err, "git was not started, as the locks it takes cannot be noted").
			WithHint("%s", fail.WritableHint(r.CommonDir, err))
	}
	err := work(func(on *Git) *Git {
		g := on.In(on.Dir)
		g.Env = append(dropVars(g.Env, []string{lockNoteVar}), lockNoteVar+"="+n.Token)
		return g
	})
	// A git that ended by itself may have failed to remove its lock, on a failing disk, and still have exited
	// successfully. If the lock belongs to another process, git says so.
	anothers := errors.Is(err, fs.ErrExist) || strings.Contains(ComplaintOf(err), "File exists")
	if !anothers && n.left() {
		_ = r.sealLockNote(n) // the old note says nearly the same
	} else if err == nil || n.sync() == nil { // work has synced its own results, unless it failed
		r.DropLockNote(n.Name)
	}
	return err
}

// SettleCommit settles the commit that a git was told to make when its process was killed. notice goes to the
// person; wait says that a command of another work tree has to settle it.
type SettleCommit func(ctx context.Context, r *Repository, n *LockNote) (notice string, wait bool)

// SweepLocks removes the locks that killed processes of ours have left behind, has the commits settled that they
// were making, and says so. The caller holds the lock of the project, of the workspace or of sync.
func (r *Repository) SweepLocks(ctx context.Context, settle SettleCommit) (notices []string) {
	for _, n := range r.LockNotes() {
		if ctx.Err() != nil {
			return notices
		}
		if !n.over() {
			continue
		}
		done := true
		for _, l := range n.locks() {
			removed, wait := r.sweepLock(ctx, n, l)
			if removed {
				notices = append(notices,
					fmt.Sprintf("removed %s, which a git of %s had left behind when it was killed", l.Path, n.label()))
			}
			done = done && !wait
		}
		for _, path := range n.spares() {
			if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && n.covers(fi) && !IsOpen(path) {
				_ = RemoveLock(path, fi)
			}
		}
		if n.Commit != nil {
			notice, wait := settle(ctx, r, n)
			if notice != "" {
				notices = append(notices, notice)
			} else if wait {
				done = false
			}
		}
		if done && n.sync() == nil {
			r.DropLockNote(n.Name)
		}
	}
	return notices
}

// sweepLock removes one lock if it is proven to be left behind; wait says that it may be proven later.
func (r *Repository) sweepLock(ctx context.Context, n *LockNote, l GitLock) (removed, wait bool) {
	judged, err := os.Lstat(l.Path)
	if err != nil || !judged.Mode().IsRegular() || !n.covers(judged) {
		return false, false
	}
	if l.Wrote != "" {
		data, err := ReadBounded(l.Path, MaxPointer)
		text := string(bytes.TrimRight(data, "\n"))
		switch {
		case err != nil || !BegunText(text, string(l.Wrote)):
			return false, false // another process moves the ref elsewhere
		case text == string(l.Wrote):
			return RemoveLock(l.Path, judged) == nil, false
		}
	}
	if filepath.Ext(l.Path) == KeepExt && !isFetchedKeep(l.Path) {
		return false, false
	}
	// Its content does not tell its owner.
	if still := LockQuiet - time.Since(judged.ModTime()); still > 0 {
		select {
		case <-ctx.Done():
			return false, true
		case <-time.After(min(still, LockQuiet)):
		}
	}
	now, err := os.Lstat(l.Path)
	if err != nil {
		return false, false
	}
	for _, other := range r.LockNotes() {
		if other.Name != n.Name && other.names(l.Path) && !other.over() {
			return false, true
		}
	}
	if !os.SameFile(judged, now) || StatOf(judged) != StatOf(now) || IsOpen(l.Path) || r.foreignGit() {
		return false, true
	}
	return RemoveLock(l.Path, judged) == nil, false
}

// BegunText reports whether a power cut may have left this of a text: nothing, its beginning, or zeros.
func BegunText(left, text string) bool {
	return strings.HasPrefix(text, strings.TrimRight(left, "\x00"))
}

// foreignGit reports whether a git that is not ours may be at work in the repository.
func (r *Repository) foreignGit() bool {
	busy, known := gitAtWork(func(p gitProcess) bool { return !p.ours && r.mayHold(p) })
	return known && busy > 0
}

// mayHold reports whether a git may be at work in the repository.
func (r *Repository) mayHold(p gitProcess) bool {
	if p.dir == "" {
		return true // another user's: its repository is unknown
	}
	return Within(r.GitDir, p.dir) || Within(r.CommonDir, p.dir) || r.TopLevel != "" && Within(r.TopLevel, p.dir)
}

// RefLocks returns the locks that git takes to move refs.
func (r *Repository) RefLocks(updates []RefUpdate) []GitLock {
	if r.RefFormat == "reftable" {
		locks := []GitLock{{Path: filepath.Join(r.CommonDir, "reftable", "tables.list.lock")}}
		if r.GitDir != r.CommonDir {
			locks = append(locks, GitLock{Path: filepath.Join(r.GitDir, "reftable", "tables.list.lock")})
		}
		return locks
	}
	var locks []GitLock
	for _, u := range updates {
		locks = append(locks, GitLock{
			Path:  filepath.Join(r.CommonDir, filepath.FromSlash(u.Name)+".lock"),
			Wrote: u.New,
		})
		if u.New.IsZero() {
			locks[len(locks)-1].Wrote = ""
			locks = append(locks, GitLock{Path: filepath.Join(r.CommonDir, "packed-refs.lock")})
		}
		if strings.HasPrefix(u.Name, "refs/heads/") {
			locks = append(locks, GitLock{Path: filepath.Join(r.GitDir, "HEAD.lock")})
		}
	}
	return locks
}

// CommitLocks returns the locks that git takes to commit on the current branch, and for the maintenance that it
// starts afterwards.
func (r *Repository) CommitLocks() []GitLock {
	locks := []GitLock{
		{Path: filepath.Join(r.GitDir, "index.lock")},
		{Path: filepath.Join(r.GitDir, "HEAD.lock")},
		{Path: filepath.Join(r.ObjectsDir, "maintenance.lock")},
	}
	if r.RefFormat == "reftable" {
		return append(locks, r.RefLocks(nil)...)
	}
	if ref := r.headRef(); ref != "" {
		locks = append(locks, GitLock{Path: filepath.Join(r.CommonDir, filepath.FromSlash(ref)+".lock")})
	}
	return locks
}

// LockFile is an existing lock file of git's.
type LockFile struct {
	Path  string
	Age   time.Duration
	Owner string // the command of ours whose git may have made it, "" for none
	Left  bool   // its owner has provably ended
}

// GitLocks lists the lock files that keep git from moving refs, committing and changing the configuration here.
func (r *Repository) GitLocks() []LockFile {
	notes := r.LockNotes()
	seen := make(map[string]bool)
	var out []LockFile
	look := func(path string) {
		fi, err := os.Lstat(path)
		if err != nil || fi.IsDir() || seen[path] {
			return
		}
		seen[path] = true
		l := LockFile{Path: path, Age: max(0, time.Since(fi.ModTime()))}
		for _, n := range notes {
			if n.names(path) && n.covers(fi) {
				l.Owner, l.Left = n.label(), n.over()
			}
		}
		out = append(out, l)
	}
	for _, l := range r.CommitLocks() {
		look(l.Path)
	}
	for _, name := range []string{"packed-refs.lock", "config.lock", "shallow.lock"} {
		look(filepath.Join(r.CommonDir, name))
	}
	_ = filepath.WalkDir(filepath.Join(r.CommonDir, filepath.FromSlash(strings.TrimSuffix(RefSpace, "/"))),
		func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
				look(path)
			}
			if errors.Is(err, fs.ErrPermission) {
				return fs.SkipDir
			}
			return nil
		})
	return out
}
