// Acceptance under a lease: the result comes with the request, and the lease is
// released by the very transaction that accepts it.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// admit judges who asks for an acceptance, and stages what came with the request. The bytes of the
// request are judged: the file may be overwritten by a process that was stopped in the middle and
// does not know that its time is up.
func (a *acceptance) admit(ctx context.Context) error {
	if err := a.admitted(ctx, a.turn, a.opt.Lease, func(t *protocol.Transition) *Lease {
		if res, ok := t.Result.(*protocol.AcceptResult); !ok || res.Entry == nil || t.Failure != nil {
			return nil // an operation besides the acceptance, or a refused result
		}
		return a.lease.Lease.With(run.LeaseReleased)
	}); err != nil {
		return err
	}
	data := a.opt.Result
	if data == nil || a.opt.Lease == nil || a.turn == nil {
		return nil
	}
	if len(data) > protocol.MaxStagedBytes {
		return resultTooLarge(len(data))
	}
	path := wire.StagingPath(a.turn.TurnID)
	if clean, problem := wire.CleanPath(path); problem != "" || clean != path {
		return turnfiles.UnsafeID(a.turn.TurnID)
	}
	if err := a.r.store.Replace(path, data); err != nil {
		return err
	}
	a.given = &turnfiles.Staged{Path: path, Data: data}
	return nil
}

// rejectedLease ends the lease of an attempt that is sent back.
func (c *change) rejectedLease(t *protocol.Transition) *Lease {
	if _, ok := t.Result.(*protocol.RejectResult); !ok {
		return nil
	}
	return c.lease.Lease.With(run.LeaseRejected)
}
