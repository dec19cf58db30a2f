// objection list and objection close: the objections of turns against the work, and a person's
// answer.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func newObjectionCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "objection", Category: shared.CategoryRun, Usage: "list the objections that turns raised, and close one",
		Subcommands: []*ucli.Command{
			{
				Name: "list", Usage: "list the open objections of the run",
				Action: func(c *ucli.Context) error { return runObjectionList(c.Context, f) },
			},
			{
				Name: "close", ArgsUsage: "ID", Usage: "close an objection; the next turn reads the reason",
				Description: "A turn itself closes an objection by naming it again with the status resolved. This " +
					"command is refused inside a dispatched turn.",
				Flags: []ucli.Flag{
					&ucli.StringFlag{Name: "because", Aliases: []string{"reason"}, Usage: "why (`TEXT`); it is recorded"},
					&ucli.StringFlag{Name: "turn", Usage: "the `TURN` that raised it, if several used the same id"},
				},
				Action: func(c *ucli.Context) error {
					return runObjectionClose(c.Context, f, c.Args().First(), c.String("turn"), c.String("because"))
				},
			},
		},
	}
}

func runObjectionList(ctx context.Context, f *term.Factory) error {
	_, v, err := shared.OpenView(ctx, f)
	if err != nil {
		return err
	}
	rows := append([]*ojson.Object{}, v.Index.OpenObjections...)
	f.Out.Emit(ojson.NewObject("run_id", ojson.OrNull(v.State.Run()), "objections", rows), func(p *term.Printer) {
		if len(rows) == 0 {
			p.Println("No objection is open.")
			return
		}
		t := &term.Table{Header: []string{"ID", "SEVERITY", "ROLE", "TURN", "STATEMENT"}, Flex: 4}
		for _, o := range rows {
			t.Row(o.String("id"), o.String("severity"), o.String("role"), o.String("turn_id"), o.String("statement"))
			if o.String("severity") == "blocking" {
				t.Emphasise(1, p.Red)
			}
		}
		p.Table(t)
	})
	return nil
}

func runObjectionClose(ctx context.Context, f *term.Factory, id, turn, reason string) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.CloseObjection(ctx, id, turn, reason)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "closed", out.Result.Closed, "reason", out.Result.Reason,
		"open", out.Result.Left)
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		o := out.Result.Closed
		p.Printf("Objection %s of %s is closed: %s\n\n", p.Bold(term.OneLine(o.String("id"))),
			term.OneLine(o.String("role")), term.OneLine(o.String("statement")))
		p.Field("Because", "%s", term.OneLine(out.Result.Reason))
		p.Field("Open", "%s", term.Counted(out.Result.Left, "objection"))
	})
	return nil
}
