// The fencing point: the ref of a lease is held, or moved on, in the very transaction
// that moves the run (docs/leases.md).

package runner

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// leaseHold is the lease a change is made under.
type leaseHold struct {
	holder LeaseHolder
	turn   string
	rec    *gitstore.LeaseRecord // nil for a turn that was never leased
	lease  *Lease                // as rec has it; nil without one
	// next is the lease after a transition, nil when it stays as it is.
	next func(*protocol.Transition) *Lease
}

// hold judges who asks for a change and remembers the lease it is made under.
func (c *change) holdLease(ctx context.Context, h *LeaseHolder, how judgement, next func(*protocol.Transition) *Lease) (*Lease, error) {
	seen, err := c.r.judge(ctx, c.view.State, *h, how, c.env.Now)
	if err != nil {
		return nil, err
	}
	c.lease = &leaseHold{holder: *h, turn: h.Ref.StepID, rec: seen.rec, lease: seen.lease, next: next}
	return seen.lease, nil
}

// admitted refuses an operation on a turn that is under a lease: of somebody else
// when the caller has none, or when the caller's own does not hold. It is asked
// before hooks are run; leaseRefs is what decides.
func (c *change) admitted(ctx context.Context, turn *run.Turn, h *LeaseHolder, next func(*protocol.Transition) *Lease) error {
	if h != nil {
		_, err := c.holdLease(ctx, h, judgeAll, next)
		return err
	}
	return c.r.Unleased(ctx, c.view, turn)
}

// leaseRefs are the refs that a transition moves or holds together with the run:
// the lease it is made under, and those of other turns it changes. It costs nothing
// for turns that were never leased.
func (c *change) leaseRefs(ctx context.Context, t *protocol.Transition) ([]git.RefUpdate, error) {
	var refs []git.RefUpdate
	if c.lease != nil {
		u, err := c.lease.update(ctx, c, t)
		if err != nil {
			return nil, err
		}
		refs = append(refs, u)
	}
	runID := c.view.State.Run()
	for id, turn := range c.view.State.ActiveTurns.All() {
		if run.TurnLease(turn) == nil || c.lease != nil && c.lease.turn == id || unchanged(turn, t.State, id) {
			continue
		}
		seen, err := c.r.lookLease(ctx, runID, id)
		switch {
		case err != nil:
			return nil, err
		case seen == nil:
			continue // pruned, or the run came here without its leases
		case seen.lease.Live(c.env.Now):
			return nil, underLease(seen.lease)
		}
		u := git.RefUpdate{Name: seen.rec.Ref, Old: seen.rec.Op, New: seen.rec.Op}
		if seen.lease.Open() {
			if u.New, err = c.r.writeLease(ctx, seen.rec, seen.lease.With(run.LeaseExpired), c); err != nil {
				return nil, err
			}
		}
		refs = append(refs, u)
	}
	return refs, nil
}

// unchanged reports whether a turn is the same after a transition.
func unchanged(turn *run.Turn, after *run.State, id string) bool {
	now, ok := after.ActiveTurns.Get(id)
	return ok && (now == turn || bytes.Equal(ojson.Compact(ojson.Marshal(turn)), ojson.Compact(ojson.Marshal(now))))
}

// update is what happens to the ref of the lease a change is made under.
func (h *leaseHold) update(ctx context.Context, c *change, t *protocol.Transition) (git.RefUpdate, error) {
	var u git.RefUpdate
	if h.rec != nil {
		u = git.RefUpdate{Name: h.rec.Ref, Old: h.rec.Op, New: h.rec.Op}
	}
	var next *Lease
	if h.next != nil {
		next = h.next(t)
	}
	if next == nil {
		return u, nil
	}
	base := h.rec
	if base == nil {
		name, err := gitstore.LeaseRef(next.RunID, next.StepID)
		if err != nil {
			return u, err
		}
		u.Name, base = name, &gitstore.LeaseRecord{Run: next.RunID, Turn: next.StepID, Ref: name}
	}
	oid, err := c.r.writeLease(ctx, base, next, c)
	u.New = oid
	return u, err
}

// writeLease stores a lease as the successor of what its ref is at. A renewal takes
// the place of the renewal before it: the chain tells who had the turn, not how
// often they said so.
func (r *Runner) writeLease(ctx context.Context, base *gitstore.LeaseRecord, l *Lease, c *change) (git.OID, error) {
	at := r.Now()
	if c != nil {
		at = c.env.Now
	}
	rec := gitstore.LeaseRecord{Run: base.Run, Turn: base.Turn, Parent: base.Op, Data: l.Encode(), At: at, Subject: "lease " + l.Status + ": " + l.RunnerID}
	if was, err := run.DecodeLease(base.Data); base.Op != "" && err == nil && was.FencingToken.Token == l.FencingToken.Token && was.Status == l.Status {
		rec.Subject = renewalSubject + l.RunnerID
		if strings.HasPrefix(base.Subject, renewalSubject) {
			rec.Parent = base.Parent
		}
	}
	name, email := r.store.Identity(ctx)
	return gitstore.WriteLease(ctx, r.store.Repository(), rec, evidence.Actor{Name: name, Email: email}, l.Status)
}

const renewalSubject = "lease renewed: "

// moved notes where the lease is after a commit, for the next one of the same change.
func (h *leaseHold) moved(refs []git.RefUpdate) {
	if h == nil || len(refs) == 0 || h.rec == nil || refs[0].Name != h.rec.Ref {
		return
	}
	rec := *h.rec
	rec.Op = refs[0].New
	h.rec = &rec
}

// leaseLost explains a commit that failed because the ref of a lease was not where
// it had been looked at: the turn has changed hands meanwhile.
func (c *change) leaseLost(ctx context.Context, err error) error {
	var moved *git.RefMovedError
	if !errors.As(err, &moved) || !strings.HasPrefix(moved.Name, record.LeaseRefPrefix) {
		return err
	}
	runID, turn, _ := strings.Cut(strings.TrimPrefix(moved.Name, record.LeaseRefPrefix), "/")
	seen, lerr := c.r.lookLease(ctx, runID, turn)
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	if c.lease == nil || c.lease.turn != turn {
		if seen != nil && seen.lease.Live(c.r.Now()) {
			return underLease(seen.lease)
		}
		return err // another command has seen to the lease; this one may try again
	}
	reason := run.RejectSuperseded
	if seen == nil {
		return refuseLease(nil, c.lease.holder, reason)
	}
	l, h := seen.lease, c.lease.holder
	switch {
	case l.FencingToken.Token != h.Ref.FencingToken:
		reason = run.RejectStaleToken
	case l.SessionID != h.SessionID || l.RunnerID != h.RunnerID:
		reason = run.RejectSession
	case l.Status == run.LeaseExpired:
		reason = run.RejectExpired
	case l.Live(c.r.Now()):
		return err // renewed by the holder itself meanwhile; it may try again
	}
	return refuseLease(l, h, reason)
}
