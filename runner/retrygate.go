// RetryGate: a failed gate is asked again on the files of now, without a turn.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// RetriedGate is the outcome of RetryGate.
type RetriedGate struct {
	Done
	Result *protocol.RetryResult
}

// RetryGate asks the gate that refused the last accepted turn's request again: the run
// moves on, or waits for a person, as if the turn had asked now
// (docs/spec/gates.md#a-failed-gate-is-asked-again).
//
// Errors: inside_dispatched_turn, nothing_to_retry, gate_failed (nothing is recorded),
// run_blocked, awaiting_approval, and those of every change.
func (r *Runner) RetryGate(ctx context.Context) (*RetriedGate, error) {
	out := &RetriedGate{}
	done, err := r.do(ctx, "gate retry", func(_ context.Context, c *change) (protocol.Operation, error) {
		if err := protocol.CheckRetry(c.view.State, c.view.Index); err != nil {
			return nil, err
		}
		files, err := c.gateFiles()
		return &protocol.RetryGate{Files: files}, err
	})
	out.Done = *done
	if err == nil {
		out.Result = done.Transition.Result.(*protocol.RetryResult)
	}
	return out, err
}

// GateMended reports whether a gate that failed would not fail any more, so that
// RetryGate moves the run on. What cannot be read is not mended.
func (r *Runner) GateMended(v *View) bool {
	if v.State.LastGateFailure == nil || protocol.CheckRetry(v.State, v.Index) != nil {
		return false
	}
	f := v.State.LastGateFailure
	if f.GateType == run.GatePhase && wire.OrEmpty(f.ToPhase) != v.Config.NextPhase(v.State.Phase) {
		return false // it asked for a phase that does not come next
	}
	g, err := gate.Stand(r.dir(), v, v.State.Phase)
	return err == nil && g != nil && g.Completion == (f.GateType == run.GateCompletion) && g.Result.Action != gates.ActionGateFailed
}
