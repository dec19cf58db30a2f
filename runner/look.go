// Standing, Next and Look: the state of the run and the command that moves it on. Look is for
// readers that only show it: it never locks, settles, reminds, reconciles or writes.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// FileStat is a file that a commit changed.
type FileStat = history.FileStat

// Standing reads the run without changing anything on disk.
func (r *Runner) Standing(ctx context.Context) (*status.Standing, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	st, err := r.at().Stand(ctx, v, nil)
	if err != nil {
		return nil, err
	}
	if status.Trusts(v.Config) {
		st.Untrusted = !r.trusted(ctx, v.Config)
	}
	r.lost(st)
	if v.Run != "" && v.Op != "" {
		if st.Remotes, err = transport.Standings(ctx, r.store.Repository(), v.Run, v.Op); err != nil {
			return nil, err
		}
	}
	if err := r.conflicted(ctx, st); err != nil {
		return nil, err
	}
	return st, nil
}

// conflicted counts the open conflicts.
func (r *Runner) conflicted(ctx context.Context, st *status.Standing) error {
	if r.store.Repository().NoneBelow(record.ConflictRefPrefix) {
		return nil
	}
	all, err := r.store.Conflicts(ctx)
	if err != nil {
		return err
	}
	st.Conflicts = travel.OpenConflicts(all)
	return nil
}

// lost notes turns that no process works on any more; they come before everything else.
func (r *Runner) lost(st *status.Standing) {
	if st.Lost = r.Health(st.View); len(st.Lost) > 0 && st.View.State.Status == wire.StatusActive {
		lost := st.Lost[0]
		st.Next = &protocol.NextAction{
			Command: lost.Recovery(),
			Reason:  "Turn " + lost.Turn.TurnID + " seems abandoned; another turn takes its place.",
		}
	}
}

// Next returns the one next command, nil when there is none or it is unknown. After an operation of
// this Runner it is computed from that operation, and nothing of the run is read again.
func (r *Runner) Next(ctx context.Context) *protocol.NextAction {
	r.serial.Lock()
	v, tree := r.after, r.afterTree
	r.afterTree = nil // it describes the moment of the operation, not a later one
	r.serial.Unlock()
	if v == nil {
		tree = nil
		var err error
		if v, err = r.View(ctx); err != nil {
			return nil
		}
	}
	st, err := r.at().Stand(ctx, v, tree)
	if err != nil {
		return nil
	}
	return st.Next
}

// Look is Standing for a reader that may not change a byte, with every gate. An interrupted restore
// is reported (working_files_behind) and left to the next command. Errors: those of View.
func (r *Runner) Look(ctx context.Context) (*status.Sight, error) {
	v, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.at().See(ctx, v)
	if err != nil {
		return nil, err
	}
	if status.Trusts(v.Config) {
		s.Untrusted = !r.trusted(ctx, v.Config)
	}
	if head, branch, err := r.store.Repository().Checkout(ctx); err == nil {
		s.Head, s.Branch = string(head), branch
	}
	r.lost(&s.Standing)
	if err := r.conflicted(ctx, &s.Standing); err != nil {
		return nil, err
	}
	return s, nil
}

func (r *Runner) look(ctx context.Context) (*gitstore.View, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	v, err := r.store.Look(ctx)
	if err != nil {
		return nil, err
	}
	return v, r.ready(ctx, v)
}

// at returns the project whose status is reported.
func (r *Runner) at() status.Project {
	return status.Project{Dir: r.store.Dir(), Store: r.store, Now: r.Now()}
}

// GateStandings checks every gate of the configuration against the present files.
func (r *Runner) GateStandings(ctx context.Context) (*gitstore.View, []gate.Standing, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	out, err := status.Gates(r.store.Dir(), v)
	return v, out, err
}

// CommitDiff returns what a commit of the project's own history changed: the files, and the patch
// unless it is longer than limit bytes; then cut is true. It runs no program of the repository's
// configuration. Errors: not_found, git_failed.
func (r *Runner) CommitDiff(ctx context.Context, commit string, limit int64) (files []FileStat, patch []byte, cut bool,
	err error) {
	return history.CommitDiff(ctx, r.store.Repository(), commit, limit)
}

// WorkDiff is CommitDiff for the named project-relative files in the work tree, against a commit;
// files unknown to git are left out.
func (r *Runner) WorkDiff(ctx context.Context, commit string, names []string, limit int64) (files []FileStat,
	patch []byte, cut bool, err error) {
	return history.WorkDiff(ctx, r.store.Repository(), commit, names, limit)
}
