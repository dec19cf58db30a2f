// Leases of turns: who is refused because of one, and listing them (docs/leases.md).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// Lease is the right of one runner to carry out one turn, for a time.
type Lease = run.Lease

// LeaseOf returns the lease of an active turn, nil when it was never leased.
func (r *Runner) LeaseOf(ctx context.Context, v *View, turn *Turn) (*Lease, error) {
	seen, err := lease.Of(ctx, r.store, v.State.Run(), turn)
	if err != nil || seen == nil {
		return nil, err
	}
	return seen.Lease, nil
}

// Unleased refuses, with lease_refused, to act on a leased turn.
func (r *Runner) Unleased(ctx context.Context, v *View, turn *Turn) error {
	seen, err := lease.Of(ctx, r.store, v.State.Run(), turn)
	if err != nil || seen == nil || !seen.Lease.Live(r.Now()) {
		return err
	}
	return lease.RefuseOthers(seen.Lease)
}

// admitted refuses an operation on a leased turn: when another runner has the lease and the caller
// has none, or when the caller's own does not hold. It is called before hooks run; lease.Hold.Refs
// decides.
func (c *change) admitted(
	ctx context.Context,
	turn *run.Turn,
	h *lease.Holder,
	next func(*protocol.Transition) *Lease,
) error {
	if h == nil {
		return c.r.Unleased(ctx, c.view, turn)
	}
	seen, err := lease.Judge(ctx, c.r.store, c.view.State, *h, lease.JudgeAll, c.env.Now)
	if err != nil {
		return err
	}
	c.lease = &lease.Hold{Holder: *h, Turn: h.Ref.StepID, Rec: seen.Rec, Lease: seen.Lease, Next: next}
	return nil
}

// Leases lists the leases of a run, of the present one for "". problems lists refs that are not
// valid leases.
func (r *Runner) Leases(ctx context.Context, runID string) (list []lease.Info, problems []error, err error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	if runID == "" {
		runID = v.State.Run()
	}
	if runID == "" {
		return nil, nil, nil
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	return lease.List(ctx, r.store, v, runID, r.Now())
}

// LeaseHistory returns the states of a turn's lease, newest first, at most limit.
func (r *Runner) LeaseHistory(ctx context.Context, runID, turn string, limit int) ([]lease.Info, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	return lease.History(ctx, r.store, runID, turn, limit)
}

// Reported returns what the record says about the end of a lease: "" when it did not end by a
// report of this holder. Only the turn's last token answers for an acceptance.
func (r *Runner) Reported(ctx context.Context, h lease.Holder) (lease.Reported, error) {
	v, err := r.View(ctx)
	if err != nil {
		return "", err
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	return lease.EndOf(ctx, r.store, v.State.Run(), h)
}
