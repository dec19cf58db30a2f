// Copies of states and indexes.

package run

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Clone returns a deep copy: it encodes to the same bytes and shares no mutable data.
func (s *State) Clone() *State { return s.Copy(deepObjects) }

// Clone returns a deep copy, like State.Clone.
func (x *Index) Clone() *Index { return x.Copy(deepObjects) }

// objectCopy says how a copy treats the raw objects inside it. The engine never changes one in place, so its
// private copies may share them; copies handed out may not.
type objectCopy func(*ojson.Object) *ojson.Object

func deepObjects(o *ojson.Object) *ojson.Object   { return o.Clone() }
func SharedObjects(o *ojson.Object) *ojson.Object { return o }

func (f objectCopy) list(rows []*ojson.Object) []*ojson.Object {
	if rows == nil {
		return nil
	}
	return ojson.List(rows, func(r *ojson.Object) *ojson.Object { return f(r) })
}

func (f objectCopy) extra(e ojson.Extra) ojson.Extra {
	return e.Clone(func(v ojson.Value) ojson.Value {
		switch v := v.(type) {
		case *ojson.Object:
			return f(v)
		case []any:
			return ojson.CloneValue(v)
		}
		return v
	})
}

func copyPtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Copy returns an independent state, its unknown members copied with f.
func (s *State) Copy(f objectCopy) *State {
	if s == nil {
		return nil
	}
	c := *s
	for _, p := range []**string{&c.RunID, &c.CreatedAt, &c.PhaseEnteredAt, &c.PhaseClockAt, &c.CompletedAt,
		&c.AcceptedIntegrationRef, &c.LastCompletedTurnID,
		&c.BlockedOn, &c.NextRecommendedRole, &c.NonProgressSignature,
		&c.AuthorityBase} {
		*p = copyPtr(*p)
	}
	for _, p := range []**ojson.Object{&c.LastCompletedTurn, &c.Escalation, &c.Provenance, &c.InheritedContext} {
		*p = f(*p)
	}
	c.ActiveTurns = s.ActiveTurns.Clone(func(t *Turn) *Turn { return t.copy(f) })
	c.PhaseGateStatus = s.PhaseGateStatus.Clone(nil)
	c.BudgetReservations = s.BudgetReservations.Clone(f)
	c.BlockedReason = s.BlockedReason.copy(f)
	c.PendingPhaseTransition = s.PendingPhaseTransition.copy(f)
	c.PendingRunCompletion = s.PendingRunCompletion.copy(f)
	c.LastApproval = s.LastApproval.copy(f)
	if q := s.QueuedPhaseTransition; q != nil {
		c.QueuedPhaseTransition = copyPtr(q)
		c.QueuedPhaseTransition.Extra = f.extra(q.Extra)
	}
	if q := s.QueuedRunCompletion; q != nil {
		c.QueuedRunCompletion = copyPtr(q)
		c.QueuedRunCompletion.Extra = f.extra(q.Extra)
	}
	c.LastGateFailure = s.LastGateFailure.copy(f)
	c.Abandoned = s.Abandoned.copy(f)
	c.BudgetStatus.RemainingUSD = copyPtr(s.BudgetStatus.RemainingUSD)
	c.BudgetStatus.Extra = f.extra(s.BudgetStatus.Extra)
	if s.DelegationQueue != nil {
		c.DelegationQueue = make([]*Delegation, len(s.DelegationQueue))
		for i, d := range s.DelegationQueue {
			c.DelegationQueue[i] = d.copy(f)
		}
	}
	if s.CharterQueue != nil {
		c.CharterQueue = make([]*Charter, len(s.CharterQueue))
		for i, q := range s.CharterQueue {
			c.CharterQueue[i] = q.Copy(f)
		}
	}
	c.CharterPlans = f.list(s.CharterPlans)
	c.Intents = f.list(s.Intents)
	if r := s.PendingDelegation; r != nil {
		c.PendingDelegation = copyPtr(r)
		c.PendingDelegation.Results = f.list(r.Results)
		c.PendingDelegation.Extra = f.extra(r.Extra)
	}
	c.RepoDecisions = f.list(s.RepoDecisions)
	c.GateDocuments = s.GateDocuments.Clone(func(m *DocumentMark) *DocumentMark {
		out := *m
		out.Extra = f.extra(m.Extra)
		return &out
	})
	if s.GateVotes != nil {
		c.GateVotes = make([]*Vote, len(s.GateVotes))
		for i, v := range s.GateVotes {
			c.GateVotes[i] = copyPtr(v)
			c.GateVotes[i].Extra = f.extra(v.Extra)
		}
	}
	c.SpentNonces = slices.Clone(s.SpentNonces)
	if s.Overruled != nil {
		c.Overruled = make([]*Overrule, len(s.Overruled))
		for i, o := range s.Overruled {
			c.Overruled[i] = o.copy(f)
		}
	}
	c.Extra = f.extra(s.Extra)
	return &c
}

func (t *Turn) copy(f objectCopy) *Turn {
	if t == nil {
		return nil
	}
	c := *t
	for _, p := range []**ojson.Object{&c.IntakeContext, &c.DelegationContext, &c.DelegationReview, &c.LastRejection,
		&c.ConflictState, &c.ConflictContext} {
		*p = f(*p)
	}
	c.Baseline = t.Baseline.copy(f)
	c.ConcurrentWith = slices.Clone(t.ConcurrentWith)
	c.Carried = slices.Clone(t.Carried)
	c.Extra = f.extra(t.Extra)
	return &c
}

func (b *Baseline) copy(f objectCopy) *Baseline {
	if b == nil {
		return nil
	}
	c := *b
	c.HeadRef = copyPtr(b.HeadRef)
	c.DirtySnapshot = b.DirtySnapshot.Clone(nil)
	c.Extra = f.extra(b.Extra)
	return &c
}

func (r *BlockedReason) copy(f objectCopy) *BlockedReason {
	if r == nil {
		return nil
	}
	c := *r
	c.TurnID = copyPtr(r.TurnID)
	c.Recovery.Detail = copyPtr(r.Recovery.Detail)
	c.Recovery.Extra = f.extra(r.Recovery.Extra)
	c.Extra = f.extra(r.Extra)
	return &c
}

func (g *GateFailure) copy(f objectCopy) *GateFailure {
	if g == nil {
		return nil
	}
	c := *g
	for _, p := range []**string{&c.GateID, &c.FromPhase, &c.ToPhase, &c.RequestedByTurn} {
		*p = copyPtr(*p)
	}
	c.Reasons, c.MissingFiles = slices.Clone(g.Reasons), slices.Clone(g.MissingFiles)
	c.Extra = f.extra(g.Extra)
	return &c
}

func (d *Delegation) copy(f objectCopy) *Delegation {
	if d == nil {
		return nil
	}
	c := *d
	c.AcceptanceContract, c.RequiredDecisionIDs = slices.Clone(d.AcceptanceContract),
		slices.Clone(d.RequiredDecisionIDs)
	c.ChildTurnID = copyPtr(d.ChildTurnID)
	c.Extra = f.extra(d.Extra)
	return &c
}

// Copy returns an independent index, its unknown members copied with f.
func (x *Index) Copy(f objectCopy) *Index {
	if x == nil {
		return nil
	}
	c := *x
	c.PhaseAccepted = x.PhaseAccepted.Clone(nil)
	c.Participants = x.Participants.Clone(slices.Clone[[]string])
	c.RolesUsed, c.PhasesDone = slices.Clone(x.RolesUsed), slices.Clone(x.PhasesDone)
	if x.DecisionIDs != nil {
		c.DecisionIDs, _ = ojson.CloneValue(x.DecisionIDs).([]any)
	}
	c.Uncheckpointed = x.Uncheckpointed.Clone(nil)
	for _, p := range []**ojson.Object{&c.LastRow, &c.QueuedRow, &c.QueuedDone} {
		*p = f(*p)
	}
	for _, p := range []*[]*ojson.Object{&c.Recent, &c.RecentDecisions, &c.RecentTurns, &c.OpenEscalations,
		&c.OpenObjections} {
		*p = f.list(*p)
	}
	c.DelegationRows = x.DelegationRows.Clone(f)
	c.Mailbox = x.Mailbox.copy()
	c.Extra = f.extra(x.Extra)
	return &c
}
