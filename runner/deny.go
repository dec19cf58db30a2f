// Deny: a person refuses the pending gate.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Denied is the outcome of Deny.
type Denied struct {
	Done
	Result *protocol.DenyResult
}

// Deny refuses the gate that waits: the run goes on in its phase, and the next turn is told the
// reason. It is refused inside a dispatched turn.
//
// Errors: inside_dispatched_turn, invalid_state_transition when no gate waits,
// run_blocked, reason_required, invalid_argument, and those of every change.
func (r *Runner) Deny(ctx context.Context, reason string) (*Denied, error) {
	out := &Denied{}
	if refusal := protocol.CheckApprover(r.inside()); refusal != nil {
		out.Outcome = OutcomeOf(refusal)
		return out, refusal
	}
	done, err := r.do(ctx, "deny", func(context.Context, *change) (*plan, error) {
		return &plan{op: &protocol.DenyGate{Reason: reason}}, nil
	})
	out.Done, out.Result = *done, resultOf[*protocol.DenyResult](done, err)
	return out, err
}
