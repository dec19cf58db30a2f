// RefreshTurnBaseline: what a turn starts from, before its agent begins.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// Refreshed is the outcome of RefreshTurnBaseline.
type Refreshed struct {
	Done
	Turn  *Turn
	Files []string // paths that now count as there before the turn; sorted
}

// RefreshTurnBaseline makes the present work tree the start of a turn, for a runner that prepares
// files between the assignment and the dispatch: they are then not taken for the agent's work
// (docs/runner.md#lifecycle). It is refused (invalid_state_transition) once an agent is at work or
// has staged a result, and on a second attempt. turnID may be "" for the only active turn.
func (r *Runner) RefreshTurnBaseline(ctx context.Context, turnID string) (*Refreshed, error) {
	out := &Refreshed{}
	done, err := r.do(ctx, "refresh", func(ctx context.Context, c *change) (*plan, error) {
		op := &attempt.RefreshBaseline{TurnID: turnID}
		turn := c.target(turnID)
		if turn == nil {
			return &plan{op: op}, nil
		}
		s, err := turnfiles.ReadStaged(r.store.Dir(), turn.TurnID)
		if err != nil {
			return nil, err
		}
		op.Staged = s.Path != wire.FlatStagingPath && s.Counts()
		op.Baseline, err = c.baseline(ctx)
		return &plan{op: op}, err
	})
	out.Done = *done
	if err != nil {
		return out, err
	}
	res := done.Transition.Result.(*attempt.RefreshResult)
	out.Turn, out.Files = res.Turn, res.Files
	return out, nil
}
