// Hooks around an acceptance: before_validation, after_validation and
// before_acceptance, each once and in this order (docs/spec/lifecycle.md#accepting-a-turn, docs/hooks.md#phases).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

func acceptPhases() []string {
	return []string{"before_validation", "after_validation", "before_acceptance", "after_acceptance"}
}

// hookedAcceptance is acceptance with hooks. The engine is asked before anything
// runs whether it would look at the result at all, and again after the hooks that
// may prepare it; what it answers then is what the later hooks are told.
func (c *change) hookedAcceptance(ctx context.Context, opt AcceptOptions) (protocol.Operation, error) {
	if err := c.hooks.WillRun(ctx, acceptPhases()...); err != nil {
		return nil, err
	}
	op, err := c.acceptance(ctx, opt)
	if err != nil {
		return nil, err
	}
	t, refusal := c.decide(c.view.Snapshot(), op)
	turn := c.target(opt.TurnID)
	if turn == nil || refusal != nil && refusal.Stage == "" {
		return op, nil // the engine refuses it with the same words
	}
	if c.hooks.Has("before_validation") {
		if err := c.hook(ctx, c.mayTake(ophooks.BeforeValidation(turn, op), op)); err != nil {
			return nil, err
		}
		c.tree, c.env.Now = nil, c.r.Now()
		if op, err = c.acceptance(ctx, opt); err != nil {
			return nil, err
		}
		op.Overruled = c.asIs
		t, refusal = c.decide(c.view.Snapshot(), op)
	}
	if opt.Patient && refusal == nil {
		if err := c.unfinished(op, t); err != nil {
			return nil, err
		}
	}
	judged := false
	if c.hooks.Has("after_validation") {
		judged = true
		if err := c.hook(ctx, c.mayTake(ophooks.AfterValidation(turn, op, t, refusal), op)); err != nil {
			return nil, err
		}
	}
	if refusal != nil || t.Failure != nil {
		return op, nil
	}
	if c.hooks.Has("before_acceptance") {
		judged = true
		call, err := ophooks.BeforeAcceptance(ctx, c.r.store.Repository(), turn, op, t)
		if err != nil {
			return nil, err
		}
		if err := c.hook(ctx, c.mayTake(call, op)); err != nil {
			return nil, err
		}
	}
	op.Overruled = c.asIs
	if !judged {
		return op, nil
	}
	return op, c.drifted(ctx, turn, op)
}

// mayTake is a call about a result that a person may have taken as it is.
func (c *change) mayTake(call hooks.Call, op *protocol.AcceptTurn) hooks.Call {
	call.Overruled = c.asItIs(call.TurnID, call.Phase, protocol.WorkDigest(op.Staged, &op.Seen))
	return call
}

// drifted looks at the work tree once more: the result was judged on one that no
// hook may have changed since.
func (c *change) drifted(ctx context.Context, turn *run.Turn, op *protocol.AcceptTurn) error {
	c.tree, c.env.Now = nil, c.r.Now()
	now, err := c.observe(ctx, turn)
	if err != nil {
		return err
	}
	op.Drift = ophooks.Drift(&op.Seen, &now)
	return nil
}
