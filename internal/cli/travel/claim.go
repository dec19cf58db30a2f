// claim: this clone works on a turn, and the others leave it alone.

package travel

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func NewClaimCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "claim",
		Category:  shared.CategoryRun,
		ArgsUsage: "[TURN|ROLE]",
		Usage:     "reserve a turn for this clone, so that other machines leave it alone",
		Description: "The claim is recorded on the remote first, so of several machines that claim a turn only one " +
			"gets it. Until the claim ends, only this clone dispatches the turn or has its result accepted. If " +
			"ROLE has no active turn, it is given one. After the claim has ended, another machine may claim the " +
			"turn, and a result that arrives too late is refused.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{
				Name:  "for",
				Usage: "how long (`TIME`, such as 45m or 2h); 30m unless it was longer before",
			},
			&ucli.BoolFlag{Name: "renew", Usage: "keep it for the same time again, from now"},
			&ucli.BoolFlag{Name: "release", Usage: "give it back before its time"},
			&ucli.BoolFlag{Name: "steal", Usage: "take it from another machine before its time"},
			&ucli.StringFlag{
				Name:    "because",
				Aliases: []string{"reason"},
				Usage:   "why you take it from another machine (`TEXT`); required with --steal",
			},
		},
		Action: func(c *ucli.Context) error {
			opt := runner.ClaimOptions{
				Target:  c.Args().First(),
				Action:  protocol.ClaimTake,
				Because: c.String("because"),
			}
			said := 0
			for name, action := range map[string]string{
				"renew":   protocol.ClaimRenew,
				"release": protocol.ClaimRelease,
				"steal":   protocol.ClaimSteal,
			} {
				if c.Bool(name) {
					opt.Action = action
					said++
				}
			}
			if said > 1 {
				return term.UsageErrorf("--renew, --release and --steal cannot be used together")
			}
			if opt.Because != "" && opt.Action != protocol.ClaimSteal {
				return term.UsageErrorf("--because needs --steal")
			}
			var err error
			if opt.For, err = term.Seconds("for", c.String("for")); err != nil {
				return err
			}
			return runClaim(c.Context, f, opt)
		},
	}
}

func runClaim(ctx context.Context, f *term.Factory, opt runner.ClaimOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	out, err := r.ClaimTurn(ctx, opt)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	turn, now := out.Result.Turn, out.Result.Now
	payload := shared.DonePayload(&out.Done, "turn_id", turn.TurnID, "role", turn.AssignedRole, "action", opt.Action,
		"assigned", out.Assigned, "claim", ojson.Marshal(&now))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		if now.Held() {
			p.Printf("Turn %s (%s) is claimed by this clone for %s.\n", p.Bold(turn.TurnID), turn.AssignedRole,
				now.Time())
		} else {
			p.Printf("Turn %s (%s) is free.\n", p.Bold(turn.TurnID), turn.AssignedRole)
		}
	})
	return nil
}
