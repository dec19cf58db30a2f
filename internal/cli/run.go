// run: the run loop, until the run is complete or a person is needed.

package cli

import (
	"context"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
)

type runOptions struct {
	Role         string
	MaxTurns     int
	MaxCost      float64
	Timeout      time.Duration
	AutoApprove  bool
	AllowActions bool
	NoCheckpoint bool
	NewRun       bool
	Parent       string
	Inherit      bool
	DryRun       bool
	Claim        bool
}

func newRunCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "run", Category: shared.CategoryRun,
		Usage: "drive the run: turns, retries, gates, until it is complete or a person is needed",
		Description: "Each turn is carried out by the runtime of its role, and its result is accepted or sent " +
			"back. A run that was interrupted or killed resumes where it was. Turns of manual roles are left to a " +
			"person.\n\n" +
			"A gate that needs a person waits: at a terminal, run asks you; elsewhere it ends. --auto-approve " +
			"approves gates that are not credentialed.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "role", Usage: "the `ROLE` of the first new turn"},
			&ucli.IntFlag{
				Name:  "max-turns",
				Usage: "stop after `N` accepted turns (run_loop.max_turns, 50 by default)",
			},
			&ucli.Float64Flag{Name: "max-cost", Usage: "give out no more turns once this command has spent `USD`"},
			&ucli.StringFlag{
				Name:  "timeout",
				Usage: "`TIME` for one dispatch, such as 20m, in addition to the limits in agentxchain.json",
			},
			&ucli.BoolFlag{Name: "auto-approve", Usage: "approve gates that are not credentialed"},
			&ucli.BoolFlag{
				Name:  "allow-actions",
				Usage: "run the actions of approved gates (commands in agentxchain.json)",
			},
			&ucli.BoolFlag{Name: "no-checkpoint", Usage: "do not commit the files of accepted turns"},
			&ucli.BoolFlag{Name: "new-run", Usage: "start another run if the last one is over"},
			&ucli.StringFlag{Name: "continue-from", Usage: "start the run as a continuation of `RUN`, which is over"},
			&ucli.BoolFlag{
				Name:  "inherit-context",
				Usage: "with --continue-from: show its decisions and turns to the new run",
			},
			&ucli.BoolFlag{
				Name:  "claim",
				Usage: "share the run with other machines: claim each turn first, wait while others have all (implied by agentxchain.sync=strict)",
			},
			&ucli.BoolFlag{Name: "dry-run", Usage: "only say what would be done, by which role and runtime"},
		},
		Action: func(c *ucli.Context) error {
			o := &runOptions{
				Role:         c.String("role"),
				MaxTurns:     c.Int("max-turns"),
				MaxCost:      c.Float64("max-cost"),
				AutoApprove:  c.Bool("auto-approve"),
				AllowActions: c.Bool("allow-actions"),
				NoCheckpoint: c.Bool("no-checkpoint"),
				NewRun:       c.Bool("new-run"),
				Parent:       c.String("continue-from"),
				Inherit:      c.Bool("inherit-context"),
				DryRun:       c.Bool("dry-run"),
				Claim:        c.Bool("claim"),
			}
			switch {
			case c.IsSet("max-turns") && o.MaxTurns < 1:
				return term.UsageErrorf("--max-turns takes a number from 1, not %d", o.MaxTurns)
			case c.IsSet("max-cost") && !(o.MaxCost > 0):
				return term.UsageErrorf("--max-cost takes an amount above 0")
			case o.Inherit && o.Parent == "":
				return term.UsageErrorf("--inherit-context needs --continue-from RUN")
			}
			var err error
			if o.Timeout, err = term.Seconds("timeout", c.String("timeout")); err != nil {
				return err
			}
			return runRun(c.Context, f, o)
		},
	}
}

func runRun(ctx context.Context, f *term.Factory, o *runOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if o.NewRun {
		r = r.Afresh()
	}
	if o.DryRun {
		return runPlan(ctx, f, r, &planOptions{
			Role:        o.Role,
			MaxTurns:    o.MaxTurns,
			NewRun:      o.NewRun,
			AutoApprove: o.AutoApprove,
		})
	}
	d := newDrive(f, r)
	if _, err := d.ready(ctx, "git agentxchain run", o.Role); err != nil {
		return err
	}
	opt := loop.Options{
		MaxTurns:      o.MaxTurns,
		MaxCostUSD:    o.MaxCost,
		NoCheckpoint:  o.NoCheckpoint,
		AllowActions:  o.AllowActions,
		DispatchLimit: o.Timeout,
		NewRun:        o.NewRun || o.Parent != "",
		ApproveGate:   d.approver(o.AutoApprove),
		FirstRole:     o.Role,
		Start: runner.InitRunOptions{
			ParentRun:      o.Parent,
			InheritContext: o.Inherit,
			Trigger:        continuation(o.Parent),
		},
	}
	if o.Claim || r.RemoteDecides() {
		opt.Claim = protocol.DefaultClaim
	}
	res, err := d.loop(ctx, opt, boundRuntimes)
	if res == nil {
		return err
	}
	return d.finish(ctx, res)
}

func continuation(parent string) string {
	if parent == "" {
		return ""
	}
	return "continuation"
}
