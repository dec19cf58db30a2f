// What a run loop needs besides the operations of a person: recording the progress of a dispatch,
// ending it by timeout, and driving exclusively.

package runner

import (
	"context"
	"path"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/intake"
)

// Advanced is the outcome of AdvanceTurn.
type Advanced struct {
	Done
	Turn *Turn
}

// AdvanceTurn records the progress of a turn's dispatch: dispatched, starting or running, with its process and the
// stream of its first output, 0 and "" when unknown (docs/spec/lifecycle.md#the-life-of-a-dispatch). Errors:
// turn_not_active, invalid_state_transition, run_blocked, invalid_argument.
func (r *Runner) AdvanceTurn(ctx context.Context, op attempt.AdvanceTurn) (*Advanced, error) {
	out := &Advanced{}
	done, err := r.do(ctx, "advance", func(context.Context, *change) (*plan, error) { return &plan{op: &op}, nil })
	out.Done = *done
	if err == nil {
		out.Turn = done.Transition.Result.(*attempt.AdvanceResult).Turn
	}
	return out, err
}

// DispatchTimedOut blocks the run because the dispatch of a turn exceeded its time
// (docs/run-loop.md#what-becomes-of-a-turn): timeout:<scope>, owner operator, the turn is kept.
func (r *Runner) DispatchTimedOut(ctx context.Context, op attempt.DispatchTimeout) (*Blocked, error) {
	return r.blocked(ctx, "timeout", &op)
}

// Drive makes the caller the only run loop of this work tree until release is called or the process
// ends, for any reason. The error has the code locked and names the other loop.
func (r *Runner) Drive(ctx context.Context) (release func(), err error) {
	l, err := r.only(ctx, path.Base(wire.LoopLockPath), "run")
	if err != nil {
		return nil, err
	}
	r.filesAhead = l.Ahead()
	return func() { _ = l.Release() }, nil
}

// DriveRun is Drive for all work trees of the repository that are in the run.
func (r *Runner) DriveRun(ctx context.Context, run string) (release func(), err error) {
	name := filepath.Join(r.store.Repository().CommonDir, git.PrivateName, "loops", wire.SHA256([]byte(run))[:16]+".lock")
	l, err := lockfile.Acquire(ctx, name, "run", 0)
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil
}

// PriorityIntent returns the intent to be worked on before anything else, nil when there is none or
// it has been dealt with (docs/run-loop.md#what-becomes-of-a-turn).
func (r *Runner) PriorityIntent() *intake.Priority { return intake.Urgent(r.store.Dir()) }

// View is a run as it was read: config, state, index and the operation it is at.
type View = gitstore.View
