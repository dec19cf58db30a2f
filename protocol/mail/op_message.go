// SendMessage: a message from a turn or a person to a turn, a role or a person,
// kept in the run (docs/monarchic.md#messages).

package mail

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bounds of one message, in bytes.
const (
	MaxMessageBody    = 64 << 10
	maxMessageSubject = 512
	maxArtifactRefs   = 64
	maxArtifactRef    = 512
)

// MessageVersion is the version member of a TaskMessage and of its acknowledgement.
const MessageVersion = "v1"

// KindResponse is the kind that answers another message.
const KindResponse = "clarification_response"

// MessageKinds returns the kinds of TaskMessage that are written: the three of the strict form, then those that
// only the portable form has (docs/monarchic.md#messages).
func MessageKinds() []string {
	return []string{"artifact_ready", "clarification_request", KindResponse, "handoff", "blocker"}
}

// SendMessage appends a message to the mailbox of the run. It is delivered with the next dispatch bundle of the
// addressed turn, or of a turn of the addressed role.
type SendMessage struct {
	ID          string         `json:"id,omitempty"`   // "" generates one
	From        string         `json:"from,omitempty"` // an active turn, or human; "" is the actor
	To          string         `json:"to"`             // an active turn, a role, or human
	Kind        string         `json:"kind"`
	Subject     string         `json:"subject,omitempty"`
	Body        string         `json:"body,omitempty"`
	Artifacts   []string       `json:"artifacts,omitempty"`
	ReplyTo     string         `json:"reply_to,omitempty"`
	Answers     *evidence.Blob `json:"answers,omitempty"` // the event that sent the message ReplyTo names
	RequiresAck bool           `json:"requires_ack,omitempty"`
}

func (*SendMessage) Name() string               { return "send_message" }
func (op *SendMessage) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Answers} }

// SendResult is the outcome of SendMessage.
type SendResult struct {
	Message *ojson.Object // portable TaskMessage (docs/monarchic.md#types)
	To      *ojson.Object // {turn}, {role} or {human: true}
}

func (op *SendMessage) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := mailable(t, "send a message"); err != nil {
		return err
	}
	from, turn, err := op.sender(t)
	if err != nil {
		return err
	}
	to, err := op.recipient(t)
	if err != nil {
		return err
	}
	if from == op.To && from != run.Human { // there are many people
		return wire.InvalidArgument("to", "%s cannot send a message to itself.", wire.Shown(from))
	}
	if err := op.check(s.Run()); err != nil {
		return err
	}
	if err := t.Index.Mailbox.Full(op.ID != ""); err != nil {
		return err
	}
	id := op.ID
	if id == "" {
		id = t.Env.ID("msg")
	} else if err := freeMessageID(t, id); err != nil {
		return err
	}
	msg := ojson.NewObject("version", MessageVersion, "message_id", id, "run_id", s.Run(), "from_task_id", from,
		"to_task_id", op.To, "kind", op.Kind)
	if op.Subject != "" {
		msg.Set("subject", op.Subject)
	}
	if op.Body != "" {
		msg.Set("body", op.Body)
	}
	msg.Set("artifact_refs", wire.NonNil(op.Artifacts))
	if op.ReplyTo != "" {
		msg.Set("reply_to", op.ReplyTo)
	}
	msg.Set("created_at", t.Env.Time())
	msg.Set("requires_ack", op.RequiresAck)
	t.Event(run.EventMessageSent, turn, "message", msg, "to", to)
	if turn != nil {
		t.About(turn)
	}
	t.Subject = fmt.Sprintf("message %s from %s to %s", id, from, op.To)
	t.Result = &SendResult{Message: msg, To: to}
	return nil
}

// mailable refuses where no run has a mailbox that can take a message. After run_completed nothing may follow in
// the event log.
func mailable(t *change.Draft, what string) *wire.Error {
	switch s := t.State; {
	case s.Run() == "":
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "run_id",
			Message: "There is no run to " + what + " in.",
			Hint:    "git agentxchain assign",
		}
	case s.Status != wire.StatusActive && s.Status != wire.StatusPaused && s.Status != wire.StatusBlocked:
		return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status",
			Message: fmt.Sprintf("Run %s is %s; its mailbox is closed; it is too late to %s.", s.Run(), s.Status,
				what),
			Hint: "git agentxchain monarchic message list"}
	}
	return nil
}

// sender returns who the message is from: a turn speaks only for itself.
func (op *SendMessage) sender(t *change.Draft) (string, *run.Turn, *wire.Error) {
	from := op.From
	if in := t.Env.Actor.InsideTurn; in != "" {
		if from != "" && from != in {
			return "", nil, &wire.Error{
				Code:    wire.CodeInsideTurn,
				Field:   "from",
				Message: t.Env.Actor.Place() + "; it cannot speak for " + wire.Shown(from) + ".",
				Hint:    "leave out --from",
			}
		}
		from = in
	}
	if from == "" || from == run.Human {
		return run.Human, nil, nil
	}
	turn, ok := t.State.ActiveTurns.Get(from)
	if !ok {
		return "", nil, &wire.Error{
			Code:  wire.CodeTurnNotActive,
			Field: "from",
			Message: fmt.Sprintf("Turn %s is not active in run %s; only active turns and people send messages.",
				wire.Shown(from), t.State.Run()),
			Hint: "git agentxchain status",
		}
	}
	return from, turn, nil
}

func (op *SendMessage) recipient(t *change.Draft) (*ojson.Object, *wire.Error) {
	switch {
	case op.To == "":
		return nil, &wire.Error{
			Code:    wire.CodeTargetRequired,
			Field:   "to",
			Message: "A message needs a recipient: an active turn, a role, or human.",
			Hint:    "git agentxchain monarchic message send --to TURN|ROLE|human",
		}
	case t.State.ActiveTurns.Has(op.To):
		return ojson.NewObject("turn", op.To), nil
	case t.Config.Role(op.To) != nil:
		return ojson.NewObject("role", op.To), nil
	case op.To == run.Human:
		return ojson.NewObject("human", true), nil
	}
	return nil, &wire.Error{Code: wire.CodeTurnNotActive, Field: "to",
		Message: fmt.Sprintf("%s is not an active turn of run %s, a role of agentxchain.json (roles: %s) or human.",
			wire.Shown(op.To), t.State.Run(), wire.List(t.Config.Roles.Keys())),
		Hint: "git agentxchain status names the active turns"}
}

// check checks the form of the message's own members.
func (op *SendMessage) check(runID string) *wire.Error {
	if !slices.Contains(MessageKinds(), op.Kind) {
		return wire.InvalidArgument("kind", "%q is not a kind of message (%s).", run.Clip(wire.OneLine(op.Kind), 80),
			wire.List(MessageKinds()))
	}
	if strings.TrimSpace(op.Subject) == "" && strings.TrimSpace(op.Body) == "" && len(op.Artifacts) == 0 {
		return wire.InvalidArgument("body",
			"The message says nothing: it has no subject, no body and names no artifact.")
	}
	if err := messageText("subject", op.Subject, maxMessageSubject); err != nil {
		return err
	}
	if strings.ContainsAny(op.Subject, "\r\n") {
		return wire.InvalidArgument("subject", "The subject of a message is one line.")
	}
	if err := messageText("body", op.Body, MaxMessageBody); err != nil {
		return err
	}
	if len(op.Artifacts) > maxArtifactRefs {
		return wire.InvalidArgument("artifacts", "%d artifacts are more than one message names (%d).",
			len(op.Artifacts),
			maxArtifactRefs)
	}
	for i, a := range op.Artifacts {
		if strings.TrimSpace(a) == "" || len(a) > maxArtifactRef || !printable(a) {
			return wire.InvalidArgument(fmt.Sprintf("artifacts[%d]", i),
				"%q is not the id of an artifact: at most %d printable characters.", run.Clip(wire.OneLine(a), 80),
				maxArtifactRef)
		}
	}
	switch {
	case op.ReplyTo == "" && op.Kind == KindResponse:
		e := wire.InvalidArgument("reply_to", "A %s names the message it answers.", KindResponse)
		e.Hint = "add --reply-to MESSAGE"
		return e
	case op.ReplyTo == "":
		return nil
	case op.Kind != KindResponse:
		return wire.InvalidArgument("reply_to", "Only a %s answers another message; this is a %s.", KindResponse,
			op.Kind)
	}
	if msg := sentMessage(op.Answers, runID); msg == nil || msg.String("message_id") != op.ReplyTo {
		return unknownMessage("reply_to", op.ReplyTo)
	}
	return nil
}

// freeMessageID refuses an id that is taken, unsafe (docs/monarchic.md), or reserved for messages derived from the
// run.
func freeMessageID(t *change.Draft, id string) *wire.Error {
	if id == "." || id == ".." || len(id) > run.MaxMessageID || !utf8.ValidString(id) || !printable(id) ||
		strings.ContainsAny(id, `/\ `) {
		return wire.InvalidArgument("id",
			"%q cannot be the id of a message: at most %d printable characters without blanks and slashes.",
			run.Clip(wire.OneLine(id), 80), run.MaxMessageID)
	}
	for _, p := range []string{"msg_", "turn_", "block-", "artifacts-"} {
		if strings.HasPrefix(id, p) {
			return wire.InvalidArgument("id", "Ids that begin with %q are made by the run itself.", p)
		}
	}
	if b := t.Index.Mailbox; b != nil && slices.Contains(b.Named, id) {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "id",
			Message: fmt.Sprintf("Message %s is in the mailbox of run %s already.", id, t.State.Run()),
			Hint:    "git agentxchain monarchic message list",
		}
	}
	return nil
}

func messageText(field, s string, limit int) *wire.Error {
	switch {
	case !utf8.ValidString(s):
		return wire.InvalidArgument(field, "The %s of a message is UTF-8 text; this is not.", field)
	case len(s) > limit:
		return wire.InvalidArgument(field, "The %s is longer than the %d bytes that are taken.", field, limit)
	}
	return nil
}

// printable reports whether text can be shown as it is: no control characters, no marks that change its direction,
// no bytes that are not UTF-8.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) })
}

// sentMessage reads the message from the event that sent it; nil for any other event.
func sentMessage(b *evidence.Blob, runID string) *ojson.Object {
	row := mailRow(b, runID, run.EventMessageSent)
	return row.Object("payload").Object("message")
}

// mailRow reads a mailbox event given as evidence; nil for another kind.
func mailRow(b *evidence.Blob, runID, kind string) *ojson.Object {
	if b == nil {
		return nil
	}
	row, err := run.DecodeLedgerLine(b.Data)
	if err != nil || row.String("event_type") != kind || row.String("run_id") != runID {
		return nil
	}
	return row
}

func unknownMessage(field, id string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeNotFound,
		Field:   field,
		Message: fmt.Sprintf("There is no message %s in the mailbox of this run.", wire.Shown(id)),
		Hint:    "git agentxchain monarchic message list",
	}
}

// Deliver hands over the messages that wait for a turn, with the bundle that the operation dispatches. A message
// that the turn already has stays in its bundles for good. late are messages that the bundle lacks because another
// machine sent them meanwhile: they wait on.
func Deliver(t *change.Draft, turn *run.Turn, late []string) {
	if t.Index.Mailbox == nil {
		return
	}
	for _, m := range t.Index.Mailbox.Open {
		if m.Turn != turn.TurnID && m.For(turn) && !slices.Contains(late, m.ID) {
			t.Event(run.EventMessageDelivered, turn, "message_id", m.ID, "attempt", turn.Attempt)
		}
	}
}
