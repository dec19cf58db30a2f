// Ref locks that a killed git left behind, removed only with proof.

package decision

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// lockPath returns the file with which git locks the participant's ref.
func (p *Participant) lockPath() string {
	if p.Refs == "reftable" {
		return filepath.Join(p.GitDir, "reftable", "tables.list.lock")
	}
	return filepath.Join(p.GitDir, filepath.FromSlash(p.Ref)+".lock")
}

// unlock removes the lock of the git process that the decision recorded for the participant, provided that the
// process is over, the lock is not older than the decision, and it holds the very object id the process was to
// write, or what a power cut left of it and no process has it open. Any other lock may be a person's and stays. The
// error is ref_locked while the process may be alive.
func (p *Participant) unlock(ctx context.Context, since time.Time) error {
	path := p.lockPath()
	p.await(ctx, path)
	before, err := os.Lstat(path)
	switch {
	case err != nil || !before.Mode().IsRegular() || before.ModTime().Before(since):
		return nil
	case !p.Owner.Dead():
		return fail.Errorf(fail.CodeRefLocked, nil,
			"the lock %s may be held by the process %d, which was to move the ref", path, p.Owner.PID).
			WithHint("wait for that process to end, or end it, and run the command again")
	}
	data, err := git.ReadBounded(path, git.MaxPointer)
	if err != nil {
		return nil
	}
	if p.Refs == "files" {
		switch text := string(bytes.TrimRight(data, "\n")); {
		case text == p.New:
			return git.RemoveLock(path, before)
		case !git.BegunText(text, p.New):
			return nil
		}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(git.LockQuiet):
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, now) || git.StatOf(before) != git.StatOf(now) || git.IsOpen(path) {
		return nil
	}
	return git.RemoveLock(path, before)
}

// await gives a git process whose command has died a moment: at the end of its input it removes its lock itself.
func (p *Participant) await(ctx context.Context, path string) {
	for until := time.Now().Add(git.KillGrace); time.Now().Before(until) &&
		ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Lstat(path); err != nil || p.Owner.Dead() {
			return
		}
	}
}
