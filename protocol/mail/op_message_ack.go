// AckMessage: a recipient's answer to a message (docs/monarchic.md#messages).

package mail

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxAckNote bounds the note of an acknowledgement, in bytes.
const maxAckNote = 4 << 10

// AckMessage appends an acknowledgement. The given events are the ledger's rows about the message: the index has
// only messages that are still waited for.
type AckMessage struct {
	MessageID string         `json:"message_id"`
	Status    string         `json:"status"`
	Note      string         `json:"note,omitempty"`
	Message   *evidence.Blob `json:"message"`             // the event that sent it
	Delivered *evidence.Blob `json:"delivered,omitempty"` // its newest delivery, nil for none
	Last      *evidence.Blob `json:"last,omitempty"`      // its newest acknowledgement, nil for none
}

func (*AckMessage) Name() string { return "ack_message" }
func (op *AckMessage) Blobs() []*evidence.Blob {
	return []*evidence.Blob{op.Message, op.Delivered, op.Last}
}

// AckResult is the outcome of AckMessage.
type AckResult struct {
	Ack *ojson.Object // portable TaskMessageAck (docs/monarchic.md#types)
}

func (op *AckMessage) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := mailable(t, "acknowledge a message"); err != nil {
		return err
	}
	sent := mailRow(op.Message, s.Run(), run.EventMessageSent)
	msg := sent.Object("payload").Object("message")
	if op.MessageID == "" || msg.String("message_id") != op.MessageID {
		return unknownMessage("message_id", op.MessageID)
	}
	if !slices.Contains(run.AckStatuses(), op.Status) {
		return wire.InvalidArgument("status", "%q is not a status of an acknowledgement (%s).",
			run.Clip(wire.OneLine(op.Status), 80),
			wire.List(run.AckStatuses()))
	}
	if err := messageText("note", op.Note, maxAckNote); err != nil {
		return err
	}
	to, turn, err := op.recipient(t, sent)
	if err != nil {
		return err
	}
	last := op.last(t)
	if err := ackFollows(op.MessageID, last, op.Status); err != nil {
		return err
	}
	ack := ojson.NewObject("version", MessageVersion, "message_id", op.MessageID, "run_id", s.Run(), "task_id", to,
		"acked_at", t.Env.Time(), "status", op.Status)
	if op.Note != "" {
		ack.Set("note", op.Note)
	}
	t.Event(run.EventMessageAcknowledged, turn, "ack", ack)
	if turn != nil {
		t.About(turn)
	}
	t.Subject = fmt.Sprintf("%s %s by %s", op.Status, op.MessageID, to)
	t.Result = &AckResult{Ack: ack}
	return nil
}

// recipient returns who the acknowledgement is from: the turn that has the message, else the addressee. A turn
// answers what is addressed to it; a person may answer for any recipient, and only a person may answer for a
// person.
func (op *AckMessage) recipient(t *change.Draft, sent *ojson.Object) (string, *run.Turn, *wire.Error) {
	to := sent.Object("payload").Object("to")
	m := t.Index.Mailbox.Find(op.MessageID)
	if m == nil {
		m = &run.OpenMessage{ID: op.MessageID, To: run.Human}
		switch {
		case to.String("turn") != "":
			m.To = to.String("turn")
		case to.String("role") != "":
			m.To, m.Role = to.String("role"), true
		}
		if row := mailRow(op.Delivered, t.State.Run(),
			run.EventMessageDelivered); row.Object("payload").String("message_id") == op.MessageID {
			m.Turn = row.Object("turn").String("turn_id")
		}
	}
	in := t.Env.Actor.InsideTurn
	if in == "" {
		return m.Recipient(), t.State.ActiveTurns.Value(m.Recipient()), nil
	}
	if m.To == run.Human && !m.Role {
		return "", nil, t.OutsideTurn("answer for a person", "git agentxchain monarchic message ack "+op.MessageID)
	}
	turn, ok := t.State.ActiveTurns.Get(in)
	if !ok || !m.For(turn) {
		return "", nil, &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
			Message: fmt.Sprintf("%s; message %s is for %s.", t.Env.Actor.Place(), op.MessageID,
				wire.Shown(m.Recipient())),
			Hint: "git agentxchain monarchic message list --for " + in}
	}
	return in, turn, nil
}

// last returns the newest status that the recipient gave, or "".
func (op *AckMessage) last(t *change.Draft) string {
	if m := t.Index.Mailbox.Find(op.MessageID); m != nil {
		return m.Ack
	}
	ack := mailRow(op.Last, t.State.Run(), run.EventMessageAcknowledged).Object("payload").Object("ack")
	if ack.String("message_id") != op.MessageID {
		return ""
	}
	return ack.String("status")
}

// ackFollows refuses a status that may not follow the last one (docs/monarchic.md#messages).
func ackFollows(id, last, next string) *wire.Error {
	if ackRank(next) > ackRank(last) {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: fmt.Sprintf("Message %s is %s already; %s cannot follow.", id, last, next),
		Hint:    "git agentxchain monarchic message list",
	}
}

func ackRank(status string) int {
	switch status {
	case run.AckReceived:
		return 1
	case run.AckAccepted, run.AckRejected:
		return 2
	case run.AckResolved:
		return 3
	}
	return 0
}
