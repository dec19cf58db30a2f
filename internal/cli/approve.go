// approve: a person passes the pending gate.

package cli

import (
	"context"
	"errors"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// newApproveCommand makes approve and its two names from the reference, each of which insists on
// its kind of approval.
func newApproveCommand(f *term.Factory, name string, completion *bool) *ucli.Command {
	usage := "approve or deny the gate that waits for a person"
	switch {
	case completion == nil:
	case *completion:
		usage = "pass the completion gate that waits for a person"
	default:
		usage = "pass the phase gate that waits for a person"
	}
	return &ucli.Command{
		Name: name, Category: shared.CategoryRun, Usage: usage, Hidden: completion != nil,
		Description: "At a terminal, approve shows what you decide on and asks: yes, no, the changes of the " +
			"documents, the open objections, or quit, which exits with status 1 and leaves the gate waiting. " +
			"Without a terminal, or with --yes, it approves without asking. The gate is first evaluated again on " +
			"the current files. The record says who approved, and whether there was a terminal.\n\n" +
			"--deny refuses the gate: work in the phase continues, and the next turn is given the reason. " +
			"--withdraw takes the last approval back, unless a turn has been accepted since; the run then waits at " +
			"the gate again. While a gate waits for more people, it takes back your own yes. Inside a dispatched " +
			"turn only --show is allowed.",
		Flags: append([]ucli.Flag{
			&ucli.BoolFlag{Name: "dry-run", Usage: "only say what would happen"},
			&ucli.BoolFlag{Name: "allow-actions", Usage: "run the gate's actions (commands in agentxchain.json)"},
			&ucli.BoolFlag{Name: "show", Usage: "only show the question"},
			&ucli.BoolFlag{Name: "deny", Usage: "refuse the gate; needs --reason"},
			&ucli.BoolFlag{Name: "withdraw", Usage: "take the last approval back, until the next turn is accepted"},
			&ucli.StringFlag{Name: "reason", Usage: "why (`TEXT`); it is recorded"},
			&ucli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		}, shared.ConsentFlags()...),
		Action: func(c *ucli.Context) error {
			switch {
			case c.Bool("show"):
				if err := onlyShows(c, "deny", "withdraw", "dry-run", "allow-actions"); err != nil {
					return err
				}
				return runApproveShow(c.Context, f)
			case c.Bool("deny"):
				if err := alone(c, "deny", "withdraw", "dry-run", "allow-actions", "sign", "statement", "expires",
					"to"); err != nil {
					return err
				}
				return runDeny(c.Context, f, c.String("reason"))
			case c.Bool("withdraw"):
				if err := alone(c, "withdraw", "dry-run", "allow-actions", "sign", "statement", "expires",
					"to"); err != nil {
					return err
				}
				return runWithdraw(c.Context, f, c.String("reason"))
			}
			consent, err := shared.ConsentOptions(c, f)
			if err != nil {
				return err
			}
			if c.IsSet("to") && (c.Bool("dry-run") || c.Bool("allow-actions")) {
				return shared.ToIsAlone()
			}
			return shared.SignedTo(c, f, runApprove(c.Context, f, runner.ApproveOptions{
				Completion:   completion,
				DryRun:       c.Bool("dry-run"),
				AllowActions: c.Bool("allow-actions"),
				Reason:       c.String("reason"),
				Consent:      consent,
			}, c.Bool("yes")))
		},
	}
}

// alone refuses flags that mean nothing together with the named one.
func alone(c *ucli.Context, flag string, others ...string) error {
	for _, name := range others {
		if c.IsSet(name) {
			return term.UsageErrorf("--%s and --%s cannot be used together", flag, name)
		}
	}
	return nil
}

// onlyShows refuses flags that decide something together with --show: those of every consent, and more of the
// command's own.
func onlyShows(c *ucli.Context, more ...string) error {
	if !c.Bool("show") {
		return nil
	}
	return alone(c, "show", append(more, "yes", "sign", "statement", "expires", "to")...)
}

func runApprove(ctx context.Context, f *term.Factory, o runner.ApproveOptions, yes bool) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	decides := !o.DryRun && !o.Consent.Only && r.InsideTurn() == ""
	if decides {
		// Corrected documents make a failed gate wait now.
		if v, verr := r.View(ctx); verr == nil && r.GateMended(v) {
			if _, err := r.RetryGate(ctx); err != nil {
				return shared.Listed(f, err)
			}
		}
	}
	if decides && !yes && f.Interactive() {
		// Without a waiting gate, the refusal below says it better.
		if g, gerr := r.PendingGate(ctx); gerr == nil && g.Fits(o.Completion) {
			said, reason, err := askPending(ctx, f, g, o.Reason)
			switch {
			case err != nil:
				return err
			case said == answerNo:
				return denyWith(ctx, f, r, reason)
			case said == answerQuit:
				f.Out.Notice("Nothing was decided; the gate waits.")
				return term.ErrFindings()
			}
			o.Shown = g
		}
	}
	out, err := approve(ctx, f, r, o)
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code == runner.CodeActionsNotAllowed && !yes && f.Interactive() {
		// The person is there: show the commands and ask, instead of demanding a flag.
		f.Out.Notice("Gate %s runs these commands:", term.OneLine(out.Result.Gate))
		for _, a := range out.Actions {
			f.Out.Notice("  %s", term.OneLine(a.Run))
		}
		agreed, perr := f.Prompt.Confirm(ctx, "Run them?", "--allow-actions", false)
		if perr != nil {
			return perr
		}
		if agreed {
			o.AllowActions = true
			out, err = approve(ctx, f, r, o)
		}
	}
	shared.TellNotices(f, out.Notices)
	if err != nil {
		return shared.Listed(f, err)
	}
	payload := shared.DonePayload(&out.Done, "dry_run", out.DryRun, "gate_type", out.Result.GateType,
		"gate_id", out.Result.Gate, "from", ojson.OrNull(out.Result.From), "to", ojson.OrNull(out.Result.To),
		"gate_actions", actionRows(out.Actions), "passed", out.Result.Passed, "votes", run.VoteRows(out.Result.Votes),
		"votes_needed", out.Result.Needed, "votes_dropped", run.VoteRows(out.Result.Dropped),
		"signed_documents", wire.NonNil(out.Signed), "sign_off_commit", ojson.OrNull(out.Commit))
	n := r.Next(ctx)
	payload.Set("next_action", shared.NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		printApproved(p, out)
		shared.PrintNext(p, n)
	})
	return nil
}

// approve gives the yes, and asks for trust where agentxchain.json would run what is not trusted yet.
func approve(
	ctx context.Context, f *term.Factory, r *runner.Runner, o runner.ApproveOptions,
) (out *runner.Approved, err error) {
	err = shared.Trusting(ctx, f, r, func() (err error) {
		out, err = r.Approve(ctx, o)
		return err
	})
	return out, err
}

// printApproved prints the outcome of the approval.
func printApproved(p *term.Printer, out *runner.Approved) {
	passed := out.Result.Passed || out.DryRun
	verb := "is approved"
	if out.DryRun {
		verb = "would be approved"
	}
	p.Printf("Gate %s %s", p.Bold(term.OneLine(out.Result.Gate)), verb)
	if !passed {
		n := len(out.Result.Votes)
		p.Printf(" by %d of %d: it waits for %d more.\n\n", n, out.Result.Needed, out.Result.Needed-n)
	} else if out.Result.To != "" {
		p.Printf(": %s -> %s.\n\n", term.OneLine(out.Result.From), p.Bold(term.OneLine(out.Result.To)))
	} else {
		p.Printf(": the run completes.\n\n")
	}
	for _, a := range out.Actions {
		if passed {
			p.Field("Action", "%s", term.OneLine(a.Run))
		}
	}
	for _, v := range out.Result.Votes {
		p.Field("Approved by", "%s", term.OneLine(shared.VoteText(v)))
	}
	shared.PrintDropped(p, out.Result.Dropped)
	if t := out.Transition; t != nil && out.Result.To == "" && len(t.Index.BlockingObjections()) > 0 {
		ids := t.Index.BlockingObjections()
		p.Field("Objections", "%s", p.Yellow("blocking and open: "+term.OneLine(term.JoinComma(ids))))
	}
	for _, path := range out.Signed {
		p.Field("Signed", "%s", term.OneLine(path))
	}
	shared.PrintWhere(p, &out.Done)
}
