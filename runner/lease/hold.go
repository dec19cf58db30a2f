// The fencing point: the ref of a lease is held, or moved on, in the same transaction that moves
// the run (docs/leases.md).

package lease

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Hold is the lease that a change is made under.
type Hold struct {
	Holder Holder
	Turn   string
	Rec    *lease.Record // nil for a turn that was never leased
	Lease  *run.Lease    // as Rec has it; nil without one
	// Next returns the lease after a transition, nil when it stays as it is.
	Next func(*protocol.Transition) *run.Lease
}

// Refs returns the refs that a transition moves or holds together with the run: that of the lease
// it is made under, if any, and those of other turns it changes. before is the run until then. It
// costs nothing for turns that were never leased.
func (h *Hold) Refs(
	ctx context.Context,
	s *gitstore.Store,
	before *run.State,
	t *protocol.Transition,
	now time.Time,
) ([]git.RefUpdate, error) {
	var refs []git.RefUpdate
	if h != nil {
		u, err := h.update(ctx, s, t, now)
		if err != nil {
			return nil, err
		}
		refs = append(refs, u)
	}
	runID := before.Run()
	for id, turn := range before.ActiveTurns.All() {
		if run.TurnLease(turn) == nil || h != nil && h.Turn == id || unchanged(turn, t.State, id) {
			continue
		}
		seen, err := Look(ctx, s, runID, id)
		switch {
		case err != nil:
			return nil, err
		case seen == nil:
			continue // pruned, or the run came here without its leases
		case seen.Lease.Live(now):
			return nil, RefuseOthers(seen.Lease)
		}
		u := git.RefUpdate{Name: seen.Rec.Ref, Old: seen.Rec.Op, New: seen.Rec.Op}
		if seen.Lease.Open() {
			if u.New, err = Write(ctx, s, seen.Rec, seen.Lease.With(run.LeaseExpired), now); err != nil {
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

// update returns the update of the ref of the lease that a change is made under.
func (h *Hold) update(
	ctx context.Context,
	s *gitstore.Store,
	t *protocol.Transition,
	now time.Time,
) (git.RefUpdate, error) {
	var u git.RefUpdate
	if h.Rec != nil {
		u = git.RefUpdate{Name: h.Rec.Ref, Old: h.Rec.Op, New: h.Rec.Op}
	}
	var next *run.Lease
	if h.Next != nil {
		next = h.Next(t)
	}
	if next == nil {
		return u, nil
	}
	base := h.Rec
	if base == nil {
		name, err := lease.Ref(next.RunID, next.StepID)
		if err != nil {
			return u, err
		}
		u.Name, base = name, &lease.Record{Run: next.RunID, Turn: next.StepID, Ref: name}
	}
	oid, err := Write(ctx, s, base, next, now)
	u.New = oid
	return u, err
}

// Write stores a lease as the successor of the one at its ref. A renewal replaces the renewal
// before it: the chain records who had the turn, not how often they said so.
func Write(ctx context.Context, s *gitstore.Store, base *lease.Record, l *run.Lease, at time.Time) (object.OID,
	error) {
	rec := lease.Record{
		Run:     base.Run,
		Turn:    base.Turn,
		Parent:  base.Op,
		Data:    l.Encode(),
		At:      at,
		Subject: "lease " + l.Status + ": " + l.RunnerID,
	}
	if was, err := run.DecodeLease(base.Data); base.Op != "" && err == nil &&
		was.FencingToken.Token == l.FencingToken.Token && was.Status == l.Status {
		rec.Subject = renewalSubject + l.RunnerID
		if strings.HasPrefix(base.Subject, renewalSubject) {
			rec.Parent = base.Parent
		}
	}
	name, email := s.Identity(ctx)
	return lease.Write(ctx, s.Repository(), rec, evidence.Actor{Name: name, Email: email}, l.Status)
}

const renewalSubject = "lease renewed: "

// Moved notes where the lease is after a commit, for the next one of the same change.
func (h *Hold) Moved(refs []git.RefUpdate) {
	if h == nil || len(refs) == 0 || h.Rec == nil || refs[0].Name != h.Rec.Ref {
		return
	}
	rec := *h.Rec
	rec.Op = refs[0].New
	h.Rec = &rec
}

// Lost explains a commit that failed because the ref of a lease had moved since it was read: the
// turn has changed hands meanwhile.
func (h *Hold) Lost(ctx context.Context, s *gitstore.Store, now time.Time, err error) error {
	var moved *git.RefMovedError
	if !errors.As(err, &moved) || !strings.HasPrefix(moved.Name, record.LeaseRefPrefix) {
		return err
	}
	runID, turn, _ := strings.Cut(strings.TrimPrefix(moved.Name, record.LeaseRefPrefix), "/")
	seen, lerr := Look(ctx, s, runID, turn)
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	if h == nil || h.Turn != turn {
		if seen != nil && seen.Lease.Live(now) {
			return RefuseOthers(seen.Lease)
		}
		return err // another command has handled the lease; this one may try again
	}
	reason := run.RejectSuperseded
	if seen == nil {
		return Refuse(nil, h.Holder, reason)
	}
	l, by := seen.Lease, h.Holder
	switch {
	case l.FencingToken.Token != by.Ref.FencingToken:
		reason = run.RejectStaleToken
	case l.SessionID != by.SessionID || l.RunnerID != by.RunnerID:
		reason = run.RejectSession
	case l.Status == run.LeaseExpired:
		reason = run.RejectExpired
	case l.Live(now):
		return err // renewed by the holder itself meanwhile; it may try again
	}
	return Refuse(l, by, reason)
}
