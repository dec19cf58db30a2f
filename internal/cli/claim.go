// claim: this clone works on a turn, and the others leave it alone.

package cli

import (
	"context"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newClaimCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "claim", Category: categoryRun, ArgsUsage: "[TURN|ROLE]", Usage: "take a turn for this clone, so that other machines leave it alone",
		Description: "The claim is recorded on the remote first: of several machines that ask, one gets the turn. " +
			"Until it ends, only this clone dispatches the turn or has its result accepted. A role that has no active turn is given one. " +
			"A claim that has ended counts for nothing: another machine may claim the turn, and a result that comes too late is refused.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "for", Usage: "how long (`TIME`, such as 45m or 2h); 30m unless it was longer before"},
			&ucli.BoolFlag{Name: "renew", Usage: "hold it for the same time again, from now"},
			&ucli.BoolFlag{Name: "release", Usage: "give it back before its time"},
			&ucli.BoolFlag{Name: "steal", Usage: "take it from another machine before its time"},
			&ucli.StringFlag{Name: "because", Usage: "why it is taken from another machine (`TEXT`); required with --steal"},
		},
		Action: func(c *ucli.Context) error {
			opt := runner.ClaimOptions{Target: c.Args().First(), Action: protocol.ClaimTake, Because: c.String("because")}
			said := 0
			for name, action := range map[string]string{"renew": protocol.ClaimRenew, "release": protocol.ClaimRelease, "steal": protocol.ClaimSteal} {
				if c.Bool(name) {
					opt.Action = action
					said++
				}
			}
			if said > 1 {
				return term.UsageErrorf("--renew, --release and --steal exclude each other")
			}
			if opt.Because != "" && opt.Action != protocol.ClaimSteal {
				return term.UsageErrorf("--because needs --steal")
			}
			var err error
			if opt.For, err = seconds("for", c.String("for")); err != nil {
				return err
			}
			return runClaim(c.Context, f, opt)
		},
	}
}

func runClaim(ctx context.Context, f *term.Factory, opt runner.ClaimOptions) error {
	r, err := openRunner(ctx, f)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	out, err := r.ClaimTurn(ctx, opt)
	tellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	turn, now := out.Result.Turn, out.Result.Now
	payload := donePayload(&out.Done)
	payload.Set("turn_id", turn.TurnID)
	payload.Set("role", turn.AssignedRole)
	payload.Set("action", opt.Action)
	payload.Set("assigned", out.Assigned)
	payload.Set("claim", ojson.Marshal(&now))
	n := next(ctx, r)
	payload.Set("next_action", nextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		if now.Held() {
			p.Printf("Turn %s (%s) is claimed by this clone for %s.\n", p.Bold(turn.TurnID), turn.AssignedRole, now.Lasts())
		} else {
			p.Printf("Turn %s (%s) is free.\n", p.Bold(turn.TurnID), turn.AssignedRole)
		}
		printWhere(p, &out.Done)
		printNext(p, n)
	})
	return nil
}

// claimObject is who works on a turn. ends_at is by the clock of this machine.
func claimObject(h *runner.TurnHold) *ojson.Object {
	return ojson.NewObject("person", h.Person, "email", h.Email, "machine", h.Machine, "here", h.Here, "number", h.Number,
		"seconds", int(h.Lasts()/time.Second), "ends_at", wire.FormatTime(h.Ends), "ended", h.Over)
}

// claimText says who works on a turn: it goes on from the turn's name.
func claimText(p *term.Printer, h *runner.TurnHold) string {
	who := term.OneLine(h.Who())
	if h.Here {
		who = "this clone"
	}
	if h.Over {
		return "was claimed by " + who + "; the claim ended " + p.Ago(h.Ends)
	}
	return "is claimed by " + who + "; the claim ends " + p.Ago(h.Ends)
}
