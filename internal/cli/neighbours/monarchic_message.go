// monarchic message: the mailbox of the run, between turns, roles and people.

package neighbours

import (
	"context"
	"io"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/bridge"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func newMonarchicMessageCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "message", Usage: "send and read messages between turns, roles and people",
		Subcommands: []*ucli.Command{
			newMessageSendCommand(f),
			newMessageListCommand(f),
			newMessageShowCommand(f),
			newMessageAckCommand(f),
		},
	}
}

func newMessageSendCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "send", ArgsUsage: "[BODY|-]", Usage: "send a message to a turn, a role or a person",
		Description: "The message is stored in the run and reaches its recipient with the next dispatch bundle: of " +
			"the turn's next attempt, or of the role's next turn. The body is the argument, the value of --body, " +
			"or standard input for -. Inside a dispatched turn the sender is that turn; elsewhere it is a person, " +
			"unless --from names an active turn. A reply (--reply-to) goes to the sender unless --to names another " +
			"recipient.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "to", Usage: "send it to `WHOM`: an active turn, a role, or human"},
			&ucli.StringFlag{Name: "from", Usage: "the sender: an active `TURN`"},
			term.NewChoiceFlag("kind", "what it is: `KIND`", "", mail.MessageKinds()...),
			&ucli.StringFlag{Name: "subject", Usage: "one line of `TEXT`"},
			&ucli.StringFlag{Name: "body", Usage: "the `TEXT`, or - for standard input; at most 64 KiB"},
			&ucli.StringSliceFlag{Name: "artifact", Usage: "an artifact it is about, by `ID` (repeatable)"},
			&ucli.StringFlag{
				Name:  "reply-to",
				Usage: "the `MESSAGE` it answers; its kind is then " + mail.KindResponse,
			},
			&ucli.BoolFlag{Name: "requires-ack", Usage: "the recipient has to acknowledge it"},
			&ucli.StringFlag{Name: "id", Usage: "give it this `ID`, which no message of the run may have yet"},
		},
		Action: func(c *ucli.Context) error {
			op := mail.SendMessage{
				ID:        c.String("id"),
				From:      c.String("from"),
				To:        c.String("to"),
				Kind:      c.String("kind"),
				Subject:   c.String("subject"),
				Body:      c.String("body"),
				Artifacts: c.StringSlice("artifact"),
				ReplyTo:   c.String("reply-to"),
				RequiresAck: c.Bool(
					"requires-ack"),
			}
			if err := term.NotEmpty(c, "id", "from", "to", "reply-to"); err != nil {
				return err
			}
			switch {
			case c.NArg() == 1 && c.IsSet("body"):
				return term.UsageErrorf("the body is given twice: as an argument and with --body")
			case c.NArg() == 1:
				op.Body = c.Args().First()
			}
			if op.Kind == "" {
				if op.ReplyTo == "" {
					return term.UsageErrorf("say what the message is: --kind %s",
						strings.Join(mail.MessageKinds(), ", "))
				}
				op.Kind = mail.KindResponse
			}
			return runMessageSend(c.Context, f, op)
		},
	}
}

func runMessageSend(ctx context.Context, f *term.Factory, op mail.SendMessage) error {
	if op.Body == "-" {
		if f.Env.IsTerminal(f.Env.Stdin) {
			f.Out.Notice("reading the body from the terminal; end it with ^D")
		}
		data, err := io.ReadAll(io.LimitReader(f.Env.Stdin, mail.MaxMessageBody+2))
		if err != nil {
			return term.Errorf("io_failed", "cannot read the body: %w", err)
		}
		// The line end that echo and editors add is not part of the message.
		op.Body = strings.TrimSuffix(string(data), "\n")
	}
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.SendMessage(ctx, op)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "message", out.Message, "to", out.To)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Sent %s to %s.\n", p.Bold(term.OneLine(out.Message.String("message_id"))),
			term.OneLine(out.Message.String("to_task_id")))
		switch {
		case out.To.Has("turn"):
			p.Printf("It is in the bundle of the turn's next attempt; the turn can read it now with git agentxchain monarchic message list --for %s.\n", term.OneLine(out.To.String("turn")))
		case out.To.Has("role"):
			p.Printf("It is in the bundle of the role's next turn.\n")
		}
	})
	return nil
}

// messageListOptions says which messages to list.
type messageListOptions struct {
	Run     string
	For     string // turn, role or human; "" is any recipient
	Unacked bool
	Sent    bool // leave out the messages that follow from the run
}

func newMessageListCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "list", Usage: "list the messages of a run, newest last",
		Description: "Besides the messages that were sent, it lists what amounts to messages: delegations and " +
			"their results, blocks that wait for a person, and files that an accepted turn leaves to the next.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "for", Usage: "only messages for `WHOM`: a turn, a role, or human"},
			&ucli.BoolFlag{Name: "unacked", Usage: "only messages whose recipient still has to answer"},
			&ucli.BoolFlag{Name: "sent", Usage: "only messages that were sent"},
			&ucli.StringFlag{Name: "run", Usage: "of the recorded run `ID`", DefaultText: "the run of this work tree"},
		},
		Action: func(c *ucli.Context) error {
			return runMessageList(c.Context, f, &messageListOptions{
				Run:     c.String("run"),
				For:     c.String("for"),
				Unacked: c.Bool("unacked"),
				Sent:    c.Bool("sent"),
			})
		},
	}
}

// readMailbox reads the messages of a run.
func readMailbox(ctx context.Context, f *term.Factory, run string) (string, []*bridge.Mail, error) {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return "", nil, err
	}
	x, err := bridge.Read(ctx, r, bridge.Options{Run: run, Version: shared.ReadBuild().Version})
	if err != nil {
		return "", nil, err
	}
	return x.Run, x.Mailbox(), nil
}

func runMessageList(ctx context.Context, f *term.Factory, o *messageListOptions) error {
	run, all, err := readMailbox(ctx, f, o.Run)
	if err != nil {
		return err
	}
	var mails []*bridge.Mail
	rows := []*ojson.Object{}
	for _, m := range all {
		if o.For != "" && !m.For(o.For) || o.Unacked && !m.Owed() || o.Sent && m.Derived {
			continue
		}
		mails, rows = append(mails, m), append(rows, mailObject(m))
	}
	f.Out.Emit(ojson.NewObject("run_id", run, "messages", rows), func(p *term.Printer) {
		if len(mails) == 0 {
			p.Println(shared.Nothing(o.For != "" || o.Unacked || o.Sent, "There are no messages in this run.",
				"No message matches."))
			return
		}
		t := term.NewTable("MESSAGE", "WHEN", "FROM", "TO", "KIND", "STATE", "SUBJECT")
		for _, m := range mails {
			from := m.Message.FromTaskID
			if m.FromRole != "" {
				from = m.FromRole
			}
			t.Row(m.Message.MessageID, shared.Ago(p, m.Message.CreatedAt), from, m.Addressed, string(m.Message.Kind),
				mailState(m), mailSubject(m))
		}
		p.Table(t)
	})
	return nil
}

// mailState describes the state of a message in a few words.
func mailState(m *bridge.Mail) string {
	s := m.State
	if a := m.Answered(); a != "" {
		s = a
	}
	if m.Owed() {
		s += ", answer owed"
	}
	return s
}

func mailSubject(m *bridge.Mail) string {
	if m.Message.Subject != "" {
		return m.Message.Subject
	}
	first, _, _ := strings.Cut(strings.TrimSpace(m.Message.Body), "\n")
	return first
}

func mailObject(m *bridge.Mail) *ojson.Object {
	acks := []any{}
	for _, a := range m.Acks {
		acks = append(acks, bridge.Value(a))
	}
	return ojson.NewObject("message", bridge.Value(m.Message), "acks", acks, "state", m.State,
		"addressed_to", m.Addressed, "from_role", ojson.OrNull(m.FromRole), "derived", m.Derived,
		"answer_owed", m.Owed())
}

func newMessageShowCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "show", ArgsUsage: "MESSAGE", Usage: "show one message with its text and the answers to it",
		Flags: []ucli.Flag{&ucli.StringFlag{
			Name:        "run",
			Usage:       "of the recorded run `ID`",
			DefaultText: "the run of this work tree",
		}},
		Action: func(c *ucli.Context) error { return runMessageShow(c.Context, f, c.String("run"), c.Args().First()) },
	}
}

func runMessageShow(ctx context.Context, f *term.Factory, run, id string) error {
	run, all, err := readMailbox(ctx, f, run)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.Message.MessageID != id {
			continue
		}
		payload := mailObject(m)
		payload.Set("run_id", run)
		f.Out.Emit(payload, func(p *term.Printer) { printMail(p, m) })
		return nil
	}
	return term.Errorf("not_found", "there is no message %s in the mailbox of run %s", term.OneLine(id),
		term.OneLine(run)).WithHint("git agentxchain monarchic message list")
}

func printMail(p *term.Printer, m *bridge.Mail) {
	msg := m.Message
	p.Field("Message", "%s (%s)", p.Bold(term.OneLine(msg.MessageID)), term.OneLine(string(msg.Kind)))
	from := term.OneLine(msg.FromTaskID)
	if m.FromRole != "" {
		from += " (" + term.OneLine(m.FromRole) + ")"
	}
	p.Field("From", "%s", from)
	to := term.OneLine(m.Addressed)
	if msg.ToTaskID != m.Addressed {
		to += ", delivered to " + term.OneLine(msg.ToTaskID)
	}
	p.Field("To", "%s", to)
	p.Field("Sent", "%s", term.OneLine(msg.CreatedAt))
	p.Field("State", "%s", mailState(m))
	if msg.ReplyTo != "" {
		p.Field("Answers", "%s", term.OneLine(msg.ReplyTo))
	}
	for _, a := range msg.ArtifactRefs {
		p.Field("Artifact", "%s", term.OneLine(a))
	}
	if msg.Subject != "" {
		p.Field("Subject", "%s", term.OneLine(msg.Subject))
	}
	if msg.Body != "" {
		p.Printf("\n")
		for line := range strings.SplitSeq(msg.Body, "\n") {
			p.Printf("  %s\n", term.Clean(line))
		}
	}
	for i, a := range m.Acks {
		if i == 0 {
			p.Printf("\n")
		}
		note := ""
		if a.Note != "" {
			note = ": " + term.OneLine(a.Note)
		}
		p.Printf("%s %s by %s%s\n", term.OneLine(a.AckedAt), term.OneLine(a.Status), term.OneLine(a.TaskID), note)
	}
}

func newMessageAckCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "ack", ArgsUsage: "MESSAGE", Usage: "answer a message: received, accepted, rejected or resolved",
		Description: "A message is received, then accepted or rejected, then resolved. You may skip a step but not " +
			"go back. A turn answers messages to it; a person answers any message, and alone those to human.",
		Flags: []ucli.Flag{
			term.NewChoiceFlag("status", "say that it was `STATUS`", "", run.AckStatuses()...),
			&ucli.StringFlag{Name: "note", Usage: "more about it (`TEXT`)"},
		},
		Action: func(c *ucli.Context) error {
			if c.String("status") == "" {
				return term.UsageErrorf("say what has become of the message: --status %s",
					strings.Join(run.AckStatuses(), ", "))
			}
			return runMessageAck(c.Context, f, c.Args().First(), c.String("status"), c.String("note"))
		},
	}
}

func runMessageAck(ctx context.Context, f *term.Factory, id, status, note string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.AckMessage(ctx, id, status, note)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "ack", out.Ack)
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Message %s is %s by %s.\n", p.Bold(term.OneLine(id)), term.OneLine(status),
			term.OneLine(out.Ack.String("task_id")))
	})
	return nil
}
