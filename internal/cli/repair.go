// repair: end a disagreement between the working files and the recorded run.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type repairOptions struct {
	Mode runner.RepairMode
	runner.RepairOptions
	Yes     bool
	Consent runner.ConsentOptions
}

func newRepairCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name:      "repair",
		Category:  shared.CategoryTrust,
		ArgsUsage: "[RUN]",
		Usage:     "choose a side where the working files and the recorded run disagree",
		Description: "Choose a side with a flag, because only you know which one is right.\n\n" +
			"--from-ref makes the governed files those of the run's ref. It keeps the files that it displaces, and " +
			"also fills a fresh clone whose runs were fetched. If the run's operations are not valid, it refuses " +
			"and names the last valid one; --from-op goes back to that operation.\n\n" +
			"--accept-working records the files as they are, with who said so and why. It is refused inside a " +
			"dispatched turn.\n\n" +
			"--adopt takes over a run that another tool began and that has no record. It shows the run, its " +
			"phases, gates and turns, each with the ledger row behind it, and asks.",
		Flags: append([]ucli.Flag{
			&ucli.BoolFlag{Name: "from-ref", Usage: "the recorded run is right"},
			&ucli.StringFlag{
				Name:  "from-op",
				Usage: "go back to operation `OP`, the last valid one of the run; what is dropped stays under refs/agentxchain/lost",
			},
			&ucli.BoolFlag{Name: "accept-working", Usage: "the working files are right"},
			&ucli.BoolFlag{Name: "adopt", Usage: "take over the run that another tool began, and answer for it"},
			&ucli.StringFlag{Name: "run", Usage: "with --from-ref, the `RUN` (same as the argument)"},
			&ucli.StringFlag{Name: "reason", Usage: "with --accept-working and --adopt, why (`TEXT`); it is recorded"},
			&ucli.BoolFlag{Name: "dry-run", Usage: "only show the plan"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		}, shared.ConsentFlags()...),
		Action: shared.OnOne("run", "run", func(c *ucli.Context, run string) error {
			o := &repairOptions{
				Yes: c.Bool("yes"),
				RepairOptions: runner.RepairOptions{
					Run:    run,
					FromOp: c.String("from-op"),
					DryRun: c.Bool("dry-run"),
					Reason: c.String("reason"),
				},
			}
			var err error
			if o.Consent, err = shared.ConsentOptions(c, f); err != nil {
				return err
			}
			from, accept := c.Bool("from-ref") || c.IsSet("from-op"), c.Bool("accept-working")
			if c.Bool("adopt") {
				switch {
				case from || accept:
					return term.UsageErrorf(
						"--adopt is about a run that is not on record; it goes with neither --from-ref nor --accept-working")
				case run != "":
					return term.UsageErrorf("--adopt is about the run in the working files; it does not take %q",
						term.OneLine(run))
				}
				return shared.SignedTo(c, f, runAdopt(c.Context, f, o))
			}
			switch {
			case c.IsSet("sign") || c.IsSet("statement"):
				return term.UsageErrorf("--sign, --statement and --to belong to --adopt")
			case c.IsSet("from-op") && o.FromOp == "":
				return term.UsageErrorf("--from-op takes the id of an operation")
			case from && accept:
				return term.UsageErrorf("--from-ref and --accept-working cannot be used together; give one of them")
			case !from && !accept:
				return term.UsageErrorf(
					"repair needs --from-ref (the recorded run is right), --adopt (another tool began the run) or --accept-working --reason TEXT (the working files are right); --dry-run shows what either would do")
			case from && o.Reason != "":
				return term.UsageErrorf("--reason belongs to --accept-working")
			case from:
				o.Mode = runner.FromRef
			case run != "":
				return term.UsageErrorf("--accept-working is about the run in the working files; it does not take %q",
					term.OneLine(run))
			case term.OneLine(o.Reason) == "":
				return term.Errorf("reason_required",
					"--accept-working needs --reason TEXT: why the working files are right").
					WithHint("git agentxchain fsck shows what differs")
			default:
				o.Mode = runner.AcceptWorking
			}
			return runRepair(c.Context, f, o)
		}),
	}
}

func runRepair(ctx context.Context, f *term.Factory, o *repairOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if f.Interactive() && !o.DryRun && !o.Yes {
		agreed, err := agreeToRepair(ctx, f, func(opt runner.RepairOptions) (*runner.RepairPlan, error) {
			return r.Repair(ctx, o.Mode, opt)
		}, o)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was changed.")
			return nil
		}
	}
	plan, err := r.Repair(ctx, o.Mode, o.RepairOptions)
	if err != nil {
		return err
	}
	if plan.Shared != "" {
		f.Out.Notice("note: the work tree %s is in this run too, and each continues from what the other records",
			term.OneLine(plan.Shared))
	}
	actions := []*ojson.Object{}
	for _, a := range plan.Actions {
		actions = append(actions, ojson.NewObject("path", a.Path, "action", a.Action, "kept", ojson.OrNull(a.Kept)))
	}
	side := "from-ref"
	if o.Mode == runner.AcceptWorking {
		side = "accept-working"
	}
	payload := ojson.NewObject("run_id", ojson.OrNull(plan.Run), "op", ojson.OrNull(string(plan.Op)), "side", side,
		"dry_run", o.DryRun, "done", plan.Done, "actions", actions)
	if plan.Lost != "" {
		payload.Set("lost_ref", plan.Lost)
		payload.Set("dropped", plan.Dropped)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		printPlan(p, plan)
		if plan.Lost != "" {
			p.Printf("%s dropped, kept as %s\n", term.Counted(plan.Dropped, "operation"), term.OneLine(plan.Lost))
		}
		switch {
		case plan.Run == "":
			p.Printf("Nothing was recorded: %s names no run.\n", wire.DocState)
		case len(plan.Actions) == 0 && plan.Lost == "":
			p.Printf("Nothing to repair: the working files are what the run recorded.\n")
		case o.DryRun:
			p.Printf("\nNothing was changed (--dry-run).\n")
		case o.Mode == runner.AcceptWorking:
			p.Printf("\nThe working files are recorded as operation %s.\n", p.Yellow(plan.Op.Short()))
		default:
			p.Printf("\nThe working files are at operation %s of run %s.\n", p.Yellow(plan.Op.Short()),
				term.OneLine(plan.Run))
		}
	})
	return nil
}

// agreeToRepair shows the plan to the person at the terminal and asks.
func agreeToRepair(ctx context.Context, f *term.Factory, repair func(runner.RepairOptions) (*runner.RepairPlan, error),
	o *repairOptions) (bool, error) {
	opt := o.RepairOptions
	opt.DryRun = true
	plan, err := repair(opt)
	if err != nil {
		return false, err
	}
	if len(plan.Actions) == 0 && plan.Lost == "" {
		return true, nil
	}
	if plan.Lost != "" {
		f.Out.Notice("  drop     %s of run %s, kept as %s", term.Counted(plan.Dropped, "operation"),
			term.OneLine(plan.Run), term.OneLine(plan.Lost))
	}
	for _, a := range plan.Actions {
		f.Out.Notice("  %s %s", term.Pad(a.Action, 8), term.OneLine(a.Path))
	}
	return f.Prompt.Confirm(ctx, "Do this?", "--yes", false)
}

func printPlan(p *term.Printer, plan *runner.RepairPlan) {
	for _, a := range plan.Actions {
		style := p.Green
		if a.Action != "create" && a.Action != "record" {
			style = p.Yellow
		}
		p.Printf("%s %s\n", style(term.Pad(a.Action, 8)), term.OneLine(a.Path))
		if a.Kept != "" {
			p.Printf("%s kept as %s\n", term.Pad("", 8), term.OneLine(a.Kept))
		}
	}
}
