// escalate and unblock: stop a run for a person, and let it go on.

package cli

import (
	"context"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newEscalateCommand(f *term.Factory) *ucli.Command {
	op := protocol.Escalate{}
	return &ucli.Command{
		Name:      "escalate",
		Category:  shared.CategoryRun,
		ArgsUsage: "[TURN]",
		Usage:     "stop the run until a person has decided",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			&ucli.StringFlag{Name: "reason", Usage: "why, in a few words (`TEXT`)", Destination: &op.Reason},
			&ucli.StringFlag{Name: "detail", Usage: "details (`TEXT`)", Destination: &op.Detail},
			&ucli.StringFlag{Name: "action", Usage: "what the person should do (`TEXT`)", Destination: &op.Action},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			op.TurnID = turn
			return runEscalate(c.Context, f, op)
		}),
	}
}

func runEscalate(ctx context.Context, f *term.Factory, op protocol.Escalate) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.Escalate(ctx, op)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "blocked_on", out.Result.BlockedOn,
		"escalation_id", ojson.OrNull(out.Result.EscalationID))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		p.Printf("The run is blocked on %s.\n\n", p.Bold(term.OneLine(out.Result.BlockedOn)))
		if out.Result.EscalationID != "" {
			p.Field("Escalation", "%s (also in HUMAN_TASKS.md)", out.Result.EscalationID)
		}
	})
	return nil
}

func newUnblockCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "unblock", Category: shared.CategoryRun, ArgsUsage: "[ESCALATION]", Usage: "resolve what blocks the run",
		Description: "ESCALATION is the id of the current escalation; any other id is refused. A gate that waits " +
			"for a person is passed with approve, never with unblock. --accept-as-is accepts the result, or the " +
			"gate, that a policy or a hook stopped. It overrules that one refusal of the result as it is now, " +
			"once. If authority.acts names people for this, only they may do it.",
		Flags: append([]ucli.Flag{
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); it is recorded"},
			&ucli.BoolFlag{
				Name:  "accept-as-is",
				Usage: "accept what a policy or hook has stopped, as it is; needs --reason",
			},
		}, shared.ConsentFlags()...),
		Action: func(c *ucli.Context) error {
			consent, err := shared.ConsentOptions(c, f)
			if err != nil {
				return err
			}
			if c.Bool("accept-as-is") && strings.TrimSpace(c.String("reason")) == "" {
				return term.UsageErrorf("unblock --accept-as-is needs --reason TEXT")
			}
			return shared.SignedTo(c, f, runUnblock(c.Context, f, runner.ReactivateOptions{
				EscalationID: c.Args().First(),
				Reason:       c.String("reason"),
				AsIs:         c.Bool("accept-as-is"),
				Consent:      consent,
			}))
		},
	}
}

func runUnblock(ctx context.Context, f *term.Factory, o runner.ReactivateOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.ReactivateRun(ctx, o)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "was", out.Result.Was,
		"escalation_id", ojson.OrNull(out.Result.EscalationID))
	if v := out.Result.Overruled; v != nil {
		payload.Set("overruled",
			ojson.NewObject("on", v.On, "kind", v.Kind, "turn_id", ojson.OrNull(v.TurnID), "said", v.Said))
	}
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		if v := out.Result.Overruled; v != nil {
			printTaken(p, v)
		} else {
			p.Printf("Resolved: %s. The run continues.\n\n", p.Bold(term.OneLine(out.Result.Was)))
		}
	})
	return nil
}

// printTaken prints what a person has accepted as it is, and how far that goes.
func printTaken(p *term.Printer, v *protocol.Overrulable) {
	what := "the result of turn " + v.TurnID
	if v.TurnID == "" {
		what = "the gate that waits"
	}
	p.Printf("Taken as it is: %s, over %s.\n\n", term.OneLine(what), p.Bold(term.OneLine(v.On)))
	for _, said := range v.Said {
		p.Field("It said", "%s", term.OneLine(said))
	}
	p.Println("This counts once, for what is there now. Every other check is made as before.")
}
