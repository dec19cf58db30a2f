// Delegations as messages: the handoff to the child turn and its answer
// (docs/monarchic-export.md#the-mailbox).

package bridge

import (
	"cmp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// handoffs returns the delegations of the accepted turns, each followed by its outcome.
func (x *Export) handoffs() []*Mail {
	var out []*Mail
	for _, row := range x.facts.history {
		for _, d := range row.Objects("delegations_issued") {
			h := x.handoff(row, d)
			out = append(out, h)
			if answer := x.handback(h, row, d); answer != nil {
				out = append(out, answer)
			}
		}
	}
	return out
}

func (x *Export) handoff(row, d *ojson.Object) *Mail {
	parent := row.String("turn_id")
	id := delegationID(parent, d.String("id"))
	m := &Mail{Derived: true, State: MailWaiting, Addressed: d.String("to_role"), FromRole: row.String("role"),
		Message: &portable.TaskMessage{
			Version:      portable.Version,
			MessageID:    id,
			RunID:        x.Run,
			FromTaskID:   parent,
			ToTaskID:     id,
			Kind:         portable.KindHandoff,
			Subject:      subjectLine(d.String("charter")),
			Body:         strings.Join(d.Strings("acceptance_contract"), "\n"),
			ArtifactRefs: []string{},
			CreatedAt:    x.timestamp(row.String("accepted_at")),
			RequiresAck:  true,
			Extensions:   ours(d),
		}}
	child, done := x.childOf(parent, d.String("id"))
	if child == "" {
		if x.ended() {
			m.State = MailUndelivered
		}
		return m
	}
	m.Message.ToTaskID, m.State = child, MailDelivered
	given := cmp.Or(x.dispatchedAt(child), done.String("started_at"), done.String("accepted_at"),
		row.String("accepted_at"))
	m.Acks = append(m.Acks, x.ack(id, child, given, portable.AckReceived, ""))
	switch {
	case done == nil:
		if turn, ok := x.facts.state.ActiveTurns.Get(child); ok && turn.Status != wire.TurnAssigned {
			m.Acks = append(m.Acks, x.ack(id, child, given, portable.AckAccepted, ""))
		}
	case done.String("status") == wire.ResultCompleted:
		m.Acks = append(m.Acks, x.ack(id, child, given, portable.AckAccepted, ""),
			x.ack(id, child, done.String("accepted_at"), portable.AckResolved, ""))
	default:
		m.Acks = append(m.Acks, x.ack(id, child, done.String("accepted_at"), portable.AckRejected,
			cmp.Or(done.String("summary"), done.String("status"))))
	}
	return m
}

// childOf returns the turn that a delegation went to, and its row once it is accepted.
func (x *Export) childOf(parent, id string) (string, *ojson.Object) {
	of := func(c *ojson.Object) bool {
		return c.String("parent_turn_id") == parent && c.String("delegation_id") == id
	}
	for _, row := range x.facts.history {
		if of(row.Object("delegation_context")) {
			return row.String("turn_id"), row
		}
	}
	for turn, t := range x.facts.state.ActiveTurns.All() {
		if of(t.DelegationContext) {
			return turn, nil
		}
	}
	return "", nil
}

// handback returns the child turn's answer, nil before it is accepted.
func (x *Export) handback(h *Mail, row, d *ojson.Object) *Mail {
	parent := row.String("turn_id")
	child, done := x.childOf(parent, d.String("id"))
	if done == nil {
		return nil
	}
	id := h.Message.MessageID + ".result"
	m := &Mail{Derived: true, State: MailWaiting, Addressed: row.String("role"), FromRole: done.String("role"),
		Message: &portable.TaskMessage{
			Version:      portable.Version,
			MessageID:    id,
			RunID:        x.Run,
			FromTaskID:   child,
			ToTaskID:     parent,
			Kind:         portable.KindClarificationResponse,
			Body:         cmp.Or(done.String("summary"), done.String("status")),
			ArtifactRefs: x.artifactIDs(child),
			ReplyTo:      h.Message.MessageID,
			CreatedAt:    x.timestamp(done.String("accepted_at")),
			Extensions:   ours(ojson.NewObject("turn_id", child, "status", done.String("status"))),
		}}
	for _, r := range x.facts.history {
		if r.Object("delegation_review").String("parent_turn_id") == parent {
			reviewer, at := r.String("turn_id"), r.String("accepted_at")
			m.Message.ToTaskID, m.State = reviewer, MailDelivered
			m.Acks = append(m.Acks,
				x.ack(id, reviewer, cmp.Or(x.dispatchedAt(reviewer), at), portable.AckReceived, ""),
				x.ack(id, reviewer, at, portable.AckResolved, ""))
			return m
		}
	}
	for turn, t := range x.facts.state.ActiveTurns.All() {
		if t.DelegationReview.String("parent_turn_id") == parent {
			m.Message.ToTaskID, m.State = turn, MailDelivered
			m.Acks = append(m.Acks, x.ack(id, turn, cmp.Or(x.dispatchedAt(turn), t.AssignedAt), portable.AckReceived,
				""))
		}
	}
	return m
}
