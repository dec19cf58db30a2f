// Settling an unfinished decision at the start of a command in a participating repository, as far as that
// repository is concerned.

package decision

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
)

// decisionWait is how long a command in a repository waits for the deciding command. Meanwhile it holds the
// project's lock, for which the deciding command may be waiting.
const decisionWait = 500 * time.Millisecond

// SettleNoted looks for notes of decisions in a repository and returns what it settled, for the person at the
// terminal. The caller holds the project's lock. The error is locked while the deciding command is at work.
func SettleNoted(ctx context.Context, r *git.Repository) (notices []string, err error) {
	dir := filepath.Join(r.CommonDir, filepath.FromSlash(notesDir))
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil // the usual case: there is none
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		data, err := git.ReadBounded(name, git.MaxPointer)
		if err != nil || !filepath.IsAbs(string(data)) || NoteName(string(data)) != e.Name() {
			continue // not a note of ours
		}
		notice, err := settleNote(ctx, r, string(data), name)
		if err != nil {
			return notices, err
		}
		if notice != "" {
			notices = append(notices, notice)
		}
	}
	return notices, nil
}

func settleNote(ctx context.Context, r *git.Repository, workspace, note string) (string, error) {
	// A process that holds the workspace's lock settled what it found when it took the lock. It writes notes of a
	// new decision only after the transaction here, which is a part of it, is past this point.
	within := func() bool {
		found, err := git.ReadLock(filepath.Join(workspace, filepath.FromSlash(WorkspaceLock)))
		return err == nil && found.OfThisProcess()
	}
	if fi, err := os.Lstat(filepath.Dir(filepath.Join(workspace, filepath.FromSlash(DecisionFile)))); err == nil &&
		fi.IsDir() && !within() {
		lock, err := lockfile.Acquire(ctx, filepath.Join(workspace, filepath.FromSlash(WorkspaceLock)), "settle",
			decisionWait)
		if err != nil {
			return "", err
		}
		defer func() { _ = lock.Release() }()
	}
	d, err := ReadDecision(workspace)
	if err != nil {
		return "", err
	}
	notice := ""
	if d != nil && d.Workspace == workspace {
		if notice, err = settleOwn(ctx, r, d); err != nil {
			return "", err
		}
	}
	_ = os.Remove(note)
	_ = os.Remove(filepath.Dir(note))
	return notice, nil
}

// settleOwn settles a decision in all of its repositories. An obstacle in another repository does not block work
// here once it is known where this one stands.
func settleOwn(ctx context.Context, r *git.Repository, d *Decision) (notice string, err error) {
	var own []*Participant
	late := false
	for i := range d.Participants {
		p := &d.Participants[i]
		if !git.SameFile(p.GitDir, r.CommonDir) {
			continue
		}
		at, err := d.look(ctx, p)
		if err != nil {
			return "", err
		}
		own = append(own, p)
		late = late || at == placeOld
	}
	if len(own) == 0 {
		return "", nil // it concerns other repositories; an earlier decision left the note
	}
	moved, err := d.Settle(ctx)
	if err != nil && late && d.Outcome == OutcomeMove {
		return "", err
	}
	for _, p := range own {
		if err := d.settle(ctx, p, false); err != nil {
			return "", err
		}
		switch {
		case !late:
		case moved:
			notice = "finished a decision of the initiative in " + d.Workspace + ": the run moved to " +
				object.OID(p.New).Short()
		default:
			notice = "took back a decision of the initiative in " + d.Workspace +
				" that was not made; the run is where it was"
		}
	}
	return notice, nil
}
