// RetryGate: a failed gate is evaluated again on the present files, without a turn.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// RetriedGate is the outcome of RetryGate.
type RetriedGate struct {
	Done
	Result *protocol.RetryResult
}

// RetryGate evaluates again the gate that refused the last accepted turn's request: the run moves
// on, or waits for a person, as if the turn had asked now
// (docs/spec/gates.md#a-failed-gate-is-asked-again).
//
// Errors: inside_dispatched_turn, nothing_to_retry, gate_failed (nothing is recorded),
// run_blocked, awaiting_approval, and those of every change.
func (r *Runner) RetryGate(ctx context.Context) (*RetriedGate, error) {
	out := &RetriedGate{}
	done, err := r.do(ctx, "gate retry", func(_ context.Context, c *change) (*plan, error) {
		if err := protocol.CheckRetry(c.view.State, c.view.Index); err != nil {
			return nil, err
		}
		files, err := c.gateFiles()
		return &plan{op: &protocol.RetryGate{Files: files}}, err
	})
	out.Done, out.Result = *done, resultOf[*protocol.RetryResult](done, err)
	return out, err
}

// GateMended reports whether a gate that failed would now pass, so that RetryGate moves the run on.
// An unreadable gate is not mended.
func (r *Runner) GateMended(v *View) bool { return gate.Mended(r.store.Dir(), v) }
