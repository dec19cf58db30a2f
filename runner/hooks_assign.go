// before_assignment: run once the engine would give the turn (docs/hooks.md#phases).

package runner

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

// beforeAssignment runs the hooks for a turn that op would begin, unless the rules refuse it
// anyway. A reissue begins a turn as well, and may give it to another role.
func (c *change) beforeAssignment(ctx context.Context, op protocol.Operation) error {
	if !c.hooks.Has("before_assignment") {
		return nil
	}
	t, refusal := c.ask(c.view.Snapshot(), op)
	if refusal != nil {
		return refusal
	}
	turn, ok := t.State.ActiveTurns.Get(protocol.BundledTurn(t))
	if !ok {
		return nil
	}
	call, err := ophooks.BeforeAssignment(c.r.store.Dir(), c.view.Config, c.view.State, turn)
	if err != nil {
		return err
	}
	if err = c.hook(ctx, call); err != nil {
		if op, ok := op.(*protocol.ReissueTurn); ok && c.stop != nil && c.stop.Block == nil {
			c.stop.Err.Hint = strings.TrimSpace(ophooks.Asks + "git agentxchain reissue " + op.TurnID)
		}
		return err
	}
	return c.fresh(ctx, op)
}

// fresh looks at the work tree once more: the hooks took time and may have changed it.
func (c *change) fresh(ctx context.Context, op protocol.Operation) error {
	c.tree, c.env.Now = nil, c.r.Now()
	base, err := c.baseline(ctx)
	if err != nil {
		return err
	}
	switch op := op.(type) {
	case *protocol.AssignTurn:
		op.Baseline, op.Dirty = base, observe.ProjectDirty(c.tree)
	case *protocol.ReissueTurn:
		op.Baseline = base
	}
	return nil
}
