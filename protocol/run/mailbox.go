// The mailbox of a run in its index: which messages wait for a turn and which ids
// are taken (docs/monarchic.md#messages).

package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Event types of the mailbox: additions of ours, like the others of OwnEventTypes.
const (
	EventMessageSent         = "task_message_sent"
	EventMessageDelivered    = "task_message_delivered"
	EventMessageAcknowledged = "task_message_acknowledged"
)

// MailEvent reports whether an event type belongs to the mailbox.
func MailEvent(kind string) bool {
	return kind == EventMessageSent || kind == EventMessageDelivered || kind == EventMessageAcknowledged
}

// MailOf returns the id of the message that a mailbox event is about, or "".
func MailOf(row *ojson.Object) string {
	switch p := row.Object("payload"); row.String("event_type") {
	case EventMessageSent:
		return p.Object("message").String("message_id")
	case EventMessageDelivered:
		return p.String("message_id")
	case EventMessageAcknowledged:
		return p.Object("ack").String("message_id")
	}
	return ""
}

// Human is the recipient or sender that is a person rather than a turn.
const Human = "human"

// Bounds of a run's mailbox. The index is written with every operation, so its part of the mailbox must stay small
// however long the run is.
const (
	MaxOpenMessages  = 256
	maxNamedMessages = 1000
)

// Mailbox is what the rules need to know of the messages of a run.
type Mailbox struct {
	Sent  int            `json:"sent"`
	Named []string       `json:"named"` // ids that senders chose; generated ones cannot repeat
	Open  []*OpenMessage `json:"open"`  // waiting for a recipient, or held by a turn at work
}

// OpenMessage is a message that a turn has yet to receive or to answer. Its text is in the event that sent it.
type OpenMessage struct {
	ID       string `json:"id"`
	Event    string `json:"event_id"`
	To       string `json:"to"`             // turn, role or human, as it was addressed
	Role     bool   `json:"role,omitempty"` // To is a role
	Turn     string `json:"turn"`           // turn whose bundle has it, "" while it waits
	Required bool   `json:"requires_ack"`
	Ack      string `json:"ack"` // newest acknowledgement, "" for none
}

// Recipient returns who has to answer: the turn that has the message, else the addressee.
func (m *OpenMessage) Recipient() string {
	if m.Turn != "" {
		return m.Turn
	}
	return m.To
}

// For reports whether the message belongs in the bundle of turn: it is addressed to the turn, to the turn it
// replaces, or to its role while no other turn has it.
func (m *OpenMessage) For(turn *Turn) bool {
	from := turn.ReissuedFrom
	switch {
	case m.To == Human && !m.Role:
		return false
	case m.Turn != "":
		return m.Turn == turn.TurnID || from != "" && m.Turn == from
	case m.Role:
		return m.To == turn.AssignedRole
	}
	return m.To == turn.TurnID || from != "" && m.To == from
}

// Find returns an open message, or nil.
func (b *Mailbox) Find(id string) *OpenMessage {
	if b == nil {
		return nil
	}
	for _, m := range b.Open {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// With returns the open messages in the bundle of a turn.
func (b *Mailbox) With(turnID string) []*OpenMessage {
	if b == nil {
		return nil
	}
	var out []*OpenMessage
	for _, m := range b.Open {
		if m.Turn == turnID {
			out = append(out, m)
		}
	}
	return out
}

// Standing counts the messages of the run: those sent, those waiting for a bundle, and those for which a person
// still owes an answer.
func (b *Mailbox) Standing() (sent, waiting, people int) {
	if b == nil {
		return 0, 0, 0
	}
	for _, m := range b.Open {
		switch {
		case m.To == Human && !m.Role:
			if m.Ack == "" || m.Ack == AckReceived {
				people++
			}
		case m.Turn == "":
			waiting++
		}
	}
	return b.Sent, waiting, people
}

func (b *Mailbox) copy() *Mailbox {
	if b == nil {
		return nil
	}
	c := &Mailbox{Sent: b.Sent, Named: slices.Clone(b.Named), Open: make([]*OpenMessage, len(b.Open))}
	for i, m := range b.Open {
		c.Open[i] = copyPtr(m)
	}
	return c
}

// Mail adds an event of the mailbox; other events and unusable ones change nothing.
func (x *Index) Mail(row *ojson.Object) {
	kind, p := row.String("event_type"), row.Object("payload")
	if !MailEvent(kind) {
		return
	}
	if kind == EventMessageSent {
		x.mailSent(row.String("event_id"), p)
		return
	}
	m := x.Mailbox.Find(MailOf(row))
	if m == nil {
		return
	}
	turn := row.Object("turn").String("turn_id")
	if kind == EventMessageDelivered {
		m.Turn = turn
		return
	}
	m.Ack = p.Object("ack").String("status")
	if m.Role && m.Turn == "" {
		m.Turn = turn // read and answered before it was handed out
	}
	if m.Ack == AckResolved || m.To == Human && !m.Role && m.Ack == AckRejected {
		x.Mailbox.Open = slices.DeleteFunc(x.Mailbox.Open, func(o *OpenMessage) bool { return o == m })
	}
}

func (x *Index) mailSent(event string, p *ojson.Object) {
	msg, to := p.Object("message"), p.Object("to")
	id := msg.String("message_id")
	if id == "" || len(id) > MaxMessageID {
		return
	}
	if x.Mailbox == nil {
		x.Mailbox = &Mailbox{Named: []string{}, Open: []*OpenMessage{}}
	}
	b := x.Mailbox
	b.Sent++
	if !mintedMessage(id) && len(b.Named) < maxNamedMessages {
		b.Named = append(b.Named, id)
	}
	m := &OpenMessage{ID: id, Event: event, Required: msg.Bool("requires_ack")}
	switch {
	case to.String("turn") != "":
		m.To = to.String("turn")
	case to.String("role") != "":
		m.To, m.Role = to.String("role"), true
	default:
		if m.To = Human; !m.Required {
			return // no answer is expected
		}
	}
	if len(b.Open) < MaxOpenMessages {
		b.Open = append(b.Open, m)
	}
}

// settleMail drops messages whose turn has ended: from then on only the ledger has them.
func (x *Index) settleMail(s *State) {
	if x.Mailbox == nil {
		return
	}
	x.Mailbox.Open = slices.DeleteFunc(x.Mailbox.Open, func(m *OpenMessage) bool {
		switch {
		case m.Turn != "":
			return !s.ActiveTurns.Has(m.Turn)
		case m.Role || m.To == Human:
			return false
		}
		return !s.ActiveTurns.Has(m.To)
	})
}

// Full refuses a message the index has no room for.
func (b *Mailbox) Full(named bool) *wire.Error {
	switch {
	case b == nil:
	case len(b.Open) >= MaxOpenMessages:
		return &wire.Error{Code: wire.CodeMailboxFull, Field: "to",
			Message: fmt.Sprintf(
				"%d messages of this run wait to be delivered or answered; no more are taken until some are.",
				len(b.Open)),
			Hint: "git agentxchain monarchic message list --unacked"}
	case named && len(b.Named) >= maxNamedMessages:
		return &wire.Error{Code: wire.CodeMailboxFull, Field: "id",
			Message: fmt.Sprintf(
				"%d messages of this run have an id of their sender's choice, as many as are kept apart.",
				len(b.Named)),
			Hint: "leave out --id: an id is made"}
	}
	return nil
}

// Statuses of an acknowledgement (docs/monarchic.md#messages).
const (
	AckReceived = "received" // seen
	AckAccepted = "accepted" // will act
	AckRejected = "rejected" // declines or cannot
	AckResolved = "resolved" // done, the final answer
)

// AckStatuses lists the statuses in the order they can follow each other; accepted
// and rejected exclude each other.
func AckStatuses() []string { return []string{AckReceived, AckAccepted, AckRejected, AckResolved} }

const MaxMessageID = 128

func mintedMessage(id string) bool { return strings.HasPrefix(id, "msg_") }
