// Messages: the mailbox between turns, roles and people (docs/monarchic.md#messages).

package runner

import (
	"context"
	"errors"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Sent is the outcome of SendMessage.
type Sent struct {
	Done
	Message *Object // portable TaskMessage
	To      *Object // {turn}, {role} or {human: true}
}

// SendMessage appends a message to the mailbox of the run. It reaches its recipient with the next
// dispatch bundle of the turn, or of a turn of the role. An empty To of an answer is the asker:
// their turn while it is active, else its role.
//
// Codes: invalid_argument, target_required, turn_not_active, not_found,
// inside_dispatched_turn, invalid_state_transition, mailbox_full.
func (r *Runner) SendMessage(ctx context.Context, op mail.SendMessage) (*Sent, error) {
	out := &Sent{}
	done, err := r.do(ctx, "message", func(ctx context.Context, c *change) (*plan, error) {
		if op.ReplyTo == "" {
			return &plan{op: &op}, nil
		}
		rows, err := r.mailOf(ctx, c.view.State.Run(), op.ReplyTo)
		if err != nil {
			return nil, err
		}
		if rows.sent == nil {
			return &plan{op: &op}, nil // the engine refuses it
		}
		op.Answers = evidence.NewBlob(rows.sent.Raw)
		if op.To == "" {
			op.To = backTo(rows.sent.Row, c.view.State)
		}
		return &plan{op: &op}, nil
	})
	out.Done = *done
	if err != nil {
		return out, out.settle(r.finished(ctx, err, op.To))
	}
	res := done.Transition.Result.(*mail.SendResult)
	out.Message, out.To = res.Message, res.To
	return out, nil
}

// backTo returns the recipient of an answer to a message.
func backTo(sent *ojson.Object, s *run.State) string {
	from := sent.Object("payload").Object("message").String("from_task_id")
	if role := sent.Object("turn").String("role_id"); role != "" && !s.ActiveTurns.Has(from) {
		return role
	}
	return from
}

// finished adds to a refusal what has become of the recipient.
func (r *Runner) finished(ctx context.Context, err error, to string) error {
	var refusal *wire.Error
	if !errors.As(err, &refusal) || refusal.Code != wire.CodeTurnNotActive || refusal.Field != "to" {
		return err
	}
	row, lookup := r.store.LastRow(ctx, wire.LedgerHistory, "turn_id", to)
	if lookup != nil || row == nil {
		return err
	}
	more := *refusal
	more.Message = "Turn " + to + " is finished; a message would never reach it."
	more.Hint = "git agentxchain monarchic message send --to " + row.Row.String("role") +
		" reaches the next turn of its role"
	return &more
}

// Acked is the outcome of AckMessage.
type Acked struct {
	Done
	Ack *Object // portable TaskMessageAck
}

// AckMessage records what the recipient of a message says about it: received, accepted, rejected or
// resolved, in that order. A turn answers for itself only, a person for any recipient.
//
// Codes: not_found, invalid_argument, inside_dispatched_turn,
// invalid_state_transition.
func (r *Runner) AckMessage(ctx context.Context, messageID, status, note string) (*Acked, error) {
	out := &Acked{}
	done, err := r.do(ctx, "message", func(ctx context.Context, c *change) (*plan, error) {
		op := &mail.AckMessage{MessageID: messageID, Status: status, Note: note}
		rows, err := r.mailOf(ctx, c.view.State.Run(), messageID)
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			to  **evidence.Blob
			row *run.Line
		}{{&op.Message, rows.sent}, {&op.Delivered, rows.delivered}, {&op.Last, rows.acked}} {
			if m.row != nil {
				*m.to = evidence.NewBlob(m.row.Raw)
			}
		}
		return &plan{op: op}, nil
	})
	out.Done = *done
	if err == nil {
		out.Ack = done.Transition.Result.(*mail.AckResult).Ack
	}
	return out, err
}

// mailRows holds the newest events about one message, nil where there is none.
type mailRows struct{ sent, delivered, acked *run.Line }

// mailOf looks a message up in the event log, from its end to the event that sent it.
func (r *Runner) mailOf(ctx context.Context, runID, id string) (mailRows, error) {
	var found mailRows
	if runID == "" || id == "" {
		return found, nil
	}
	rows, err := r.store.TailRows(ctx, wire.LedgerEvents, 0, func(row *ojson.Object) bool {
		if row.String("run_id") != runID || !run.MailEvent(row.String("event_type")) {
			return false
		}
		return run.MailOf(row) == id
	})
	for i := range rows {
		switch rows[i].Row.String("event_type") {
		case run.EventMessageSent:
			if found.sent == nil { // a repeated id came from outside and counts for nothing
				found.sent = &rows[i]
			}
		case run.EventMessageDelivered:
			found.delivered = &rows[i]
		case run.EventMessageAcknowledged:
			found.acked = &rows[i]
		}
	}
	return found, err
}

// messagesFor returns the messages in the bundle of a turn, oldest first. The event log is read
// only when messages wait for an active turn.
func (r *Runner) messagesFor(ctx context.Context, x *run.Index, turnID string) ([]*ojson.Object, error) {
	if x == nil {
		return nil, nil
	}
	events := make(map[string]bool)
	for _, m := range x.Mailbox.With(turnID) {
		events[m.Event] = true
	}
	if len(events) == 0 {
		return nil, nil
	}
	rows, err := r.store.TailRows(ctx, wire.LedgerEvents, len(events), func(row *ojson.Object) bool {
		return events[row.String("event_id")]
	})
	if err != nil {
		return nil, err
	}
	var out []*ojson.Object
	for _, l := range rows {
		if msg := l.Row.Object("payload").Object("message"); msg != nil {
			out = append(out, msg)
		}
	}
	return out, nil
}
