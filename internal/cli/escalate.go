// escalate and unblock: stop a run for a person, and let it go on.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newEscalateCommand(f *term.Factory) *ucli.Command {
	op := protocol.Escalate{}
	return &ucli.Command{
		Name: "escalate", Category: categoryRun, ArgsUsage: "[TURN]", Usage: "stop the run until a person has decided",
		Flags: []ucli.Flag{
			turnFlag(),
			&ucli.StringFlag{Name: "reason", Usage: "why, in a few words (`TEXT`)", Destination: &op.Reason},
			&ucli.StringFlag{Name: "detail", Usage: "more about it (`TEXT`)", Destination: &op.Detail},
			&ucli.StringFlag{Name: "action", Usage: "what the person should do (`TEXT`)", Destination: &op.Action},
		},
		Action: func(c *ucli.Context) error {
			turn, err := one(c, "turn", "turn")
			if err != nil {
				return err
			}
			op.TurnID = turn
			return runEscalate(c.Context, f, op)
		},
	}
}

func runEscalate(ctx context.Context, f *term.Factory, op protocol.Escalate) error {
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	out, err := r.Escalate(ctx, op)
	tellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	n := next(ctx, r)
	payload := donePayload(&out.Done)
	payload.Set("blocked_on", out.Result.BlockedOn)
	payload.Set("escalation_id", ojson.OrNull(out.Result.EscalationID))
	payload.Set("next_action", nextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("The run is blocked on %s.\n\n", p.Bold(term.OneLine(out.Result.BlockedOn)))
		if out.Result.EscalationID != "" {
			p.Field("Escalation", "%s (also in HUMAN_TASKS.md)", out.Result.EscalationID)
		}
		printWhere(p, &out.Done)
		printNext(p, n)
	})
	return nil
}

func newUnblockCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "unblock", Category: categoryRun, ArgsUsage: "[ESCALATION]", Usage: "resolve what blocks the run",
		Description: "With an escalation id it must be the current blocker. A pending approval is never passed this way; that takes approve. " +
			"Where authority.acts says who may, it is one of them.",
		Flags: consentFlags(),
		Action: func(c *ucli.Context) error {
			if c.NArg() > 1 {
				return term.UsageErrorf("unblock takes one escalation, not %d arguments", c.NArg())
			}
			consent, err := consentOptions(c)
			if err != nil {
				return err
			}
			return runUnblock(c.Context, f, c.Args().First(), consent)
		},
	}
}

func runUnblock(ctx context.Context, f *term.Factory, id string, who runner.ConsentOptions) error {
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	out, err := r.ReactivateRun(ctx, runner.ReactivateOptions{EscalationID: id, Consent: who})
	tellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	n := next(ctx, r)
	payload := donePayload(&out.Done)
	payload.Set("was", out.Result.Was)
	payload.Set("escalation_id", ojson.OrNull(out.Result.EscalationID))
	payload.Set("next_action", nextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Resolved: %s. The run goes on.\n\n", p.Bold(term.OneLine(out.Result.Was)))
		printWhere(p, &out.Done)
		printNext(p, n)
	})
	return nil
}
