// reconcile: make a person's commits part of what the run starts from.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func newReconcileCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "reconcile", Aliases: []string{"reconcile-state"}, Category: shared.CategoryRun,
		Usage: "take a person's commits during a turn out of the turn",
		Description: "--show lists the commits since the turn began, and what they change. Without --show the " +
			"commits become part of what the run and its turns started from, so that accept judges only the turn's " +
			"own changes. What is staged stays staged. Commits that change the record or a protected path are " +
			"refused, and so is a rewritten history. If authority.acts names people for this, only they may do it.",
		Flags: append([]ucli.Flag{
			&ucli.BoolFlag{Name: "show", Usage: "list the commits and change nothing"},
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); it is recorded"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "take the commits without asking"},
		}, shared.ConsentFlags()...),
		Action: func(c *ucli.Context) error {
			if err := onlyShows(c); err != nil {
				return err
			}
			consent, err := shared.ConsentOptions(c, f)
			if err != nil {
				return err
			}
			return shared.SignedTo(c, f, runReconcile(c.Context, f,
				runner.ReconcileOptions{Reason: c.String("reason"), Consent: consent}, c.Bool("show"), c.Bool("yes")))
		},
	}
}

func runReconcile(ctx context.Context, f *term.Factory, o runner.ReconcileOptions, show, yes bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	look, err := r.Unreconciled(ctx)
	if err != nil {
		return err
	}
	payload := ojson.NewObject("previous_baseline", ojson.OrNull(string(look.Baseline)),
		"accepted_head", ojson.OrNull(string(look.Head)),
		"turn_ids", wire.NonNil(look.Turns), "commits", commitRows(look.Commits))
	if show {
		payload.Set("safe", look.Unsafe == nil)
		f.Out.Emit(payload, func(p *term.Printer) { printUnreconciled(p, look) })
		return look.Unsafe
	}
	if len(look.Commits) == 0 {
		return commits.NothingToReconcile()
	}
	if f.Interactive() && !yes {
		f.Out.Notice("commits made since %s:", look.Baseline.Short())
		for _, c := range look.Commits {
			f.Out.Notice("  %.12s  %s  %s", c.Commit, term.OneLine(c.Author), term.OneLine(c.Subject))
			for _, name := range c.Files {
				f.Out.Notice("      %s", term.OneLine(name))
			}
		}
		agreed, err := f.Prompt.Confirm(ctx, "Take them into the baseline?", "--yes", false)
		if err != nil {
			return err
		}
		if !agreed {
			f.Out.Notice("Nothing was changed.")
			return nil
		}
	}
	o.Head = look.Head
	out, err := r.Reconcile(ctx, o)
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return err
	}
	done := shared.DonePayload(&out.Done)
	for _, k := range payload.Keys() {
		done.Set(k, payload.Value(k))
	}
	shared.EmitDone(ctx, f, r, &out.Done, done, func(p *term.Printer) {
		p.Printf("%s taken into the baseline; the run stands at %s.\n\n",
			term.Counted(len(out.Result.Commits), "commit"), p.Bold(look.Head.Short()))
		for _, id := range out.Result.Turns {
			p.Field("Turn", "%s answers for its own changes only", term.OneLine(id))
		}
	})
	return nil
}

func commitRows(list []commits.TakenCommit) []*ojson.Object {
	return ojson.List(list, func(c commits.TakenCommit) *ojson.Object {
		return ojson.NewObject("sha", c.Commit, "author", c.Author, "subject", c.Subject,
			"paths_touched", wire.NonNil(c.Files))
	})
}

func printUnreconciled(p *term.Printer, look *runner.Unreconciled) {
	if len(look.Commits) == 0 {
		p.Println("No commit was made since the run's baseline.")
		return
	}
	p.Printf("%s since %s:\n", term.Counted(len(look.Commits), "commit"), p.Bold(look.Baseline.Short()))
	for _, c := range look.Commits {
		p.Printf("\n%.12s  %s  %s\n", c.Commit, term.OneLine(c.Author), term.OneLine(c.Subject))
		for _, name := range c.Files {
			p.Printf("    %s\n", term.OneLine(name))
		}
	}
	if look.Unsafe == nil {
		p.Printf("\nTake them in: git agentxchain reconcile\n")
	}
}
