// Ending an initiative early (docs/coordinator.md#ending-it-early).

package coordinator

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// Abandoned is an initiative that a person has ended early.
type Abandoned struct {
	Before initiative.Status
	Gate   string // the gate that waited, "" for none
	State  *initiative.State
	Next   []initiative.Action
}

// Abandon ends the initiative of the workspace for good, with a reason for the record. The repositories keep their
// runs and what they have accepted; a recovery report is archived. Errors: inside_dispatched_turn, and those of the
// pure Abandon.
func (c *Coordinator) Abandon(ctx context.Context, reason string) (*Abandoned, error) {
	env := c.env(ctx)
	if e := personOnly(env.Actor, "abandon an initiative", Program+" multi abandon"); e != nil {
		return nil, e
	}
	tx, err := c.begin(ctx, "abandon")
	if beginningGone(err) {
		tx, err = c.lock(ctx, "abandon", false)
	}
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	before := tx.Docs.State
	out := &Abandoned{Before: before.Status}
	if before.PendingGate != nil {
		out.Gate = before.PendingGate.Gate
	}
	ch, e := initiative.Abandon(&tx.Docs.Workspace, reason, env)
	if e != nil {
		return nil, e
	}
	report, err := c.report()
	if err != nil {
		return nil, err
	}
	if report != nil {
		ch.Files = append(ch.Files, archived(report, env))
	}
	if err := c.commit(ctx, tx, "abandon", "Abandoned the initiative", ch); err != nil {
		return nil, err
	}
	if report != nil {
		c.putReportAway()
	}
	out.State, out.Next = tx.Docs.State, initiative.NextActions(&tx.Docs.Workspace, nil)
	return out, nil
}
