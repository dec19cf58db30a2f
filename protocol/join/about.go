// What an operation concerns where its arguments leave that to the state.

package join

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// About names what an operation concerns in the run it is applied to: an acceptance or a rejection this attempt of a
// turn, an unblock this block, an approval this request. Who decided it had that in mind, so decided again it may
// concern nothing else. It returns "" for an operation whose arguments say it all, and where there is nothing of the
// kind. tr is the outcome, nil where it is not known.
func About(op protocol.Operation, snap *protocol.Snapshot, tr *protocol.Transition) string {
	s := snap.State
	switch op := op.(type) {
	case *protocol.AssignTurn:
		var what []string
		if tr != nil {
			what = handedOut(tr)
		}
		if op.LeaveGate && waiting(s) != "" {
			what = append(what, waiting(s))
		}
		return strings.Join(what, ", ")
	case *protocol.AcceptTurn:
		return attemptOf(s, op.TurnID, "accept")
	case *protocol.RejectTurn:
		return attemptOf(s, op.TurnID, "reject")
	case *attempt.DispatchTurn:
		return attemptOf(s, op.TurnID, "dispatch")
	case *attempt.AdvanceTurn:
		return attemptOf(s, op.TurnID, "advance")
	case *attempt.DispatchTimeout:
		return attemptOf(s, op.TurnID, "time out")
	case *attempt.Watch:
		var what []string
		for _, turn := range op.Turns {
			if one := attemptOf(s, turn.TurnID, "watch"); one != "" {
				what = append(what, one)
			}
		}
		return strings.Join(what, ", ")
	case *protocol.ReissueTurn:
		if turn, err := run.ResolveTurn(s, op.TurnID, "reissue"); err == nil {
			return "turn " + turn.TurnID
		}
	case *protocol.Reactivate:
		if s.BlockedOn == nil {
			return ""
		}
		what := "the block " + *s.BlockedOn
		if id := run.CurrentEscalation(s, snap.Index.OpenEscalations).String("escalation_id"); id != "" {
			what += " (" + id + ")"
		}
		return what
	case *protocol.ApprovePhase, *protocol.ApproveCompletion, *protocol.DenyGate:
		return waiting(s)
	case *protocol.WithdrawApproval:
		if op.Vote {
			return waiting(s)
		}
		_, gate, _ := s.LastApproval.Gate()
		if s.LastApproval != nil {
			return "the approval of gate " + gate + " at " + s.LastApproval.At
		}
	case *protocol.RetryGate:
		if f := s.LastGateFailure; f != nil {
			return fmt.Sprintf("gate %s, which turn %s asked for", wire.OrEmpty(f.GateID),
				wire.OrEmpty(f.RequestedByTurn))
		}
	case *protocol.CloseObjection:
		if o := op.Objection(snap.Index); o != nil {
			return fmt.Sprintf("objection %s of turn %s: %s", o.String("id"), o.String("turn_id"),
				run.Clip(o.String("statement"), 200))
		}
	}
	return ""
}

// attemptOf names the attempt of a turn that is under way.
func attemptOf(s *run.State, id, verb string) string {
	turn, err := run.ResolveTurn(s, id, verb)
	if err != nil {
		return ""
	}
	what := fmt.Sprintf("attempt %d of turn %s", turn.Attempt, turn.TurnID)
	if at := turn.LastRejection.String("rejected_at"); at != "" {
		what += ", sent back at " + at
	}
	return what
}

// handedOut names the role of a new turn and the work that it was given besides: its instructions contain that.
func handedOut(tr *protocol.Transition) []string {
	what := []string{"a turn of role " + tr.Role}
	out, ok := tr.Result.(*protocol.AssignResult)
	if !ok {
		return what
	}
	for _, given := range []struct {
		by        *ojson.Object
		as, names string
	}{
		{out.Turn.IntakeContext, "intent", "intent_id"},
		{out.Turn.IntakeContext, "charter", "charter_id"},
		{out.Turn.DelegationContext, "delegation", "delegation_id"},
		{out.Turn.DelegationReview, "the review of what was delegated by", "parent_turn_id"},
	} {
		if id := given.by.String(given.names); id != "" {
			what = append(what, given.as+" "+id)
		}
	}
	return what
}

// WithoutNewIntent returns the record of an assignment such that it binds no intent, where it bound none: the turn's
// instructions do not contain an intent that another machine has recorded since. The next turn gets it.
func WithoutNewIntent(rec *protocol.Record, was *protocol.Transition) *protocol.Record {
	op, ok := rec.Op.(*protocol.AssignTurn)
	if !ok || op.NoIntent || was == nil {
		return rec
	}
	if out, ok := was.Result.(*protocol.AssignResult); !ok || out.Turn.IntakeContext.String("intent_id") != "" {
		return rec
	}
	fresh, assign := *rec, *op
	assign.NoIntent = true
	fresh.Op = &assign
	return &fresh
}

// WithoutNewMail returns the record of an operation such that it delivers no message that its bundle lacks, nil where
// it delivers none: another machine has sent it since. now is the outcome with such messages.
func WithoutNewMail(rec *protocol.Record, snap *protocol.Snapshot, was, now *protocol.Transition) *protocol.Record {
	if was == nil {
		return nil
	}
	had := append(was.Index.Mailbox.With(now.Turn), snap.Index.Mailbox.With(now.Turn)...)
	var late []string
	for _, m := range now.Index.Mailbox.With(now.Turn) {
		if !slices.ContainsFunc(had, func(h *run.OpenMessage) bool { return h.ID == m.ID }) {
			late = append(late, m.ID)
		}
	}
	if len(late) == 0 {
		return nil
	}
	fresh := *rec
	switch op := rec.Op.(type) {
	case *protocol.AssignTurn:
		c := *op
		c.LateMail, fresh.Op = slices.Concat(op.LateMail, late), &c
	case *protocol.ReissueTurn:
		c := *op
		c.LateMail, fresh.Op = slices.Concat(op.LateMail, late), &c
	case *protocol.RejectTurn:
		c := *op
		c.LateMail, fresh.Op = slices.Concat(op.LateMail, late), &c
	case *attempt.DispatchTurn:
		c := *op
		c.LateMail, fresh.Op = slices.Concat(op.LateMail, late), &c
	default:
		return nil
	}
	return &fresh
}

// Again reports whether now records the operation that was records, decided again: by the same person, at the same
// time, on the same evidence. It may differ only in what a join changes: what is left out of instructions, and the row
// of a checkpoint.
func Again(was, now *protocol.Record) bool {
	return was.Op != nil && now.Op != nil && sameKey(was) == sameKey(now) && bytes.Equal(kernel(was), kernel(now))
}

func kernel(rec *protocol.Record) []byte {
	fresh := *rec
	switch op := rec.Op.(type) {
	case *protocol.AssignTurn:
		c := *op
		c.NoIntent, c.LateMail, fresh.Op = false, nil, &c
	case *protocol.ReissueTurn:
		c := *op
		c.LateMail, fresh.Op = nil, &c
	case *protocol.RejectTurn:
		c := *op
		c.LateMail, fresh.Op = nil, &c
	case *attempt.DispatchTurn:
		c := *op
		c.LateMail, fresh.Op = nil, &c
	case *commits.Checkpoint:
		c := *op
		c.Row, fresh.Op = nil, &c
	}
	doc, _ := fresh.Encode()
	return doc
}

// waiting names the request for which a run waits for a person, "" for none.
func waiting(s *run.State) string {
	w := request(s)
	if w == (run.Waiting{}) {
		return ""
	}
	return fmt.Sprintf("the request of turn %s for gate %s", w.By, w.Gate)
}

// otherwise refuses an operation that would now concern something else.
func otherwise(op protocol.Operation, was, now string) *Refusal {
	return &Refusal{
		Reason:  AskAgain,
		Message: "it was about " + was + "; now it would be about " + now,
		Ways:    WaysOf(op),
	}
}
