// step: one turn through its runtime, judged once.

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
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

func newStepCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "step", Category: shared.CategoryRun, ArgsUsage: "[TURN]",
		Usage: "carry out one turn: assign, dispatch, accept or send back",
		Description: "Resumes the active turn, or gives the next role a turn. For a manual role it shows the turn, " +
			"and with --wait waits for the result. A refused result is sent back; run step again for the next " +
			"attempt.",
		Flags: []ucli.Flag{
			shared.TurnFlag(),
			&ucli.StringFlag{Name: "role", Usage: "give `ROLE` a new turn"},
			&ucli.BoolFlag{Name: "wait", Usage: "wait until the result of a manual turn is staged"},
			&ucli.StringFlag{Name: "poll", Usage: "with --wait: check every `TIME` (2s)"},
			&ucli.StringFlag{
				Name:  "timeout",
				Usage: "`TIME` for the dispatch, such as 20m, in addition to the limits in agentxchain.json",
			},
			&ucli.BoolFlag{Name: "no-checkpoint", Usage: "do not commit the files of the accepted turn"},
			&ucli.BoolFlag{Name: "new-run", Usage: "start another run if the last one is over"},
			&ucli.BoolFlag{Name: "dry-run", Usage: "only say what would be done, by which role and runtime"},
			// accepted for the reference's sake; an active turn is always continued
			&ucli.BoolFlag{Name: "resume", Hidden: true},
		},
		Action: shared.OnTurn(func(c *ucli.Context, turn string) error {
			var err error
			o := &stepOptions{
				Role:         c.String("role"),
				Turn:         turn,
				Wait:         c.Bool("wait"),
				NoCheckpoint: c.Bool("no-checkpoint"),
				NewRun:       c.Bool("new-run"),
				DryRun:       c.Bool("dry-run"),
			}
			if o.Role != "" && o.Turn != "" {
				return term.UsageErrorf("TURN resumes a turn, --role starts one; give one of them")
			}
			if o.Poll, err = term.Seconds("poll", c.String("poll")); err != nil {
				return err
			}
			if o.Timeout, err = term.Seconds("timeout", c.String("timeout")); err != nil {
				return err
			}
			return runStep(c.Context, f, o)
		}),
	}
}

func runStep(ctx context.Context, f *term.Factory, o *stepOptions) error {
	r, err := shared.Open(ctx, f)
	if err != nil {
		return err
	}
	if o.NewRun {
		r = r.Afresh()
	}
	if o.DryRun {
		return runPlan(ctx, f, r, &planOptions{Role: o.Role, Turn: o.Turn, MaxTurns: 1, NewRun: o.NewRun})
	}
	d := newDrive(f, r)
	d.once = true
	v, err := d.ready(ctx, "git agentxchain step", o.Role)
	if err != nil {
		return err
	}
	if err := steppable(v.State); err != nil {
		return err
	}
	turn, err := o.target(v)
	if err != nil {
		return err
	}
	opt := loop.Options{
		Once:          true,
		NoCheckpoint:  o.NoCheckpoint,
		DispatchLimit: o.Timeout,
		NewRun:        o.NewRun,
		FirstRole:     o.Role,
	}
	for already := true; ; already = false {
		if turn != nil && isManual(v.Config, turn.RuntimeID) {
			if err := r.Unleased(ctx, v, turn); err != nil {
				return err // a runner is carrying it out
			}
			if there, err := o.awaitPerson(ctx, d, turn); err != nil {
				return err
			} else if !there {
				return showManual(ctx, f, r, v, turn, already)
			}
		}
		if turn != nil {
			opt.Turn = turn.TurnID
		}
		res, err := d.loop(ctx, opt, func(c *config.Config) []string {
			return []string{stepRuntime(v.State, c, turn, o.Role)}
		})
		if res == nil {
			return err
		}
		if turn != nil || res.Cause != loop.CauseAwaitingPerson {
			return d.finish(ctx, res)
		}
		// The new turn is a person's.
		if v, err = r.View(ctx); err != nil {
			return err
		}
		if turn, _ = v.State.ActiveTurns.Get(d.last); turn == nil {
			return d.finish(ctx, res)
		}
	}
}

// awaitPerson reports whether the result of a person's turn is there, after waiting for it on
// request. The length of the wait says nothing about the turn.
func (o *stepOptions) awaitPerson(ctx context.Context, d *drive, turn *run.Turn) (bool, error) {
	if st, err := d.r.LookStaged(turn.TurnID); err != nil || st.Data != nil {
		return true, nil // acceptance reports anything that is wrong with it
	}
	if !o.Wait {
		return false, nil
	}
	d.view.line(fmt.Sprintf("Turn %s is for a person; waiting for its result at %s", turn.TurnID,
		wire.StagingPath(turn.TurnID)))
	out := manual.Wait(ctx, d.r.Record().Dir(), turn.TurnID, o.Poll, o.Timeout)
	if out.Kind == runtimes.Aborted {
		return false, context.Cause(ctx)
	}
	return out.Kind == runtimes.Staged, nil
}

// sentBack returns the refusal of the turn that was judged, nil when it was accepted: a caller who
// asked for one turn wants its outcome.
func sentBack(res *loop.Result) error {
	if len(res.TurnHistory) == 0 || res.TurnHistory[len(res.TurnHistory)-1].Accepted {
		return nil
	}
	last := res.TurnHistory[len(res.TurnHistory)-1]
	return &wire.Error{
		Code:  last.ErrorCode,
		Field: "turn_id",
		Hint:  "git agentxchain step " + last.TurnID,
		Message: "Turn " + last.TurnID + " was sent back: " + strings.TrimSuffix(term.OneLine(last.AcceptError), ".") +
			".",
	}
}

// steppable refuses a run in which no turn can be carried out, with what to do.
func steppable(s *run.State) error {
	switch {
	case run.HasPending(s):
		return &wire.Error{
			Code:    wire.CodeAwaitingApproval,
			Field:   "status",
			Message: "The run waits for a person's approval of a gate.",
			Hint:    "git agentxchain approve",
		}
	case s.Status == wire.StatusBlocked && s.Run() != "":
		return outcome(context.Background(), &loop.Result{StopReason: loop.Blocked, State: s})
	}
	return nil
}

// target returns the active turn to continue, nil for a new one.
func (o *stepOptions) target(v *runner.View) (*run.Turn, error) {
	switch {
	case o.Turn != "":
		return shared.ActiveTurn(v, o.Turn, "step")
	case o.Role != "" || v.State.ActiveTurns.Len() == 0:
		return nil, nil
	}
	turn, refusal := run.ResolveTurn(v.State, "", "step")
	if refusal != nil {
		return nil, refusal
	}
	return turn, nil
}

// stepRuntime returns the runtime that would carry out the turn.
func stepRuntime(s *run.State, c *config.Config, turn *run.Turn, role string) string {
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

func isManual(c *config.Config, id string) bool {
	rt, ok := c.Runtimes.Get(id)
	return id == config.RuntimeManual && !ok || ok && rt != nil && rt.Type == config.RuntimeManual
}

// showManual prints what their turn asks of a person.
func showManual(ctx context.Context, f *term.Factory, r *runner.Runner, v *runner.View, t *run.Turn,
	already bool) error {
	doc, err := r.Template(ctx, t.TurnID)
	if err != nil {
		return err
	}
	n := &protocol.NextAction{
		Command: "git agentxchain accept " + t.TurnID,
		Reason:  "once the result is staged at " + wire.StagingPath(t.TurnID),
	}
	payload := shared.TurnObject(t)
	payload.Set("stop_reason", string(loop.CallerStopped))
	payload.Set("cause", loop.CauseAwaitingPerson)
	payload.Set("assigned_now", !already)
	payload.Set("result_template", doc)
	payload.Set("run_id", ojson.OrNull(v.State.Run()))
	payload.Set("next_action", shared.NextObject(n))
	f.Out.Emit(payload, func(p *term.Printer) {
		p.Printf("Turn %s of %s is for a person.\n\n", p.Bold(t.TurnID), p.Bold(term.OneLine(t.AssignedRole)))
		printDispatched(p, t)
		p.Field("Skeleton", "%s", "git agentxchain turn show --template "+t.TurnID)
		shared.PrintNext(p, n)
	})
	return nil
}
