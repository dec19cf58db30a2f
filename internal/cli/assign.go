// assign: give a role its next turn.

package cli

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

type assignOptions struct {
	Role     string
	NewRun   bool
	NoIntent bool
}

func newAssignCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "assign", Aliases: []string{"resume"}, Category: shared.CategoryRun, ArgsUsage: "[ROLE]",
		Usage: "give a role its next turn; start a run if there is none",
		Description: "Without ROLE, the next role follows from delegations, the last turn's proposal and the " +
			"phase. If a gate waits for a person, naming a role of the phase withdraws the request, and work in " +
			"the phase continues. The instructions are in the turn's dispatch bundle. Write the result to the " +
			"staging path that assign prints.",
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "role", Usage: "the `ROLE` (same as the argument)"},
			&ucli.BoolFlag{
				Name:  "no-intent",
				Usage: "give the turn no waiting intent (see git agentxchain intake list)",
			},
			&ucli.BoolFlag{Name: "new-run", Usage: "start another run if the last one is over"},
		},
		Action: shared.OnOne("role", "role", func(c *ucli.Context, role string) error {
			return runAssign(c.Context, f, &assignOptions{
				Role:     role,
				NewRun:   c.Bool("new-run"),
				NoIntent: c.Bool("no-intent"),
			})
		}),
	}
}

func runAssign(ctx context.Context, f *term.Factory, o *assignOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	var a *runner.Assigned
	err = shared.Trusting(ctx, f, r, func() (err error) {
		a, err = r.AssignTurn(ctx, runner.AssignOptions{
			Role:     o.Role,
			NewRun:   o.NewRun,
			NoIntent: o.NoIntent,
			Leave:    true,
		})
		return err
	})
	if a != nil {
		shared.TellNotices(f, a.Notices)
	}
	if err != nil {
		return err
	}
	shared.PrintWarnings(f, a.Warnings)
	payload := shared.DonePayload(&a.Done, "started_run", a.Started, "turn", shared.TurnObject(a.Turn),
		"turn_id", a.Turn.TurnID, "role", a.Turn.AssignedRole, "staging_path", wire.StagingPath(a.Turn.TurnID),
		"bundle_path", wire.BundleDir(a.Turn.TurnID), "warnings", wire.NonNil(a.Warnings),
		"result_template", a.Template)
	n, auto := &protocol.NextAction{
		Command: "git agentxchain accept " + a.Turn.TurnID,
		Reason:  "once the result is staged at " + wire.StagingPath(a.Turn.TurnID),
	}, false
	if by := r.Next(ctx); by != nil && by.Command == "git agentxchain step "+a.Turn.TurnID {
		n, auto = by, true
	}
	payload.Set("left_gate", ojson.OrNull(a.Left))
	payload.Set("next_action", shared.NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		if a.Started {
			p.Printf("Run %s has started.\n", p.Bold(a.Run))
		}
		if a.Left != "" {
			p.Printf("Gate %s waits no more: its request is taken back.\n", p.Bold(term.OneLine(a.Left)))
		}
		p.Printf("Turn %s is assigned to %s.\n\n", p.Bold(a.Turn.TurnID), p.Bold(term.OneLine(a.Turn.AssignedRole)))
		printDispatched(p, a.Turn)
		if auto {
			shared.PrintNext(p, n)
			return
		}
		which := ""
		if len(a.Turn.ConcurrentWith) > 0 {
			which = " " + a.Turn.TurnID
		}
		p.Field("Next", "do the work, write the result with %s, then: %s", p.Bold("git agentxchain turn edit"+which),
			p.Bold("git agentxchain accept"+which))
	})
	return nil
}

// printDispatched tells the actor of a turn what to read and where to write.
func printDispatched(p *term.Printer, t *run.Turn) {
	p.Field("Instructions", "%s/PROMPT.md", wire.BundleDir(t.TurnID))
	p.Field("Result to", "%s", wire.StagingPath(t.TurnID))
	if at, err := wire.ParseTime(t.DeadlineAt); err == nil {
		p.Field("Deadline", "%s", p.Ago(at))
	}
}
