// A command in a repository that takes part in a decision somebody did not live to
// finish settles the decision first, as far as this repository goes.

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

// decisionWait is how long a command in a repository waits for the command that
// decides. It holds the project's lock meanwhile, which that one may be waiting for.
const decisionWait = 500 * time.Millisecond

// SettleNoted looks for the notes of decisions in a repository and returns what was done about
// them, for the person at the terminal. The project's lock must be held. The error
// is locked while the command that decides is at work.
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
			continue // no note of ours
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
	// A process that holds the workspace's lock has settled what it found when it took it. Of a new decision it
	// leaves word when the transaction here, which is a part of it, is past this point.
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

// settleOwn settles a decision in all of its repositories. That something is in the
// way in another one keeps nobody from working here, once it is known where this
// one stands.
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
		return "", nil // it is about others; the note was left by an earlier one
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
