// Delegations at acceptance: queueing, fulfilment, the parent's review
// (docs/spec/lifecycle.md#delegation, docs/spec/results.md#delegations).

package protocol

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// delegations queues what the turn delegates, closes the delegation it fulfils and opens the parent's review when
// its last child is done.
func (a *acceptance) delegations(entry *ojson.Object) {
	t, s := a.t, a.t.State
	for _, d := range a.res.Delegations {
		s.DelegationQueue = append(s.DelegationQueue, &run.Delegation{
			DelegationID:        d.ID,
			ParentTurnID:        a.turn.TurnID,
			ParentRole:          a.turn.AssignedRole,
			ToRole:              d.ToRole,
			Charter:             d.Charter,
			AcceptanceContract:  d.AcceptanceContract,
			RequiredDecisionIDs: d.RequiredDecisionIDs,
			Status:              "pending",
			CreatedAt:           t.Env.Time(),
		})
	}
	if len(a.res.Delegations) > 0 {
		s.NextRecommendedRole = new(a.res.Delegations[0].ToRole)
	}
	if a.reviews(s.PendingDelegation) {
		// Only the turn that was given the results has reviewed them; another turn
		// of the same role has not.
		s.PendingDelegation = nil
	}
	child := a.fulfil(entry)
	openReview(t)
	if !child {
		return
	}
	if r := s.PendingDelegation; r != nil {
		s.NextRecommendedRole = new(r.ParentRole)
		return
	}
	for _, d := range s.DelegationQueue {
		if role := d.Due(); role != "" {
			s.NextRecommendedRole = new(role)
			return
		}
	}
}

// reviews reports whether the turn was given the results of the review.
func (a *acceptance) reviews(r *run.DelegationReview) bool {
	given := a.turn.DelegationReview
	return r != nil && given != nil && given.String("parent_turn_id") == r.ParentTurnID
}

// delegationsRemain reports whether delegated work would still be open once this turn is accepted.
func (a *acceptance) delegationsRemain() bool {
	s := a.t.State
	return len(a.res.Delegations) > 0 || len(s.DelegationQueue) > 0 ||
		s.PendingDelegation != nil && !a.reviews(s.PendingDelegation)
}

// fulfil closes the delegation that the turn worked on; it counts as completed only if the turn did. A delegation
// is identified by its parent and its id (docs/compatibility.md#where-we-differ-on-purpose).
func (a *acceptance) fulfil(entry *ojson.Object) bool {
	ctx, s := a.turn.DelegationContext, a.t.State
	if ctx == nil {
		return false
	}
	for i, d := range s.DelegationQueue {
		if d.ParentTurnID != ctx.String("parent_turn_id") || d.DelegationID != ctx.String("delegation_id") {
			continue
		}
		c := *d
		c.Status = "failed"
		if a.res.Status == wire.ResultCompleted {
			c.Status = "completed"
		}
		c.ChildTurnID = new(a.turn.TurnID)
		s.DelegationQueue[i] = &c
		a.t.Index.DelegationRows.Set(a.turn.TurnID, entry)
	}
	return true
}

// openReview gives the results of the first parent whose delegations have all ended to its role. Only one review
// can be open: a second parent's results wait in the queue.
func openReview(t *change.Draft) {
	s := t.State
	if s.PendingDelegation != nil {
		return
	}
	open := make(map[string]bool)
	for _, d := range s.DelegationQueue {
		if d.Status == "pending" || d.Status == "active" {
			open[d.ParentTurnID] = true
		}
	}
	i := slices.IndexFunc(s.DelegationQueue, func(d *run.Delegation) bool { return !open[d.ParentTurnID] })
	if i < 0 {
		return
	}
	parent := s.DelegationQueue[i]
	review := &run.DelegationReview{ParentTurnID: parent.ParentTurnID, ParentRole: parent.ParentRole}
	s.DelegationQueue = slices.DeleteFunc(slices.Clone(s.DelegationQueue), func(d *run.Delegation) bool {
		if d.ParentTurnID != parent.ParentTurnID {
			return false
		}
		row, _ := t.Index.DelegationRows.Get(wire.OrEmpty(d.ChildTurnID))
		review.Results = append(review.Results, DelegationResult(d, row))
		t.Index.DelegationRows.Delete(wire.OrEmpty(d.ChildTurnID))
		return true
	})
	s.PendingDelegation = review
}

// DelegationResult returns one row of a pending delegation review (docs/spec/state.md#delegation); row is the
// child's history row, or nil.
func DelegationResult(d *run.Delegation, row *ojson.Object) *ojson.Object {
	summary := "(no summary)"
	verification := ojson.NewObject("status", "skipped")
	files := []string{}
	made := map[string]bool{}
	if row != nil {
		summary = row.String("summary")
		files = append(files, row.Strings("files_changed")...)
		if v := row.Object("verification"); v != nil {
			verification = v
		}
		for _, dec := range row.Objects("decisions") {
			made[dec.String("id")] = true
		}
	}
	satisfied, missing := []string{}, []string{}
	for _, id := range d.RequiredDecisionIDs {
		if made[id] {
			satisfied = append(satisfied, id)
		} else {
			missing = append(missing, id)
		}
	}
	return ojson.NewObject("delegation_id", d.DelegationID, "child_turn_id", d.ChildTurnID, "to_role", d.ToRole,
		"charter", d.Charter,
		"acceptance_contract", d.AcceptanceContract,
		"required_decision_ids", append([]string{}, d.RequiredDecisionIDs...),
		"satisfied_decision_ids", satisfied, "missing_decision_ids", missing, "summary", summary, "status", d.Status,
		"files_changed", files, "verification", verification)
}
