// step: one turn through its runtime, judged once.

package cli

import (
	"context"
	"fmt"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/manual"
)

type stepOptions struct {
	Role, Turn   string
	Wait         bool
	Poll         time.Duration
	Timeout      time.Duration
	NoCheckpoint bool
	NewRun       bool
	DryRun       bool
}

func newStepCommand(f *Factory) *ucli.Command {
	return &ucli.Command{
		Name: "step", Category: categoryRun, ArgsUsage: "[TURN]",
		Usage:       "carry out one turn: assign, dispatch, accept or send back",
		Description: "Goes on with the active turn, or gives the next role one. The turn of a manual role is shown; with --wait the command waits for its result. A result that is refused is sent back: step again dispatches the next attempt.",
		Flags: []ucli.Flag{
			turnFlag(),
			&ucli.StringFlag{Name: "role", Usage: "give `ROLE` a new turn"},
			&ucli.BoolFlag{Name: "wait", Usage: "wait until the result of a manual turn is staged"},
			&ucli.StringFlag{Name: "poll", Usage: "with --wait: look every `TIME` (2s)"},
			&ucli.StringFlag{Name: "timeout", Usage: "`TIME` for the dispatch, such as 20m, besides the limits of agentxchain.json"},
			&ucli.BoolFlag{Name: "no-checkpoint", Usage: "do not commit the files of the accepted turn"},
			&ucli.BoolFlag{Name: "new-run", Usage: "start another run when the last one is finished"},
			&ucli.BoolFlag{Name: "dry-run", Usage: "only say what would be done, by whom and with what"},
			&ucli.BoolFlag{Name: "resume", Hidden: true}, // what the reference wants to hear; an active turn is always gone on with
		},
		Action: func(c *ucli.Context) error {
			turn, err := one(c, "turn", "turn")
			if err != nil {
				return err
			}
			o := &stepOptions{Role: c.String("role"), Turn: turn, Wait: c.Bool("wait"), NoCheckpoint: c.Bool("no-checkpoint"), NewRun: c.Bool("new-run"), DryRun: c.Bool("dry-run")}
			if o.Role != "" && o.Turn != "" {
				return usageErrorf("a TURN is gone on with, --role starts a new one; give one of them")
			}
			if o.Poll, err = seconds("poll", c.String("poll")); err != nil {
				return err
			}
			if o.Timeout, err = seconds("timeout", c.String("timeout")); err != nil {
				return err
			}
			return runStep(c.Context, f, o)
		},
	}
}

func runStep(ctx context.Context, f *Factory, o *stepOptions) error {
	r, err := f.openRunner(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if o.DryRun {
		return runPlan(ctx, f, r, &planOptions{Role: o.Role, Turn: o.Turn, MaxTurns: 1, NewRun: o.NewRun})
	}
	d := f.newDrive(r)
	if err := d.watchdog(ctx); err != nil {
		return err
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	f.notices(v.Notices)
	if err := steppable(v.State); err != nil {
		return err
	}
	turn, err := o.target(v)
	if err != nil {
		return err
	}
	if turn != nil && !o.Wait && isManual(v.Config, turn.RuntimeID) {
		if st, err := r.LookStaged(turn.TurnID); err == nil && st.Data == nil {
			return showManual(ctx, f, r, v, turn, true)
		}
	}
	opt := loop.Options{Once: true, NoCheckpoint: o.NoCheckpoint, DispatchLimit: o.Timeout, NewRun: o.NewRun, SelectRole: firstRole(o.Role)}
	if turn != nil {
		opt.Turn = turn.TurnID
	}
	agents := driver.New(r, driver.Options{New: builtin.New, Getenv: f.Env.Getenv, Now: f.Env.Now, Sole: true})
	asked := (*protocol.Turn)(nil)
	opt.Dispatch = func(ctx context.Context, job *loop.Dispatch) *runtimes.Outcome {
		out := dispatchWith(agents)(ctx, job)
		if out.Kind != runtimes.Pending {
			return out
		}
		asked = job.Turn
		if !o.Wait {
			return out
		}
		d.view.line(fmt.Sprintf("Turn %s is for a person; waiting for its result at %s", job.Turn.TurnID, job.StagingPath))
		out = manual.Wait(ctx, job.Root, job.Turn.TurnID, o.Poll, o.Timeout)
		if out.Kind == runtimes.TimedOut {
			// The person has not answered; nothing about the turn has changed.
			return &runtimes.Outcome{Kind: runtimes.Pending}
		}
		return out
	}
	res, err := d.loop(ctx, opt, func(c *protocol.Config) []string { return []string{stepRuntime(v.State, c, turn, o.Role)} })
	if res == nil {
		return err
	}
	if asked != nil && res.Cause == loop.CauseAwaitingPerson {
		if v, err := r.View(ctx); err == nil {
			if t, ok := v.State.ActiveTurns.Get(asked.TurnID); ok {
				return showManual(ctx, f, r, v, t, false)
			}
		}
	}
	return d.finish(ctx, res)
}

// steppable refuses a run that no turn can be carried out in, with what to do.
func steppable(s *protocol.State) error {
	switch {
	case s.PendingPhaseTransition != nil || s.PendingRunCompletion != nil:
		return &protocol.Error{Code: protocol.CodeAwaitingApproval, Field: "status", Message: "The run waits for a person's approval of a gate.", Hint: "git agentxchain approve"}
	case s.Status == protocol.StatusBlocked && s.Run() != "":
		return outcome(context.Background(), &loop.Result{StopReason: loop.Blocked, State: s})
	}
	return nil
}

// target is the active turn to go on with, nil for a new one.
func (o *stepOptions) target(v *runner.View) (*protocol.Turn, error) {
	switch {
	case o.Turn != "":
		return activeTurn(v, o.Turn)
	case o.Role != "" || v.State.ActiveTurns.Len() == 0:
		return nil, nil
	}
	turn, refusal := protocol.ResolveTurn(v.State, "", "step")
	if refusal != nil {
		return nil, refusal
	}
	return turn, nil
}

// stepRuntime is the runtime that would carry the turn out.
func stepRuntime(s *protocol.State, c *protocol.Config, turn *protocol.Turn, role string) string {
	if turn != nil {
		return turn.RuntimeID
	}
	id, _, err := protocol.ResolveRole(c, s, role)
	if err != nil {
		return ""
	}
	if r := c.Role(id); r != nil {
		return r.RuntimeID
	}
	return ""
}

func isManual(c *protocol.Config, id string) bool {
	rt, ok := c.Runtimes.Get(id)
	return id == protocol.RuntimeManual && !ok || ok && rt != nil && rt.Type == protocol.RuntimeManual
}

// showManual tells the person what their turn asks of them.
func showManual(ctx context.Context, f *Factory, r *runner.Runner, v *runner.View, t *protocol.Turn, already bool) error {
	doc, err := r.Template(ctx, t.TurnID)
	if err != nil {
		return err
	}
	n := &protocol.NextAction{Command: "git agentxchain accept " + t.TurnID, Reason: "once the result is staged at " + protocol.StagingPath(t.TurnID)}
	payload := turnObject(t)
	payload.Set("stop_reason", string(loop.CallerStopped))
	payload.Set("cause", loop.CauseAwaitingPerson)
	payload.Set("assigned_now", !already)
	payload.Set("result_template", doc)
	payload.Set("run_id", nilIfEmpty(v.State.Run()))
	payload.Set("next_action", nextObject(n))
	f.Out.Emit(payload, func(p *Printer) {
		p.Printf("Turn %s of %s is for a person.\n\n", p.Bold(t.TurnID), p.Bold(OneLine(t.AssignedRole)))
		printDispatched(p, f, t)
		p.Field("Skeleton", "%s", "git agentxchain turn show --template "+t.TurnID)
		printNext(p, n)
	})
	return nil
}
