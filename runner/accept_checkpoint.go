// An acceptance and its checkpoint under one lock, with one look at the work tree.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// AcceptAndCheckpoint is AcceptTurn and, when the turn is accepted, its Checkpoint. saved is nil
// unless the turn is accepted: then the error is the checkpoint's, and the acceptance is recorded.
func (r *Runner) AcceptAndCheckpoint(ctx context.Context, opt AcceptOptions) (a *Accepted, saved *Checkpointed,
	err error) {
	meant := opt.TurnID
	if meant == "" {
		meant = r.onlyTurnNow()
	}
	var turn string
	first := &Done{} // as the acceptance left it
	done, err := r.do(ctx, "accept", func(ctx context.Context, c *change) (*plan, error) {
		a, err := c.accepting(ctx, opt, meant)
		if err != nil {
			return nil, err
		}
		if a.turn != nil {
			turn = a.turn.TurnID
		}
		return a.plan(ctx)
	}, func(ctx context.Context, c *change) (*plan, error) {
		if saved == nil {
			first.Run, first.Op, first.State = c.view.Run, c.view.Op, c.view.RawState
			saved = &Checkpointed{}
		}
		if tree := c.r.afterTree; tree != nil && c.tree == nil {
			c.saw(tree, nil) // the tree as the acceptance saw it a moment ago
		}
		return c.checkpoint(ctx, turn, saved)
	})
	if saved == nil {
		return r.accepted(done), nil, err
	}
	saved.Done = *done
	first.Outcome, first.Notices = OutcomeOf(nil), done.Notices
	for _, t := range done.made {
		if _, ok := t.Result.(*protocol.AcceptResult); ok {
			first.Transition = t
		}
	}
	return r.accepted(first), saved, err
}
