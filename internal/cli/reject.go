// reject and reissue: send a turn back, or give it to another role.

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

func newRejectCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "reject", Aliases: []string{"reject-turn"}, Category: shared.CategoryRun, ArgsUsage: "[TURN]",
		Usage: "send a turn back for another attempt",
		Description: "The refused result is kept below .agentxchain/dispatch/rejected, and the next attempt is " +
			"given the reason. When all attempts are used up, the run is blocked until a person decides.",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); the next attempt reads it"},
			&ucli.BoolFlag{
				Name:  "reassign",
				Usage: "for a turn in conflict: redo it on top of what was accepted meanwhile",
			},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			return runReject(c.Context, f, runner.RejectOptions{
				TurnID:   turn,
				Reason:   c.String("reason"),
				Reassign: c.Bool("reassign"),
			})
		}),
	}
}

func runReject(ctx context.Context, f *term.Factory, o runner.RejectOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	var out *runner.Rejected
	err = shared.Trusting(ctx, f, r, func() (err error) {
		out, err = r.RejectTurn(ctx, o)
		return err
	})
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	t := out.Result.Turn
	payload := shared.DonePayload(&out.Done, "turn", shared.TurnObject(t), "turn_id", t.TurnID,
		"escalated", out.Result.Escalated, "preserved", ojson.OrNull(out.Result.Preserved),
		"staging_path", wire.StagingPath(t.TurnID))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		if out.Result.Escalated {
			p.Printf("Turn %s of %s is rejected and its attempts are used up: the run is blocked.\n\n",
				p.Bold(t.TurnID), p.Bold(term.OneLine(t.AssignedRole)))
		} else {
			p.Printf("Turn %s of %s is rejected; attempt %d begins.\n\n", p.Bold(t.TurnID),
				p.Bold(term.OneLine(t.AssignedRole)), t.Attempt)
			printDispatched(p, t)
		}
		if out.Result.Preserved != "" {
			p.Field("Kept", "%s", term.OneLine(out.Result.Preserved))
		}
	})
	return nil
}

func newReissueCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "reissue", Aliases: []string{"reissue-turn"}, Category: shared.CategoryRun, ArgsUsage: "[TURN]",
		Usage: "give up a turn and give its work to a new one",
		Description: "Commits made during the old turn remain part of the work, and the new turn must declare " +
			"them. --take-commits shows them and takes them out of the work, for commits that a person made or " +
			"pulled. Only a person can decide that; it is refused inside a dispatched turn.",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			&ucli.StringFlag{Name: "role", Usage: "give it to this `ROLE` instead"},
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`)"},
			&ucli.BoolFlag{Name: "take-commits", Usage: "take the commits made during the turn out of the work"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "take the commits without asking"},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			o := runner.ReissueOptions{
				TurnID:      turn,
				Role:        c.String("role"),
				Reason:      c.String("reason"),
				TakeCommits: c.Bool("take-commits"),
			}
			return runReissue(c.Context, f, o, c.Bool("yes"))
		}),
	}
}

func runReissue(ctx context.Context, f *term.Factory, o runner.ReissueOptions, yes bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if o.TakeCommits {
		agreed, err := takeCommits(ctx, f, r, &o, yes)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was changed.")
			return nil
		}
	}
	var out *runner.Reissued
	err = shared.Trusting(ctx, f, r, func() (err error) {
		out, err = r.ReissueTurn(ctx, o)
		return err
	})
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	t := out.Result.Turn
	if out.Kept {
		f.Out.Notice("commits made since turn %s began stay part of the work; to take them out: git agentxchain reissue %s --take-commits",
			term.OneLine(out.Result.OldTurn), term.OneLine(t.TurnID))
	}
	payload := shared.DonePayload(&out.Done, "turn", shared.TurnObject(t), "turn_id", t.TurnID,
		"old_turn_id", out.Result.OldTurn, "baseline_delta", out.Result.Delta,
		"staging_path", wire.StagingPath(t.TurnID))
	shared.EmitDone(ctx, f, r, &out.Done, payload, func(p *term.Printer) {
		p.Printf("Turn %s replaces %s, for %s.\n\n", p.Bold(t.TurnID), term.OneLine(out.Result.OldTurn),
			p.Bold(term.OneLine(t.AssignedRole)))
		printDispatched(p, t)
	})
	return nil
}

// takeCommits shows the commits made during a turn and asks whether to take them out of it.
func takeCommits(ctx context.Context, f *term.Factory, r *runner.Runner, o *runner.ReissueOptions,
	yes bool) (agreed bool, err error) {
	look, err := r.TurnCommits(ctx, o.TurnID)
	if err != nil {
		return false, err
	}
	o.Head = look.Head
	if len(look.Commits) == 0 {
		return true, nil
	}
	f.Out.Notice("commits made since turn %s began:", term.OneLine(look.Turn.TurnID))
	for _, c := range look.Commits {
		f.Out.Notice("  %s  %s  %s", c.OID.Short(), term.OneLine(c.Author), term.OneLine(c.Subject))
		for _, name := range c.Files {
			f.Out.Notice("      %s", term.OneLine(name))
		}
	}
	if yes {
		return true, nil
	}
	return f.Prompt.Confirm(ctx, "Take them out of the turn?", "--yes", false)
}
