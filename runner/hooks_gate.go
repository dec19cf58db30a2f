// before_gate: run when the approval of a gate would be granted, before its actions run
// (docs/hooks.md#phases).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/ophooks"
)

// beforeGate runs the hooks for the pending gate. When one says no the run is blocked and the gate
// stays pending: another approval runs them again.
func (c *change) beforeGate(ctx context.Context, completion bool) error {
	call, err := ophooks.BeforeGate(c.r.store.Dir(), c.view.State, completion)
	if err != nil {
		return err
	}
	call.Overruled = c.asItIs("", call.Phase, protocol.GateDigest(c.view.State, c.env.Git.Head))
	if err := c.hook(ctx, call); err != nil {
		return err
	}
	c.tree, c.env.Now = nil, c.r.Now()
	_, err = c.look(ctx)
	return err
}
