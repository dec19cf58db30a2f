// The note of the locks that a git of ours may take, and of the commit that it makes (docs/storage.md#gits-locks).

package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	lockNotes = "gitlocks" // below PrivateName in the common git directory

	// storeMarker is in the environment of every git of ours.
	storeMarker = "AGENTXCHAIN_STORE=1"

	// lockNoteVar marks a git that works under a note, for the process that judges the note.
	lockNoteVar = "AGENTXCHAIN_GIT_LOCKS"

	maxLockNote = 1 << 20
	// lockGrain is the possible granularity of a file system's times.
	lockGrain = 2 * time.Second
)

// LockNote is the note of one git process.
type LockNote struct {
	LockOwner
	Name string
	// ended says that the owner has seen the git end, and that Locks are those it may have left.
	ended bool
	// written is the time of the note by the clock of the file system, like the times of locks: the system clock
	// may differ.
	written time.Time
	Locks   []GitLock
	// Below lists directories of refs in which the git may take locks under names unknown in advance.
	Below []string
	// Packs is the directory of packs in which the git may leave the ".keep" of a pack that it fetches, "" for none.
	Packs string
	// Commit is what the git was to commit, nil for any other command.
	Commit *UnderCommit
}

func (n *LockNote) encode() []byte {
	locks := make([]any, len(n.Locks))
	for i, l := range n.Locks {
		locks[i] = []any{l.Path, string(l.Wrote)}
	}
	o, err := ojson.DecodeObject(n.LockOwner.Encode())
	if err != nil {
		return nil
	}
	if n.ended {
		o.Set("ended", true)
	}
	o.Set("locks", locks)
	if len(n.Below) > 0 {
		o.Set("below", n.Below)
	}
	if n.Packs != "" {
		o.Set("packs", n.Packs)
	}
	if c := n.Commit; c != nil {
		o.Set("commit", ojson.NewObject("git_dir", c.GitDir, "before", string(c.Before), "paths", c.Paths))
	}
	return ojson.Pretty(o)
}

// sync makes the removal of the note's locks durable: a power cut must not bring one back after the note is gone.
func (n *LockNote) sync() error {
	for _, dir := range n.dirs() {
		if err := durable.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// dirs returns the directories of the locks.
func (n *LockNote) dirs() (dirs []string) {
	for _, l := range n.Locks {
		dirs = append(dirs, filepath.Dir(l.Path))
	}
	for _, dir := range n.Below {
		dirs = append(dirs, dirsBelow(dir)...)
	}
	if n.Packs != "" {
		dirs = append(dirs, n.Packs)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// dirsBelow returns a directory and those below it.
func dirsBelow(top string) (dirs []string) {
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

func (n *LockNote) names(path string) bool {
	return slices.ContainsFunc(n.Locks, func(l GitLock) bool { return l.Path == path }) ||
		slices.ContainsFunc(n.Below, func(dir string) bool { return Within(dir, path) })
}

// maxBelow bounds how many names below a directory of a note are examined.
const maxBelow = 1 << 18

// fetchedKeep is what git writes into the ".keep" of a pack while it fetches: this, its process and its host. git
// removes the file when the refs have moved, unless it is killed; with it the pack is never repacked.
const fetchedKeep = "fetch-pack "

// isFetchedKeep reports whether the file is such a ".keep", or what a kill or a power cut leaves of one: its beginning,
// with zeros.
func isFetchedKeep(path string) bool {
	data, err := ReadBounded(path, MaxPointer)
	left := strings.TrimRight(strings.ReplaceAll(string(data), "\x00", ""), "\n")
	return err == nil && (strings.HasPrefix(left, fetchedKeep) || strings.HasPrefix(fetchedKeep, left))
}

// keeps lists the files that the git may have left beside the packs that it fetched.
func (n *LockNote) keeps() (keeps []GitLock) {
	if n.Packs == "" {
		return nil
	}
	names, _ := filepath.Glob(filepath.Join(n.Packs, "pack-*"+KeepExt))
	for _, name := range names {
		if fi, err := os.Lstat(name); err == nil && fi.Mode().IsRegular() && n.covers(fi) && isFetchedKeep(name) {
			keeps = append(keeps, GitLock{Path: name})
		}
	}
	return keeps
}

// locks returns the locks that the note names, and those found below its directories.
func (n *LockNote) locks() []GitLock {
	all, seen := append(slices.Clone(n.Locks), n.keeps()...), 0
	for _, dir := range n.Below {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if seen++; seen > maxBelow {
				return fs.SkipAll
			}
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".lock") {
				all = append(all, GitLock{Path: path})
			}
			return nil
		})
	}
	return all
}

// left reports whether one of the locks exists.
func (n *LockNote) left() bool {
	for _, l := range n.locks() {
		if _, err := os.Lstat(l.Path); err == nil {
			return true
		}
	}
	return len(n.spares()) > 0
}

// spares lists the second index files of a git commit that was to take index.lock.
func (n *LockNote) spares() []string {
	for _, l := range n.Locks {
		if filepath.Base(l.Path) == "index.lock" {
			found, err := filepath.Glob(filepath.Join(filepath.Dir(l.Path), "next-index-*.lock"))
			if err == nil {
				return found
			}
		}
	}
	return nil
}

// WriteLockNote notes which locks a git that is about to start may leave behind, or has left. The note is durable
// before that git starts: the name of a lock may survive a power cut even if nothing was synced.
func (r *Repository) WriteLockNote(n *LockNote) error {
	root, err := OpenPrivate(r.CommonDir, lockNotes, true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if n.Commit != nil && !n.ended {
		r.keepIndex(n)
	}
	return durable.WriteFileRoot(root, n.Name, n.encode(), 0o644)
}

// sealLockNote notes that the git has ended. Locks that existed before it belong to other processes.
func (r *Repository) sealLockNote(n *LockNote) error {
	fi, err := os.Lstat(filepath.Join(r.CommonDir, PrivateName, lockNotes, n.Name))
	if err != nil {
		return err
	}
	n.written = fi.ModTime()
	n.Locks = slices.DeleteFunc(n.locks(), func(l GitLock) bool {
		fi, err := os.Lstat(l.Path)
		return err == nil && !n.covers(fi)
	})
	n.Below, n.Packs = nil, ""
	n.ended = true
	return r.WriteLockNote(n)
}

// DropLockNote removes a note whose git has ended.
func (r *Repository) DropLockNote(name string) {
	root, err := OpenPrivate(r.CommonDir, lockNotes, false)
	if err != nil {
		return
	}
	_ = root.Remove(name + keptIndex)
	_ = root.Remove(name)
	_ = root.Close()
}

// DropLockNotes removes the directory of the notes if there are none.
func (r *Repository) DropLockNotes() {
	if root, err := OpenPrivate(r.CommonDir, "", false); err == nil {
		_ = root.Remove(lockNotes)
		_ = root.Close()
	}
}

// LockNotes reads all notes; a damaged note proves nothing and is removed once it is old.
func (r *Repository) LockNotes() []*LockNote {
	root, err := OpenPrivate(r.CommonDir, lockNotes, false)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil
	}
	var out []*LockNote
	for _, e := range list {
		if of, ok := strings.CutSuffix(e.Name(), keptIndex); ok {
			if _, err := root.Lstat(of); errors.Is(err, fs.ErrNotExist) {
				dropOld(root, e) // its note was removed first
			}
			continue
		}
		data, written, err := readNote(root, e.Name())
		if err != nil {
			continue
		}
		if n := r.decodeLockNote(e.Name(), data, written); n != nil {
			out = append(out, n)
		} else {
			dropOld(root, e)
		}
	}
	return out
}

// Committing reports whether another process of ours is committing in this work tree.
func (r *Repository) Committing() bool {
	return slices.ContainsFunc(r.LockNotes(), func(n *LockNote) bool {
		return n.Commit != nil && n.Commit.GitDir == r.GitDir && !n.ended && !n.Dead()
	})
}

func dropOld(root *os.Root, e fs.DirEntry) {
	if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > lockMaxAge {
		_ = root.Remove(e.Name())
	}
}

func readNote(root *os.Root, name string) (data []byte, written time.Time, err error) {
	f, st, err := OpenIn(root, name)
	if err != nil {
		return nil, written, err
	}
	defer func() { _ = f.Close() }()
	data, err = ReadLimited(f, st.Size, maxLockNote)
	return data, time.Unix(0, st.MTime), err
}

func (r *Repository) decodeLockNote(name string, data []byte, written time.Time) *LockNote {
	o, err := ojson.DecodeObject(data)
	if err != nil || o.String("token") != name {
		return nil
	}
	n := &LockNote{Name: name, ended: o.Bool("ended"), written: written}
	n.LockOwner, _ = DecodeOwner(o)
	if n.Acquired.IsZero() || n.PID <= 0 {
		return nil
	}
	for _, row := range o.Array("locks") {
		t, ok := RowTexts(row, 2)
		if !ok || !r.mayLock(t[0]) {
			return nil // we did not write this
		}
		n.Locks = append(n.Locks, GitLock{Path: t[0], Wrote: object.OID(t[1])})
	}
	for _, dir := range o.Strings("below") {
		if !r.mayLock(filepath.Join(dir, "x.lock")) {
			return nil
		}
		n.Below = append(n.Below, dir)
	}
	if n.Packs = o.String("packs"); n.Packs != "" && !r.mayLock(filepath.Join(n.Packs, "pack-x"+KeepExt)) {
		return nil
	}
	if c := o.Object("commit"); c != nil {
		n.Commit = &UnderCommit{
			GitDir: c.String("git_dir"),
			Before: object.OID(c.String("before")),
			Paths:  c.Strings("paths"),
		}
		if !n.Commit.valid(r.ObjectFormat) {
			return nil
		}
	}
	return n
}

// mayLock reports whether a path is a lock file in a git directory of the repository, or the ".keep" of a pack
// there, reached without a link.
func (r *Repository) mayLock(path string) bool {
	keep := filepath.Dir(path) == r.packDir() && filepath.Ext(path) == KeepExt
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || !keep && !strings.HasSuffix(path, ".lock") {
		return false
	}
	for _, dir := range []string{r.GitDir, r.CommonDir} {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Dir(path))
		return err != nil || Within(dir, real)
	}
	return false
}

// over reports whether the owner of the note and the git it started have ended; it waits a little for a git whose
// owner was killed. A note sealed before that means that the maintenance of a git commit is still at work, which
// may take long.
func (n *LockNote) over() bool {
	if n.ended {
		return n.overWithin(0)
	}
	return n.overWithin(KillGrace)
}

func (n *LockNote) overWithin(wait time.Duration) bool {
	if !n.here() || !n.ended && !n.Dead() {
		return false
	}
	for until := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		busy, known := gitAtWork(func(p gitProcess) bool { return p.note == n.Token })
		switch {
		case !known:
			// Processes cannot be examined here: age decides.
			return time.Since(n.Acquired) > lockMaxAge
		case busy == 0:
			return true
		case !time.Now().Before(until):
			return false
		}
	}
}

// covers reports whether a file dates from the time in which the note's git ran: since the note, or until the note
// was sealed.
func (n *LockNote) covers(fi fs.FileInfo) bool {
	if n.ended {
		return !fi.ModTime().After(n.written.Add(lockGrain))
	}
	return !fi.ModTime().Before(n.written.Add(-lockGrain))
}

// UnderCommit is a commit that git was told to make.
type UnderCommit struct {
	GitDir string     // of the work tree
	Before object.OID // where HEAD was
	Paths  []string   // paths to be committed, project-relative
}

// maxNotedPaths bounds the paths of a note, in bytes. A commit with more is not noted.
const maxNotedPaths = maxLockNote / 4

func (r *Repository) UnderCommit(before object.OID, paths []string) *UnderCommit {
	size := 0
	for _, p := range paths {
		size += len(p)
	}
	if before == "" || size > maxNotedPaths {
		return nil
	}
	return &UnderCommit{GitDir: r.GitDir, Before: before, Paths: paths}
}

func (c *UnderCommit) valid(format string) bool {
	return filepath.IsAbs(c.GitDir) && c.Before.Valid(format) && len(c.Paths) > 0 &&
		!slices.ContainsFunc(c.Paths, func(p string) bool { return !filepath.IsLocal(filepath.FromSlash(p)) })
}
