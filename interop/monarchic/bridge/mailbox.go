// The mailbox of a run: messages that were sent, and other events that count as messages
// (docs/monarchic.md#messages).

package bridge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// States of a message.
const (
	MailWaiting     = "waiting"     // for the next bundle of its recipient
	MailDelivered   = "delivered"   // in a bundle of its recipient, or for a person to read
	MailUndelivered = "undelivered" // its recipient has ended without another bundle
)

// Mail is one message with what became of it.
type Mail struct {
	Message   *portable.TaskMessage
	Acks      []*portable.TaskMessageAck // in order, including those that delivery implies
	Derived   bool                       // it follows from the run and was not sent
	State     string
	Addressed string // turn, role or human, as the sender wrote it
	FromRole  string // role of the sender's turn, "" for a person
}

// Answered returns the newest status that the recipient gave, "" for none.
func (m *Mail) Answered() string {
	if n := len(m.Acks); n > 0 {
		return m.Acks[n-1].Status
	}
	return ""
}

// Owed reports whether the recipient still has to answer: an acknowledgement is requested, and so
// far there is only proof of delivery.
func (m *Mail) Owed() bool {
	return m.Message.RequiresAck &&
		!slices.ContainsFunc(m.Acks, func(a *portable.TaskMessageAck) bool { return !implied(a) })
}

// implied reports whether an acknowledgement follows from a delivery.
func implied(a *portable.TaskMessageAck) bool {
	return a.Extensions.Object("agentxchain").Bool("implied")
}

// For reports whether the message is for a turn, a role or human, as it was
// addressed or as it was delivered.
func (m *Mail) For(who string) bool { return m.Addressed == who || m.Message.ToTaskID == who }

// Mailbox returns the messages of the run in the order they came about.
func (x *Export) Mailbox() []*Mail {
	out := x.sent()
	taken := make(map[string]bool)
	for _, m := range out {
		taken[m.Message.MessageID] = true
	}
	for _, m := range slices.Concat(x.handoffs(), x.blockers(), x.ready()) {
		for taken[m.Message.MessageID] { // a sent message with that id came from outside
			m.Message.MessageID += "-derived"
		}
		taken[m.Message.MessageID] = true
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b *Mail) int { return byTime(a.Message.CreatedAt, b.Message.CreatedAt) })
	return out
}

// sent reads the messages that were sent from the event log.
func (x *Export) sent() []*Mail {
	var out []*Mail
	byID := make(map[string]*Mail)
	type delivery struct{ turn, at string }
	got := make(map[string]delivery)
	for _, l := range x.facts.events {
		row, p := l.Row, l.Row.Object("payload")
		m := byID[run.MailOf(row)]
		switch kind := row.String("event_type"); {
		case kind == run.EventMessageSent && m == nil:
			msg, err := wire.From[portable.TaskMessage](p.Object("message"))
			if err != nil || !wire.SafeID(msg.MessageID) || msg.RunID != x.Run ||
				!slices.Contains(mail.MessageKinds(), string(msg.Kind)) {
				x.warn("event %s holds no message of this run", row.String("event_id"))
				continue
			}
			msg.Version, msg.CreatedAt = portable.Version, x.timestamp(cmp.Or(msg.CreatedAt, row.String("timestamp")))
			msg.FromTaskID, msg.ToTaskID = cmp.Or(msg.FromTaskID, run.Human), cmp.Or(msg.ToTaskID, run.Human)
			if msg.Kind != portable.KindClarificationResponse {
				msg.ReplyTo = ""
			}
			to := p.Object("to")
			m = &Mail{
				Message:   msg,
				Addressed: cmp.Or(to.String("turn"), to.String("role"), run.Human),
				FromRole:  row.Object("turn").String("role_id"),
			}
			if msg.Extensions = msg.Extensions.Clone(); msg.Extensions == nil {
				msg.Extensions = ojson.NewObject()
			}
			msg.Extensions.Set("agentxchain", ojson.NewObject("event_id", row.String("event_id"), "to", to))
			if m.Addressed == run.Human && to.String("role") == "" {
				m.State = MailDelivered
			}
			byID[msg.MessageID] = m
			out = append(out, m)
		case kind == run.EventMessageDelivered && m != nil:
			turn := row.Object("turn").String("turn_id")
			if got[m.Message.MessageID].turn == "" {
				got[m.Message.MessageID] = delivery{turn, row.String("timestamp")}
			}
			m.Message.ToTaskID, m.State = turn, MailDelivered
		case kind == run.EventMessageAcknowledged && m != nil:
			ack, err := wire.From[portable.TaskMessageAck](p.Object("ack"))
			if err != nil || !slices.Contains(run.AckStatuses(), ack.Status) || ack.RunID != x.Run {
				x.warn("event %s holds no acknowledgement of this run", row.String("event_id"))
				continue
			}
			ack.Version, ack.AckedAt = portable.Version, x.timestamp(ack.AckedAt)
			if turn := row.Object("turn").String("turn_id"); turn != "" && m.State == "" {
				m.Message.ToTaskID, m.State = turn, MailDelivered // it was read without a bundle
			}
			m.Acks = append(m.Acks, ack)
		}
	}
	for _, m := range out {
		id := m.Message.MessageID
		at := got[id].at
		if at == "" && len(m.Acks) > 0 {
			at = m.Acks[0].AckedAt
		}
		if at != "" && (len(m.Acks) == 0 || m.Acks[0].Status != portable.AckReceived) {
			// A recipient that has the message in a bundle, or answers it, has received it.
			m.Acks = slices.Insert(m.Acks, 0, x.ack(id, m.Message.ToTaskID, at, portable.AckReceived, ""))
			m.Acks[0].Extensions = ours(ojson.NewObject("implied", true))
		}
		for _, a := range m.Acks {
			if a.TaskID != m.Message.ToTaskID { // from an earlier recipient of the message
				a.Extensions = ours(ojson.NewObject("task_id", a.TaskID))
				a.TaskID = m.Message.ToTaskID
			}
		}
		if m.State == "" {
			m.State = x.waiting(m.Addressed)
		}
	}
	return out
}

// waiting returns the state of a message that is in no bundle.
func (x *Export) waiting(to string) string {
	s := x.facts.state
	if x.ended() || x.facts.cfg.Role(to) == nil && !s.ActiveTurns.Has(to) {
		return MailUndelivered
	}
	return MailWaiting
}

func (x *Export) ack(id, by, at, status, note string) *portable.TaskMessageAck {
	return &portable.TaskMessageAck{
		Version:   portable.Version,
		MessageID: id,
		RunID:     x.Run,
		TaskID:    by,
		AckedAt:   x.timestamp(at),
		Status:    status,
		Note:      note,
	}
}

// blockers returns the blocks that a person has to lift; lifting one is the answer.
func (x *Export) blockers() []*Mail {
	var out []*Mail
	byID := make(map[string]*Mail)
	for _, row := range x.facts.escalations {
		id := "block-" + row.String("escalation_id")
		if row.String("kind") == "raised" {
			m := &Mail{Derived: true, State: MailDelivered, Addressed: run.Human, FromRole: row.String("role_id"),
				Message: &portable.TaskMessage{
					Version:    portable.Version,
					MessageID:  id,
					RunID:      x.Run,
					FromTaskID: cmp.Or(row.String("turn_id"), x.lastTurn(), run.Human),
					ToTaskID:   run.Human,
					Kind:       portable.KindBlocker,
					Subject: subjectLine(cmp.Or(row.String("typed_reason"), row.String("category"),
						row.String("blocked_on"))),
					Body:         cmp.Or(row.String("detail"), row.String("recovery_action")),
					ArtifactRefs: []string{},
					CreatedAt:    x.timestamp(row.String("created_at")),
					RequiresAck:  true,
					Extensions:   ours(row),
				}}
			byID[id] = m
			out = append(out, m)
		} else if m := byID[id]; m != nil && row.String("kind") == "resolved" {
			at := row.String("resolved_at")
			m.Acks = append(m.Acks, x.ack(id, run.Human, at, portable.AckReceived, ""),
				x.ack(id, run.Human, at, portable.AckResolved, row.String("resolution_notes")))
		}
	}
	return out
}

// ready returns messages that tell the next turn about the files that the accepted one left.
func (x *Export) ready() []*Mail {
	next := make(map[string]string) // accepted turn -> the turn dispatched next
	var open []string
	for _, l := range x.facts.events {
		turn := l.Row.Object("turn").String("turn_id")
		switch l.Row.String("event_type") {
		case run.EventTurnAccepted:
			open = append(open, turn)
		case run.EventTurnDispatched:
			open = slices.DeleteFunc(open, func(id string) bool {
				if id != turn {
					next[id] = turn
				}
				return id != turn
			})
		}
	}
	var out []*Mail
	for _, row := range x.facts.history {
		turn := row.String("turn_id")
		to := next[turn]
		if to == "" || len(row.Strings("files_changed")) == 0 {
			continue
		}
		out = append(out, &Mail{Derived: true, State: MailDelivered, Addressed: to, FromRole: row.String("role"),
			Message: &portable.TaskMessage{
				Version:      portable.Version,
				MessageID:    "artifacts-" + turn,
				RunID:        x.Run,
				FromTaskID:   turn,
				ToTaskID:     to,
				Kind:         portable.KindArtifactReady,
				Subject:      subjectLine(row.String("summary")),
				ArtifactRefs: x.artifactIDs(turn),
				CreatedAt:    x.timestamp(row.String("accepted_at")),
				Extensions:   ours(ojson.NewObject("turn_id", turn, "files_changed", row.Strings("files_changed"))),
			}})
	}
	return out
}

func subjectLine(s string) string { return text.ClipRunes(strings.Join(strings.Fields(s), " "), 200) }

// lastTurn returns the task that speaks for the run when none is named: its newest turn, "" without
// one.
func (x *Export) lastTurn() string {
	if ids := x.facts.state.ActiveTurns.Keys(); len(ids) > 0 {
		return ids[len(ids)-1]
	}
	if h := x.facts.history; len(h) > 0 {
		return h[len(h)-1].String("turn_id")
	}
	return ""
}
