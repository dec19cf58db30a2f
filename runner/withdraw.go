// Withdraw: a person takes the last approval back.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Withdrawn is the outcome of Withdraw.
type Withdrawn struct {
	Done
	Result *protocol.WithdrawResult
}

// Withdraw takes back the last approval of a person, as long as no turn was accepted after it: the
// run waits at the same gate for the same request again. Turns assigned since are dropped, and what
// they had staged is kept. A run that the approval completed goes on, unless another was started.
// At a gate that waits for more people, it takes back the yes of the person who asks
// (docs/spec/gates.md#an-approval-is-taken-back).
//
// Errors: inside_dispatched_turn, nothing_to_withdraw, run_blocked, invalid_argument,
// turn_at_work while the process of a turn runs, and those of every change.
func (r *Runner) Withdraw(ctx context.Context, reason string) (*Withdrawn, error) {
	out := &Withdrawn{}
	if in := r.inside(); in.InsideTurn != "" {
		refusal := protocol.CheckWithdrawable(&run.State{}, in)
		out.Outcome = OutcomeOf(refusal)
		return out, refusal
	}
	done, err := r.do(ctx, "withdraw", func(ctx context.Context, c *change) (*plan, error) {
		if refusal := protocol.CheckWithdrawable(c.view.State, c.env.Actor); refusal != nil {
			return nil, refusal
		}
		if run.HasPending(c.view.State) {
			return &plan{op: &protocol.WithdrawApproval{Reason: reason, Vote: true}}, nil
		}
		staged, err := c.givenUp(ctx, "git agentxchain approve --withdraw")
		if err != nil {
			return nil, err
		}
		return &plan{op: &protocol.WithdrawApproval{Reason: reason, Staged: staged}}, nil
	})
	out.Done, out.Result = *done, resultOf[*protocol.WithdrawResult](done, err)
	return out, err
}
