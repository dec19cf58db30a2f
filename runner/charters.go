// Queueing the charters of a plan that was made outside the run.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CharterOptions says which plan to queue.
type CharterOptions struct {
	Plan     *ojson.Object // {plan_id, objective, …}, kept in the run unchanged
	Charters []*run.Charter
	NewRun   bool // start another run when the last one is finished
}

// Queued is the outcome of QueueCharters.
type Queued struct {
	Done
	Started bool // a new run was started
	Result  *charters.QueueResult
}

// QueueCharters adds charters to the run, starting one first when the project is idle; it assigns
// no turn. No run is started for a plan that it could not take. Errors: invalid_charter,
// unknown_role, role_not_routed, invalid_state_transition, run_blocked, awaiting_approval,
// inside_dispatched_turn.
func (r *Runner) QueueCharters(ctx context.Context, opt CharterOptions) (*Queued, error) {
	out := &Queued{}
	if opt.NewRun {
		r = r.Afresh()
	}
	op := &charters.QueueCharters{Plan: opt.Plan, Charters: opt.Charters}
	start := func(ctx context.Context, c *change) (*plan, error) {
		s := c.view.State
		if s.Status.Ended() && !opt.NewRun {
			return nil, anotherRun(s, "ask for it with --new-run")
		}
		if s.Status != wire.StatusIdle && !s.Status.Ended() {
			return nil, nil
		}
		begin, err := c.initRun(ctx, InitRunOptions{
			Restart:       s.Status.Ended(),
			TriggerReason: "plan " + opt.Plan.String("plan_id"),
		})
		if err != nil {
			return nil, err
		}
		snap := c.view.Snapshot()
		begun, refusal := c.ask(snap, begin)
		if refusal == nil {
			snap.State, snap.Index = begun.State, begun.Index
			_, refusal = c.ask(snap, op)
		}
		if refusal != nil {
			return nil, refusal
		}
		out.Started = true
		return &plan{op: begin}, nil
	}
	queue := func(ctx context.Context, c *change) (*plan, error) {
		if _, err := c.look(ctx); err != nil {
			return nil, err
		}
		return &plan{op: op}, nil
	}
	done, err := r.do(ctx, "queue-charters", start, queue)
	out.Done, out.Result = *done, resultOf[*charters.QueueResult](done, err)
	return out, err
}
