// Hooks around an acceptance: before_validation, after_validation and
// before_acceptance, each once and in this order (docs/spec/lifecycle.md#accepting-a-turn, docs/hooks.md#phases).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

func acceptPhases() []string {
	return []string{"before_validation", "after_validation", "before_acceptance", "after_acceptance"}
}

// hooked plans an acceptance with hooks. They do not run for what the engine would refuse to look
// at. The later hooks are told what the engine decides on the result, which the first hooks may
// have changed; it decides once more when their answers are recorded.
func (a *acceptance) hooked(ctx context.Context) (*plan, error) {
	if err := a.hooks.WillRun(ctx, acceptPhases()...); err != nil {
		return nil, err
	}
	op, err := a.gather(ctx)
	if err != nil {
		return nil, err
	}
	if a.turn == nil || op.Admissible(a.view.Snapshot(), a.env) != nil {
		return &plan{op: op}, nil // the engine refuses it with the same message
	}
	if a.hooks.Has("before_validation") {
		if err := a.hook(ctx, a.mayTake(ophooks.BeforeValidation(a.turn, op), op)); err != nil {
			return nil, err
		}
		a.tree, a.env.Now = nil, a.r.Now()
		if op, err = a.gather(ctx); err != nil {
			return nil, err
		}
		op.Overruled = a.asIs
	}
	return &plan{op: op}, a.judged(ctx, op)
}

// judged runs the hooks that are told the engine's decision on the result.
func (a *acceptance) judged(ctx context.Context, op *protocol.AcceptTurn) error {
	if !a.opt.Patient && !a.hooks.Has("after_validation", "before_acceptance") {
		return nil
	}
	t, refusal := a.ask(a.view.Snapshot(), op)
	if a.opt.Patient && refusal == nil {
		if err := a.unfinished(op, t); err != nil {
			return err
		}
	}
	if a.hooks.Has("after_validation") {
		if err := a.hook(ctx, a.mayTake(ophooks.AfterValidation(a.turn, op, t, refusal), op)); err != nil {
			return err
		}
	}
	if refusal != nil || t.Failure != nil || !a.hooks.Has("after_validation", "before_acceptance") {
		return nil
	}
	if a.hooks.Has("before_acceptance") {
		call, err := ophooks.BeforeAcceptance(ctx, a.r.store.Repository(), a.turn, op, t)
		if err != nil {
			return err
		}
		if err := a.hook(ctx, a.mayTake(call, op)); err != nil {
			return err
		}
	}
	op.Overruled = a.asIs
	return a.drifted(ctx, op)
}

// mayTake returns a call about a result that a person may have taken as it is.
func (a *acceptance) mayTake(call hooks.Call, op *protocol.AcceptTurn) hooks.Call {
	call.Overruled = a.asItIs(call.TurnID, call.Phase, protocol.WorkDigest(op.Staged, &op.Seen))
	return call
}

// drifted looks at the work tree once more: no hook may have changed the one that the result was
// judged on.
func (a *acceptance) drifted(ctx context.Context, op *protocol.AcceptTurn) error {
	a.tree, a.env.Now = nil, a.r.Now()
	now, err := a.observe(ctx, a.turn)
	if err != nil {
		return err
	}
	op.Drift = ophooks.Drift(&op.Seen, &now)
	return nil
}
