// WithdrawApproval: a person takes back the last approval (docs/spec/gates.md#an-approval-is-taken-back).

package protocol

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpWithdraw is the wire name of WithdrawApproval.
const OpWithdraw = "withdraw_approval"

// WithdrawApproval takes back a person's last approval, as long as no turn was accepted after it: the run waits at
// the same gate again, for the same request. Turns assigned since are dropped. While the gate waits for more
// people, it takes back the one vote of the person who asks.
type WithdrawApproval struct {
	Reason string       `json:"reason,omitempty"`
	Staged []StagedTurn `json:"staged,omitempty"` // what the dropped turns had staged; kept, and charged
	// Vote: take back a vote of a waiting gate. It states the intent: where the gate has opened meanwhile, nothing
	// is taken back.
	Vote bool `json:"vote,omitempty"`
}

func (*WithdrawApproval) Name() string               { return OpWithdraw }
func (op *WithdrawApproval) Blobs() []*evidence.Blob { return stagedBlobs(op.Staged) }

// WithdrawResult is the outcome of WithdrawApproval.
type WithdrawResult struct {
	GateType   string
	Gate       string
	From, To   string // the phase the run is back in, and the one it had entered; To is "" for a completion
	ApprovedBy string
	Reason     string
	Dropped    []string    // ids of the turns that were active
	Vote       bool        // one vote of a gate that keeps waiting was taken back
	Left       []*run.Vote // the votes of others for that gate, including votes for content that has changed since
}

// CheckWithdrawable says whether there is an approval to take back. Codes: inside_dispatched_turn,
// nothing_to_withdraw, run_blocked.
func CheckWithdrawable(s *run.State, actor evidence.Actor) *wire.Error {
	if actor.InsideTurn != "" {
		return &wire.Error{
			Code:    wire.CodeInsideTurn,
			Field:   "actor",
			Message: actor.Place() + "; an agent cannot take an approval back.",
			Hint:    "ask a person to run git agentxchain approve --withdraw in their own terminal",
		}
	}
	nothing := func(why, hint string) *wire.Error {
		return &wire.Error{
			Code:    wire.CodeNothingToWithdraw,
			Field:   "last_approval",
			Message: "No approval can be taken back: " + why,
			Hint:    hint,
		}
	}
	a := s.LastApproval
	kind, _, to := a.Gate()
	switch {
	case run.HasPending(s) && ownVote(s, actor) < 0:
		return nothing(fmt.Sprintf("gate %s still waits, and %s has not approved it.", run.PendingGate(s),
			cmp.Or(actor.Email, "a person without user.email")), "git agentxchain approve --deny --reason TEXT refuses it")
	case run.HasPending(s) && s.Status == wire.StatusBlocked:
		return run.BlockedError(s, "take the approval back")
	case run.HasPending(s):
		return nil
	case s.Status == wire.StatusFailed || s.Run() == "":
		return nothing("the run is over, or none has begun.", "git agentxchain status")
	case kind == "" && s.Status == wire.StatusCompleted:
		return nothing("the approval policy completed the run, or it was approved before this could be undone.",
			"git agentxchain assign --new-run")
	case kind == "", wire.OrEmpty(a.LastTurn) != wire.OrEmpty(s.LastCompletedTurnID):
		return nothing("a turn was accepted since, the approval policy passed a gate, or none was approved yet.",
			"git agentxchain escalate --reason TEXT stops the run; git agentxchain abandon --reason TEXT ends it")
	case s.Status == wire.StatusBlocked:
		return run.BlockedError(s, "take the approval back")
	case kind == run.GatePhase && (s.Status != wire.StatusActive || s.Phase != to),
		kind == run.GateCompletion && s.Status != wire.StatusCompleted:
		return nothing("the run has moved on since.", "git agentxchain status")
	}
	return nil
}

// ownVote returns the index of the actor's vote among those for the waiting gate, or -1.
func ownVote(s *run.State, actor evidence.Actor) int {
	return slices.IndexFunc(s.GateVotes, func(v *run.Vote) bool {
		return agreement.SamePerson(v.Principal, actor.Email)
	})
}

func (op *WithdrawApproval) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := CheckWithdrawable(s, t.Env.Actor); err != nil {
		return err
	}
	if op.Vote != run.HasPending(s) {
		return &wire.Error{
			Code:    wire.CodeNothingToWithdraw,
			Field:   "vote",
			Message: "No approval can be taken back: the gate is not as it was when this was asked for.",
			Hint:    "git agentxchain approve --withdraw",
		}
	}
	reason := wire.TrimSpace(op.Reason)
	if len(reason) > change.MaxReason {
		return change.ReasonTooLong(reason)
	}
	if op.Vote {
		op.takeVote(t, reason)
		return nil
	}
	a := s.LastApproval
	kind, gate, to := a.Gate()
	res := &WithdrawResult{
		GateType:   kind,
		Gate:       gate,
		From:       s.Phase,
		To:         to,
		ApprovedBy: a.By.String("name"),
		Reason:     reason,
	}
	var dropped []*ojson.Object
	res.Dropped, dropped = giveUp(t, op.Staged, "pending")

	by, payload := "", ojson.NewObject("gate_type", kind)
	if p := a.Transition; p != nil {
		// A foreign record may lack the phase that the run came from; a run enters a phase from the one before.
		res.From = cmp.Or(p.From, s.Phase)
		s.Phase, s.PendingPhaseTransition, by = res.From, p, p.RequestedByTurn
		payload.Set("from", res.From)
		payload.Set("to", p.To)
	} else {
		s.PendingRunCompletion, by = a.Completion, a.Completion.RequestedByTurn
		s.CompletedAt = nil
	}
	s.PhaseEnteredAt, s.PhaseClockAt, s.NextRecommendedRole = a.PhaseEnteredAt, nil, a.NextRole
	if a.GateStatus == "" {
		s.PhaseGateStatus.Delete(gate)
	} else {
		s.PhaseGateStatus.Set(gate, a.GateStatus)
	}
	s.LastGateFailure = nil
	t.Index.PhasesDone = slices.DeleteFunc(slices.Clone(t.Index.PhasesDone), func(p string) bool {
		return p == s.Phase
	})

	who := withdrawn(t, res, by, a.By, a.At, dropped)
	t.Event(run.EventApprovalWithdrawn, nil, "gate_type", kind, "gate_id", ojson.OrNull(gate),
		"from", res.From, "to", ojson.OrNull(to), "reason", ojson.OrNull(reason), "by", who, "dropped_turns", dropped)
	pause(t, gate, payload)
	if kind == run.GateCompletion {
		t.RunHistory("") // the run's earlier row says that it completed
	}
	t.Subject = SubjectWithdrawn + gate
	return nil
}

// SubjectWithdrawn begins the subject of an operation that took back a whole approval, not one vote of a waiting
// gate.
const SubjectWithdrawn = "withdraw the approval of "

// takeVote removes the actor's own vote for the waiting gate, which keeps waiting.
func (op *WithdrawApproval) takeVote(t *change.Draft, reason string) {
	s, w := t.State, t.State.Waiting()
	at := ownVote(s, t.Env.Actor)
	v := s.GateVotes[at]
	s.GateVotes = slices.Delete(slices.Clone(s.GateVotes), at, at+1)
	who := withdrawn(t, &WithdrawResult{
		GateType:   w.Type,
		Gate:       w.Gate,
		From:       w.From,
		To:         w.To,
		ApprovedBy: cmp.Or(v.Name, v.Principal),
		Reason:     reason,
		Dropped:    []string{},
		Vote:       true,
		Left:       s.GateVotes,
	}, w.By, ojson.NewObject("name", v.Name, "email", v.Principal), v.At, []*ojson.Object{})
	t.Event(run.EventGateVote, nil, "gate_type", w.Type, "gate_id", ojson.OrNull(w.Gate), "votes", len(s.GateVotes),
		"withdrawn_by", who, "reason", ojson.OrNull(reason))
	t.Subject = fmt.Sprintf("withdraw a vote for %s: %d left", w.Gate, len(s.GateVotes))
}

// withdrawn records whose approval was taken back, by whom and why, and returns by whom.
func withdrawn(t *change.Draft, res *WithdrawResult, by string, of *ojson.Object, at string,
	dropped []*ojson.Object) (who *ojson.Object) {
	who = ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email)
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "approval_withdrawn",
		"gate_type", res.GateType,
		"gate_id", ojson.OrNull(res.Gate),
		"from_phase", ojson.OrNull(res.From),
		"to_phase", ojson.OrNull(res.To),
		"requested_by_turn", ojson.OrNull(by),
		"approved_by", of,
		"approved_at", at,
		"withdrawn_by", who,
		"reason", ojson.OrNull(res.Reason),
		"dropped_turns", dropped,
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("takes an approval back", "gate "+res.Gate, res.Reason)
	t.Session = "approval_withdrawn"
	t.Result = res
	return who
}

// noteApproval keeps what taking back an approval would restore, and forgets it once something was built on the
// approval.
func noteApproval(t *change.Draft, op Operation) {
	s := t.State
	switch op := op.(type) {
	case *ApprovePhase:
		undoable(t, &op.Approval)
	case *ApproveCompletion:
		undoable(t, &op.Approval)
	case *AcceptTurn:
		if t.Failure == nil {
			s.LastApproval = nil
		}
	case *InitRun, *WithdrawApproval, *DenyGate, *AbandonRun:
		s.LastApproval = nil
	}
}

// undoable does what noteApproval does for an approval. An approval that dropped a turn at work cannot be taken
// back, because the turn is gone; nor can a vote of several that leaves the gate waiting.
func undoable(t *change.Draft, a *Approval) {
	s, before := t.State, t.Before.State
	if t.Failure != nil || run.HasPending(s) {
		return
	}
	s.LastApproval = nil
	if !a.Undoable || len(t.DropTurns) > 0 {
		return
	}
	gate := run.PendingGate(before)
	status, _ := before.PhaseGateStatus.Get(gate)
	s.LastApproval = &run.LastApproval{
		Transition:     before.PendingPhaseTransition,
		GateStatus:     status,
		PhaseEnteredAt: before.PhaseEnteredAt,
		NextRole:       before.NextRecommendedRole,
		LastTurn:       before.LastCompletedTurnID,
		At:             t.Env.Time(),
		By:             ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email),
	}
	if s.Status == wire.StatusCompleted {
		s.LastApproval.Transition, s.LastApproval.Completion = nil, before.PendingRunCompletion
	}
}
