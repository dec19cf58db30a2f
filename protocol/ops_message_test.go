// Tests of SendMessage, AckMessage and the mailbox in the index.

package protocol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// mail draws a message or an acknowledgement, usually a valid one.
func (m *opsMachine) mail() Operation {
	w, d := m.w, m.d
	sent := w.mailIDs()
	if len(sent) > 0 && d.one(2) {
		return w.ack(pick(d, append(sent, "none")...), pick(d, append(run.AckStatuses(), "seen")...))
	}
	op := &mail.SendMessage{
		To:          pick(d, m.turn(), m.turn(), m.role(), run.Human),
		From:        pick(d, "", "", "", run.Human, m.turn()),
		Kind:        pick(d, mail.MessageKinds()...),
		Body:        pick(d, "hello", "hello", ""),
		RequiresAck: d.one(2),
	}
	if d.one(3) {
		op.ID = pick(d, "one", "two", "three", "msg_x", "a/b", "..")
	}
	if op.Kind == mail.KindResponse && len(sent) > 0 {
		op.ReplyTo = pick(d, sent...)
		op.Answers = w.mailRow(run.EventMessageSent, op.ReplyTo)
	}
	return op
}

// mailIDs returns the messages of the run.
func (w *opsWorld) mailIDs() []string {
	var out []string
	for _, row := range w.rows(wire.LedgerEvents) {
		if row.String("run_id") == w.state.Run() && row.String("event_type") == run.EventMessageSent {
			out = append(out, run.MailOf(row))
		}
	}
	return out
}

// mailRow returns the newest event of a kind about a message, or nil.
func (w *opsWorld) mailRow(kind, id string) *evidence.Blob {
	var found *evidence.Blob
	for l := range w.lines(wire.LedgerEvents) {
		if l.Row.String("run_id") == w.state.Run() && l.Row.String("event_type") == kind && run.MailOf(l.Row) == id {
			found = evidence.NewBlob(l.Raw)
		}
	}
	return found
}

func (w *opsWorld) ack(id, status string) *mail.AckMessage {
	return &mail.AckMessage{
		MessageID: id,
		Status:    status,
		Message:   w.mailRow(run.EventMessageSent, id),
		Delivered: w.mailRow(run.EventMessageDelivered, id),
		Last:      w.mailRow(run.EventMessageAcknowledged, id),
	}
}

func (w *opsWorld) send(to string, change ...func(*mail.SendMessage)) string {
	w.t.Helper()
	op := &mail.SendMessage{To: to, Kind: "handoff", Body: "hello"}
	for _, c := range change {
		c(op)
	}
	return w.must(op).Result.(*mail.SendResult).Message.String("message_id")
}

// waiting lists id:turn of the open messages.
func (w *opsWorld) waiting() string {
	var out []string
	if b := w.index.Mailbox; b != nil {
		for _, m := range b.Open {
			out = append(out, m.ID+":"+m.Turn)
		}
	}
	return strings.Join(out, " ")
}

func TestMessagesReachTheNextBundle(t *testing.T) {
	w := startedWorld(t, nil)
	if strings.Contains(string(w.index.Encode()), "mailbox") {
		t.Error("a run without messages has a mailbox in its index")
	}
	turn := w.assign("pm")
	named := func(id string) func(*mail.SendMessage) { return func(op *mail.SendMessage) { op.ID = id } }
	w.send(turn.TurnID, named("a"))
	w.send("pm", named("b"))
	w.send("dev", named("c"))
	w.send(run.Human, named("d"))
	if got := w.waiting(); got != "a: b: c:" {
		t.Fatalf("waiting: %s", got)
	}
	tr := w.must(w.rejection(turn.TurnID, "again"))
	w.wantEvents(tr, "turn_rejected turn_dispatched task_message_delivered task_message_delivered")
	if got := w.waiting(); got != "a:"+turn.TurnID+" b:"+turn.TurnID+" c:" {
		t.Fatalf("after the retry: %s", got)
	}
	// Told once, and again to the turn that takes over.
	tr = w.must(w.reissue(turn.TurnID, ""))
	next := w.state.OnlyTurn()
	w.wantEvents(tr, "turn_reissued turn_dispatched task_message_delivered task_message_delivered")
	if got := w.waiting(); got != "a:"+next.TurnID+" b:"+next.TurnID+" c:" {
		t.Fatalf("after the reissue: %s", got)
	}
	w.accept(next.TurnID)
	if got := w.waiting(); got != "c:" {
		t.Fatalf("after the acceptance: %s", got)
	}
	w.fails(wire.CodeTurnNotActive, &mail.SendMessage{To: next.TurnID, Kind: "handoff", Body: "late"})
	// A person can still answer for a turn that missed it; the ledger has what the index dropped.
	w.must(w.ack("a", run.AckAccepted))
	w.fails(wire.CodeInvalidStateTransition, w.ack("a", run.AckRejected))
	if ack := w.must(w.ack("a", run.AckResolved)).Result.(*mail.AckResult).Ack; ack.String("task_id") != next.TurnID {
		t.Errorf("answered by %s", ack.String("task_id"))
	}
	// An assignment without a bundle delivers nothing; its dispatch does.
	op := w.assignment("pm")
	op.Undispatched = true
	w.send("pm", named("e"))
	w.must(op)
	if got := w.waiting(); got != "c: e:" {
		t.Fatalf("before the dispatch: %s", got)
	}
	w.must(&attempt.DispatchTurn{})
	if got := w.waiting(); got != "c: e:"+w.state.OnlyTurn().TurnID {
		t.Fatalf("after the dispatch: %s", got)
	}
}

func TestMessagesSpeakForThemselves(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	toHuman, toDev := w.send(run.Human, func(op *mail.SendMessage) {
		op.From, op.RequiresAck = turn.TurnID, true
	}), w.send("dev")
	w.actor.InsideTurn = turn.TurnID
	for _, from := range []string{run.Human, "dev", "turn_other"} {
		w.fails(wire.CodeInsideTurn, &mail.SendMessage{From: from, To: "dev", Kind: "handoff", Body: "x"})
	}
	w.fails(wire.CodeInsideTurn, w.ack(toHuman, run.AckResolved))
	w.fails(wire.CodeInsideTurn, w.ack(toDev, run.AckReceived))
	w.fails(wire.CodeInvalidArgument, &mail.SendMessage{To: turn.TurnID, Kind: "handoff", Body: "x"})
	mine := w.must(&mail.SendMessage{To: "dev", Kind: "handoff", Body: "x"}).Result.(*mail.SendResult).Message
	if mine.String("from_task_id") != turn.TurnID {
		t.Errorf("from %s", mine.String("from_task_id"))
	}
	w.actor.InsideTurn = "turn_gone"
	w.fails(wire.CodeTurnNotActive, &mail.SendMessage{To: "dev", Kind: "handoff", Body: "x"})
	w.actor.InsideTurn = ""
	w.must(w.ack(toHuman, run.AckResolved))
	if w.must(w.ack(toDev, run.AckRejected)).Result.(*mail.AckResult).Ack.String("task_id") != "dev" {
		t.Error("a message that waits for a role is answered for the role")
	}
}

func TestMessageBounds(t *testing.T) {
	w := startedWorld(t, nil)
	w.assign("pm")
	ok := mail.SendMessage{To: "dev", Kind: "handoff", Body: "x"}
	for name, change := range map[string]func(*mail.SendMessage){
		"kind":           func(op *mail.SendMessage) { op.Kind = "gossip" },
		"nothing":        func(op *mail.SendMessage) { op.Body = " \n" },
		"long body":      func(op *mail.SendMessage) { op.Body = strings.Repeat("x", mail.MaxMessageBody+1) },
		"subject lines":  func(op *mail.SendMessage) { op.Subject = "a\nb" },
		"artifact":       func(op *mail.SendMessage) { op.Artifacts = []string{"a", "\x1b[2J"} },
		"many artifacts": func(op *mail.SendMessage) { op.Artifacts = strings.Split(strings.Repeat("a ", 65), " ") },
		"reply kind":     func(op *mail.SendMessage) { op.ReplyTo = "x" },
		"id slash":       func(op *mail.SendMessage) { op.ID = "a/b" },
		"id dots":        func(op *mail.SendMessage) { op.ID = ".." },
		"id control":     func(op *mail.SendMessage) { op.ID = "a\x00b" },
		"id of ours":     func(op *mail.SendMessage) { op.ID = "turn_0.del-001" },
		"id long":        func(op *mail.SendMessage) { op.ID = strings.Repeat("x", run.MaxMessageID+1) },
	} {
		t.Run(name, func(*testing.T) {
			op := ok
			change(&op)
			w.fails(wire.CodeInvalidArgument, &op)
		})
	}
	w.must(&mail.SendMessage{To: "dev", Kind: "handoff", Body: strings.Repeat("x", mail.MaxMessageBody)})
	// A reply names an existing message; its event is the proof.
	reply := &mail.SendMessage{To: "dev", Kind: mail.KindResponse, Body: "x", ReplyTo: "none"}
	w.fails(wire.CodeNotFound, reply)
	reply.Answers = evidence.NewBlob(
		[]byte(`{"event_type":"task_message_sent","run_id":"another","payload":{"message":{"message_id":"none"}}}`))
	w.fails(wire.CodeNotFound, reply)
	if !testrepo.All(t.Name()) {
		return
	}
	// The index takes a limited number.
	for len(w.index.Mailbox.Open) < run.MaxOpenMessages {
		w.send("dev", func(op *mail.SendMessage) { op.ID = fmt.Sprint("n", len(w.index.Mailbox.Open)) })
	}
	w.fails(wire.CodeMailboxFull, &ok)
	w.must(w.ack("n1", run.AckResolved))
	w.must(&ok)
}

func TestMailboxIsClosedWithTheRun(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	turn := w.assign("dev")
	id := w.send("qa", func(op *mail.SendMessage) { op.RequiresAck = true })
	w.write("src/a.go", "a")
	w.accept(turn.TurnID, "files_changed", []string{"src/a.go"}, "run_completion_request", true)
	w.wantStatus(wire.StatusCompleted, "")
	w.fails(wire.CodeInvalidStateTransition, &mail.SendMessage{To: "qa", Kind: "handoff", Body: "x"})
	w.fails(wire.CodeInvalidStateTransition, w.ack(id, run.AckReceived))
}

// Forged rows in the log must not mislead their readers.
func TestHostileMailRows(t *testing.T) {
	x := &run.Index{Run: "r"}
	for _, row := range []string{
		`{"event_type":"task_message_sent"}`,
		`{"event_type":"task_message_sent","payload":{"message":{"message_id":7}}}`,
		`{"event_type":"task_message_sent","payload":{"message":{"message_id":"` + strings.Repeat("x", 4096) + `"}}}`,
		`{"event_type":"task_message_delivered","payload":[]}`,
		`{"event_type":"task_message_acknowledged","payload":{"ack":{"message_id":"m","status":"resolved"}}}`,
		`{"event_type":"task_message_sent","event_id":"e","payload":{"message":{"message_id":"m","requires_ack":true},"to":{"turn":"t"}}}`,
		`{"event_type":"task_message_delivered","payload":{"message_id":"m"},"turn":null}`,
	} {
		o, err := ojson.DecodeObject([]byte(row))
		if err != nil {
			t.Fatal(err)
		}
		x.Mail(o)
	}
	if x.Mailbox.Sent != 1 || len(x.Mailbox.Open) != 1 || x.Mailbox.Open[0].Turn != "" {
		t.Errorf("%s", x.Encode())
	}
}
