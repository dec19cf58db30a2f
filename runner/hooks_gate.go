// before_gate: asked when the approval of a gate would be granted, before its
// actions run (docs/hooks.md#phases).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// beforeGate runs the hooks for the pending gate. When one says no the run is
// blocked and the gate stays pending: approving again asks them again.
func (c *change) beforeGate(ctx context.Context, completion bool) error {
	s := c.view.State
	kind, target, pending := "phase_transition", any(nil), (*ojson.Object)(nil)
	if completion {
		kind, pending = "run_completion", ojson.Marshal(s.PendingRunCompletion)
	} else {
		target, pending = s.PendingPhaseTransition.To, ojson.Marshal(s.PendingPhaseTransition)
	}
	n, err := c.r.historyLength()
	if err != nil {
		return err
	}
	err = c.hook(ctx, hooks.Call{Phase: "before_gate", Overruled: c.asItIs("", "before_gate", protocol.GateDigest(s, c.env.Git.Head)), Payload: ojson.NewObject("gate_type", kind, "current_phase", s.Phase,
		"target_phase", target, "gate_config", pending, "history_length", n)})
	if err != nil {
		return err
	}
	c.tree, c.env.Now = nil, c.r.Now()
	_, err = c.look(ctx)
	return err
}
