// confirm: a person answers for what another tool passed.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type confirmOptions struct {
	Consent runner.ConsentOptions
	Show    bool
	Yes     bool
	Reason  string
}

func newConfirmCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "confirm", Category: shared.CategoryRun,
		Usage: "confirm what another tool or a restore brought into the run",
		Description: "The record alone does not prove the work of the reference CLI, restored files, or files " +
			"recorded with repair --accept-working. Gates that they passed, approvals, lifted blocks and " +
			"completions count once a person has confirmed them, all together. Until then, nothing is built on " +
			"them. The record says who confirmed what, and up to which operation. confirm is refused inside a " +
			"dispatched turn.",
		Flags: append([]ucli.Flag{
			&ucli.BoolFlag{Name: "show", Usage: "only show what waits for confirmation"},
			&ucli.StringFlag{Name: "reason", Usage: "why it is right (`TEXT`); it is recorded"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		}, shared.ConsentFlags()...),
		Action: func(c *ucli.Context) error {
			if err := onlyShows(c); err != nil {
				return err
			}
			consent, err := shared.ConsentOptions(c, f)
			if err != nil {
				return err
			}
			return shared.SignedTo(c, f, runConfirm(c.Context, f, &confirmOptions{
				Show:    c.Bool("show"),
				Yes:     c.Bool("yes"),
				Reason:  c.String("reason"),
				Consent: consent,
			}))
		},
	}
}

func runConfirm(ctx context.Context, f *term.Factory, o *confirmOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	if o.Show {
		shared.TellNotices(f, v.Notices)
		f.Out.Emit(ojson.NewObject("run_id", ojson.OrNull(v.State.Run()), "claims", shared.ClaimObjects(v.Open)),
			func(p *term.Printer) {
				if len(v.Open) == 0 {
					p.Printf("Nothing waits for confirmation.\n")
					return
				}
				printClaims(p, v.Open)
				p.Printf("\nNext: git agentxchain confirm\n")
			})
		return nil
	}
	opt := runner.ConfirmOptions{Reason: o.Reason, Consent: o.Consent}
	if len(v.Open) > 0 && !o.Yes && runner.InsideTurn(nil) == "" {
		for _, c := range v.Open {
			f.Out.Notice("  %s", term.OneLine(claimLine(c)))
		}
		agreed, err := f.Prompt.Confirm(ctx, "Did this happen as it should, and do you answer for it?", "--yes", false)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was confirmed.")
			return nil
		}
		opt.Shown = v.Open
	}
	out, err := r.Confirm(ctx, opt)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	payload := shared.DonePayload(&out.Done, "claims", shared.ClaimObjects(out.Claims), "upto", string(out.Upto))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		p.Printf("Confirmed, up to operation %s:\n", p.Yellow(out.Upto.Short()))
		printClaims(p, out.Claims)
		p.Println()
	})
	return nil
}

func claimLine(c runner.Claim) string {
	if c.Op == "" {
		return c.String() + " (in the working files)"
	}
	return c.String() + " (operation " + c.Op.Short() + ")"
}

func printClaims(p *term.Printer, claims []runner.Claim) {
	for _, c := range claims {
		p.Printf("  %s\n", term.OneLine(claimLine(c)))
	}
}
