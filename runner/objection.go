// CloseObjection: a person answers an objection of a turn.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// ObjectionClosed is the outcome of CloseObjection.
type ObjectionClosed struct {
	Done
	Result *protocol.ObjectionResult
}

// CloseObjection closes one open objection of the run; the next turn reads the reason. turn names
// who raised it where several turns used the same id, "" otherwise.
//
// Errors: inside_dispatched_turn, invalid_state_transition, reason_required, not_found,
// invalid_argument, and those of every change.
func (r *Runner) CloseObjection(ctx context.Context, id, turn, reason string) (*ObjectionClosed, error) {
	out := &ObjectionClosed{}
	done, err := r.do(ctx, "objection", func(_ context.Context, c *change) (*plan, error) {
		op := &protocol.CloseObjection{ID: id, Turn: turn, Reason: reason}
		if err := c.sameAsThen(op); err != nil {
			return nil, err
		}
		if o := op.Objection(c.view.Index); o != nil {
			op.Turn = o.String("turn_id") // another machine may have recorded the same id of another turn
		}
		return &plan{op: op}, nil
	})
	out.Done, out.Result = *done, resultOf[*protocol.ObjectionResult](done, err)
	return out, err
}
