// Locks of refs that a killed git has left behind, removed only when that is proven.

package gitstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockQuiet is how long a lock without contents must lie still before it counts as
// left behind: git writes into one the moment it has made it.
const lockQuiet = 1200 * time.Millisecond

// lockPath is the file git locks the participant's ref with.
func (p *Participant) lockPath() string {
	if p.Refs == "reftable" {
		return filepath.Join(p.GitDir, "reftable", "tables.list.lock")
	}
	return filepath.Join(p.GitDir, filepath.FromSlash(p.Ref)+".lock")
}

// unlock removes the lock of the git process that the decision recorded for the
// participant: the process is over, the lock is not older than the decision, and it
// holds the very object id it was to write, or nothing at all and nobody has it
// open. Any other lock is somebody's and stays. The error is ref_locked while the
// process may be alive.
func (p *Participant) unlock(ctx context.Context, since time.Time) error {
	path := p.lockPath()
	p.await(ctx, path)
	before, err := os.Lstat(path)
	switch {
	case err != nil || !before.Mode().IsRegular() || before.ModTime().Before(since):
		return nil
	case !p.Owner.dead():
		return errorf(CodeRefLocked, nil, "the lock %s may be held by the process %d, which was to move the ref", path, p.Owner.PID).
			hint("wait for that process to end, or end it, and run the command again")
	}
	data, err := readBounded(path, maxPointer)
	if err != nil {
		return nil
	}
	if p.Refs == "files" && string(bytes.TrimRight(data, "\n")) == p.New {
		return removeLock(path, before)
	}
	if len(data) > 0 && p.Refs == "files" {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(lockQuiet):
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, now) || statOf(before) != statOf(now) || isOpen(path) {
		return nil
	}
	return removeLock(path, before)
}

// await gives a git process a moment that has lost the command it worked for: on
// the end of its input it takes its lock away itself.
func (p *Participant) await(ctx context.Context, path string) {
	for until := time.Now().Add(killGrace); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Lstat(path); err != nil || p.Owner.dead() {
			return
		}
	}
}

// removeLock removes a lock if it still is the file that was judged.
func removeLock(path string, judged fs.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(judged, now) {
		return nil // gone, and what is there now is somebody else's
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errorf(CodeRefLocked, err, "the lock %s was left behind and cannot be removed", path)
	}
	return nil
}

// isOpen reports whether a process of this system is known to have the file open.
// Where that cannot be asked nobody has.
func isOpen(path string) bool {
	procs, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range procs {
		if target, err := os.Readlink(fd); err == nil && target == path {
			return true
		}
	}
	return false
}
