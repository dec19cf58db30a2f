// Code common to all commands on a governed project: opening it, notices, turns as text and JSON.

package shared

import (
	"cmp"
	"context"
	"errors"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Open opens the governed project around the working directory, until the command has ended.
func Open(ctx context.Context, f *term.Factory) (*runner.Runner, error) {
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	r, err := runner.Open(ctx, dir, runner.Options{Now: f.Env.Now, Getenv: f.Env.Getenv, Trust: f.Global.Trust,
		Terminal: f.Env.IsTerminal(f.Env.Stdin) && f.Env.IsTerminal(f.Env.Stderr), Background: syncInBackground})
	if err == nil {
		f.CloseAtEnd(r)
	}
	return r, err
}

// Repository opens the repository that discover finds around the working directory, until the command has ended.
func Repository(
	ctx context.Context, f *term.Factory, discover func(context.Context, string) (*runner.Repository, error),
) (*runner.Repository, error) {
	dir, err := f.Dir()
	if err != nil {
		return nil, err
	}
	repo, err := discover(ctx, dir)
	if err == nil {
		f.CloseAtEnd(repo)
	}
	return repo, err
}

// OpenView opens the project and reads its view, and prints what was repaired on the way.
func OpenView(ctx context.Context, f *term.Factory) (*runner.Runner, *runner.View, error) {
	r, err := Open(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	TellNotices(f, v.Notices)
	return r, v, nil
}

// TellNotices prints what was repaired or absorbed on the way.
func TellNotices(f *term.Factory, list []string) {
	for _, n := range list {
		if strings.HasPrefix(n, "[agentxchain]") {
			f.Out.Notice("%s", n) // its beginning is part of the wire format (docs/notifications.md#human-escalations)
			continue
		}
		f.Out.Notice("note: %s", n)
	}
}

// OnOne returns the action of a command whose only argument may also be the value of a flag with the same meaning; it
// is a usage error when both are given and differ.
func OnOne(what, flag string, act func(c *ucli.Context, value string) error) ucli.ActionFunc {
	return func(c *ucli.Context) error {
		value, fromFlag := c.Args().First(), c.String(flag)
		if c.NArg() == 1 && fromFlag != "" && value != fromFlag {
			return term.UsageErrorf("%s names two: %s and --%s %s", what, term.OneLine(value), flag, term.OneLine(fromFlag))
		}
		return act(c, cmp.Or(value, fromFlag))
	}
}

// OnTurn is OnOne for a turn, the argument or --turn.
func OnTurn(act func(c *ucli.Context, turn string) error) ucli.ActionFunc {
	return OnOne("turn", "turn", act)
}

// TurnFlag returns --turn, for a command that also takes the turn as an argument.
func TurnFlag() ucli.Flag {
	return &ucli.StringFlag{Name: "turn", Usage: "the turn's `ID` (same as the argument)"}
}

// TurnObject returns an active turn for --json.
func TurnObject(t *run.Turn) *ojson.Object {
	o := ojson.Marshal(t).Clone()
	o.Set("staging_path", wire.StagingPath(t.TurnID))
	o.Set("bundle_path", wire.BundleDir(t.TurnID))
	return o
}

// NextObject returns the next action for --json, null when there is none.
func NextObject(n *protocol.NextAction) any {
	if n == nil {
		return nil
	}
	return ojson.NewObject("command", n.Command, "reason", n.Reason)
}

// PrintNext prints the one next command.
func PrintNext(p *term.Printer, n *protocol.NextAction) {
	if n == nil {
		return
	}
	p.Field("Next", "%s", p.Bold(term.Clean(n.Command)))
	if n.Reason != "" {
		p.Printf("%s %s\n", term.Pad("", 14), p.Dim(term.OneLine(n.Reason)))
	}
}

// DonePayload returns the --json members of every changing command, followed by the command's own.
func DonePayload(d *runner.Done, own ...any) *ojson.Object {
	o := ojson.NewObject("run_id", ojson.OrNull(d.Run), "op", ojson.OrNull(string(d.Op)))
	if d.State != nil {
		o.Set("status", string(d.State.Status))
		o.Set("phase", d.State.Phase)
	}
	if len(d.Notices) > 0 {
		o.Set("notices", d.Notices)
	}
	for k, v := range ojson.NewObject(own...).All() {
		o.Set(k, v)
	}
	return o
}

// EmitDone gives out what a command has changed: text, then where the run is and what comes next. payload has the
// members for --json, without next_action.
func EmitDone(
	ctx context.Context, f *term.Factory, r *runner.Runner, d *runner.Done, payload *ojson.Object,
	text func(p *term.Printer),
) {
	n := r.Next(ctx)
	payload.Set("next_action", NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		text(p)
		PrintWhere(p, d)
		PrintNext(p, n)
	})
}

// PrintWhere prints run, phase and status on one line.
func PrintWhere(p *term.Printer, d *runner.Done) {
	if d.State == nil {
		return
	}
	p.Field("Run", "%s, phase %s, %s", term.OneLine(d.Run), p.Bold(term.OneLine(d.State.Phase)),
		StatusStyle(p, d.State.Status)(string(d.State.Status)))
}

// PrintStatements prints the decisions and objections of an accepted turn.
func PrintStatements(p *term.Printer, row *ojson.Object) {
	for _, d := range row.Objects("decisions") {
		p.Field("Decision", "%s %s", term.OneLine(d.String("id")), term.OneLine(d.String("statement")))
	}
	for _, o := range row.Objects("objections") {
		p.Field("Objection", "%s (%s) %s", term.OneLine(o.String("id")), term.OneLine(o.String("severity")),
			term.OneLine(o.String("statement")))
	}
}

// StatusStyle returns the colour of a status.
func StatusStyle(p *term.Printer, s wire.Status) func(string) string {
	switch s {
	case wire.StatusActive, wire.StatusCompleted:
		return p.Green
	case wire.StatusPaused:
		return p.Yellow
	case wire.StatusBlocked, wire.StatusFailed:
		return p.Red
	}
	return p.Dim
}

// Listed turns a refusal with several findings into one that shows them line by line, for people;
// --json has them as data anyway.
func Listed(f *term.Factory, err error) error {
	var refusal *wire.Error
	if f.JSON() || !errors.As(err, &refusal) || len(refusal.Problems) < 2 {
		return err
	}
	head := refusal.Message
	if i := strings.Index(head, refusal.Problems[0].Message); i > 0 {
		head = head[:i]
	}
	head = strings.TrimRight(head, ".: ")
	out := &term.Error{Code: refusal.ErrorCode(), Message: head + ":", Hint: refusal.ErrorHint(), Cause: err}
	for _, p := range refusal.Problems {
		out.Findings = append(out.Findings, p.Message)
	}
	return out
}

// PrintWarnings prints warnings, a line each.
func PrintWarnings(f *term.Factory, warnings []string) {
	for _, w := range warnings {
		f.Out.Warn("%s", strings.TrimSuffix(w, "."))
	}
}
