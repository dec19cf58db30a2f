// multi step and multi run: assign turns, or ask for the gate that is ready.

package multi

import (
	"context"
	"errors"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func newMultiStepCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "step", Usage: "count accepted turns, then assign one turn or request the gate",
		Description: "Assigns the turn in its repository, with the hooks there. The sealed bundle describes what the sibling repositories have done. If no turn can be assigned and the phase is complete, requests the gate to the next phase.",
		Action: func(c *ucli.Context) error {
			return shared.WithWorkspace(f,
				func(co *coordinator.Coordinator) error { return runMultiStep(c.Context, f, co) })
		},
	}
}

func runMultiStep(ctx context.Context, f *term.Factory, co *coordinator.Coordinator) error {
	var out *coordinator.Stepped
	err := shared.TrustingWorkspace(ctx, f, co, func() (err error) {
		out, err = co.Step(ctx)
		return err
	})
	if err != nil {
		payload := ojson.NewObject()
		hookStop(payload, err, coordinator.HookBeforeAssignment)
		if out == nil {
			out = &coordinator.Stepped{}
		}
		if out.Resync != nil {
			payload.Set("resync", out.Resync.Object())
		}
		f.Out.Emit(payload, func(p *term.Printer) {
			printCounted(p, out.Resync)
			printBlockers(f, err)
		})
		return err
	}
	payload := out.Object()
	if out.Resync != nil {
		payload.Set("resync", out.Resync.Object())
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		printCounted(p, out.Resync)
		printStep(p, out)
	})
	return nil
}

// hookStop adds {blocked, hook_phase, reason} to the answer of a command that a hook has stopped
// (docs/commands.md).
func hookStop(o *ojson.Object, err error, phase string) {
	var e *wire.Error
	if errors.As(err, &e) && e.Details.String("hook_phase") == phase {
		o.Set("blocked", true)
		o.Set("hook_phase", phase)
		o.Set("reason", e.Message)
	}
}

// printBlockers prints what a gate waits for when no turn could be assigned.
func printBlockers(f *term.Factory, err error) {
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != coordinator.CodeNotAssignable {
		return
	}
	gate := e.Details.Object("gate")
	what := "Coordinator phase gate is not ready:"
	if gate.String("gate_type") == initiative.GateCompletion {
		what = "Coordinator completion gate is not ready:"
	}
	f.Out.Notice("%s", what)
	for _, b := range gate.Objects("blockers") {
		f.Out.Notice("  - [%s] %s", term.OneLine(b.String("code")), term.OneLine(b.String("message")))
		if b.String("code") == initiative.BlockRunMismatch {
			f.Out.Notice("      Repo: %s  Expected: %s  Actual: %s", term.OneLine(b.String("repo_id")),
				term.OneLine(b.String("expected_run_id")), term.OneLine(b.String("actual_run_id")))
		}
	}
}

// printCounted prints which acceptances and barriers a command has taken over.
func printCounted(p *term.Printer, r *initiative.Resynced) {
	if r == nil {
		return
	}
	for _, a := range r.Projected {
		p.Printf("Counted %s of %s for workstream %s.\n", term.OneLine(a.Acceptance.TurnID),
			term.OneLine(a.Acceptance.Repo), term.OneLine(a.Acceptance.Workstream))
		if a.Acceptance.Unproven {
			p.Println("  (Its working files say so: another tool has written them, and no recorded operation proves it.)")
		}
	}
	for _, b := range r.Barriers {
		p.Printf("Barrier %s: %s -> %s.\n", term.OneLine(b.Barrier), b.Previous, p.Bold(b.New))
	}
}

func printStep(p *term.Printer, s *coordinator.Stepped) {
	switch {
	case s.Given != nil:
		g := s.Given
		p.Printf("Dispatched turn to %s:\n\n", p.Bold(term.OneLine(g.Repo)))
		p.Field("Workstream", "%s", term.OneLine(g.Workstream))
		p.Field("Role", "%s", term.OneLine(g.Role))
		p.Field("Turn", "%s", term.OneLine(g.TurnID))
		p.Field("Bundle", "%s", term.OneLine(g.BundlePath))
		p.Field("Context", "%s", term.OneLine(g.ContextRef))
		for _, w := range g.Warnings {
			p.Printf("%s %s\n", p.Yellow("warning:"), term.OneLine(w))
		}
	case s.Gate != nil && s.Did == coordinator.DidCompletion:
		p.Printf("Completion gate requested: %s\n\n", p.Bold(term.OneLine(s.Gate.Gate)))
		printApprove(p, s)
	case s.Gate != nil:
		p.Printf("Phase gate requested: %s\n\n", p.Bold(term.OneLine(s.Gate.Gate)))
		if len(s.Gate.HumanBarriers) > 0 {
			p.Field("Approves", "%s", term.OneLine(strings.Join(s.Gate.HumanBarriers, ", ")))
		}
		printApprove(p, s)
	default:
		p.Println("Coordinator run is already completed.")
	}
}

func printApprove(p *term.Printer, s *coordinator.Stepped) {
	next := "git agentxchain multi approve-gate"
	if s.Signed {
		next += " --sign"
	}
	p.Field("Next", "%s", p.Bold(next))
}

func newMultiRunCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "run", Usage: "assign every turn that can be assigned now",
		Description: "Repeats multi step until the repositories are at work, a gate waits for a person, the initiative is complete, or something blocks it. A repository that refuses its turn is left out, and reported at the end. With --wait it continues as the repositories accept their turns.",
		Flags: []ucli.Flag{
			&ucli.DurationFlag{Name: "wait", Usage: "keep watching for up to `TIME`, such as 30m"},
			&ucli.DurationFlag{Name: "interval", Usage: "look again after `TIME`", Value: 2 * time.Second},
		},
		Action: func(c *ucli.Context) error {
			if c.Duration("wait") < 0 || c.Duration("interval") < 100*time.Millisecond {
				return term.UsageErrorf("--wait takes a time of at least 0s, --interval one of at least 100ms")
			}
			return shared.WithWorkspace(f, func(co *coordinator.Coordinator) error {
				return runMultiRun(c.Context, f, co, c.Duration("wait"), c.Duration("interval"))
			})
		},
	}
}

func runMultiRun(ctx context.Context, f *term.Factory, co *coordinator.Coordinator,
	wait, interval time.Duration) error {
	until := f.Now().Add(wait)
	steps := []*ojson.Object{}
	var refused []*ojson.Object
	var stopped *wire.Error
	var err error
	for {
		var out *coordinator.Ran
		err = shared.TrustingWorkspace(ctx, f, co, func() (err error) {
			out, err = co.Run(ctx, func(s *coordinator.Stepped) {
				steps = append(steps, s.Object())
				p := f.Out.Printer()
				printCounted(p, s.Resync)
				printStep(p, s)
				p.Println()
				_ = f.Out.Flush()
			})
			return err
		})
		stopped = nil
		if out != nil {
			stopped = out.Stopped
			printCounted(f.Out.Printer(), out.Counted)
			_ = f.Out.Flush()
			refused = nil
			for _, e := range out.Refused {
				refused = append(refused, ojson.NewObject("code", e.Code, "message", e.Message, "hint", e.Hint))
				if e != stopped {
					f.Out.Warn("%s", term.OneLine(e.Message))
					f.Out.Notice("hint: %s", term.OneLine(e.Hint))
				}
			}
		}
		if err != nil || stopped == nil || stopped.Code != coordinator.CodeNotAssignable || !f.Now().Before(until) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
	s, serr := co.Status(context.WithoutCancel(ctx))
	payload := ojson.NewObject("steps", steps)
	var why any
	if stopped != nil {
		why = ojson.NewObject("code", stopped.Code, "message", stopped.Message)
	}
	payload.Set("stopped", why)
	if len(refused) > 0 {
		payload.Set("refused", refused)
	}
	if serr == nil {
		payload.Set("status", string(s.State.Status))
		payload.Set("phase", s.State.Phase)
		actionObjects(payload, s.Next)
	}
	f.Out.Emit(payload, func(p *term.Printer) {
		if err != nil {
			printBlockers(f, err)
			return
		}
		if stopped != nil {
			p.Println(term.OneLine(stopped.Message))
		}
		if serr == nil {
			p.Field("Status", "%s", initiativeStatus(p, s.State.Status))
			if s.State.Status == initiative.StatusPaused {
				printActions(p, s.Next)
			}
		}
	})
	return err
}
