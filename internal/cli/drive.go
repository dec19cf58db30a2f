// What run and step share: the run loop over the built-in runtimes, told as it goes.

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
)

// drive is one use of the loop by a command.
type drive struct {
	f      *Factory
	r      *runner.Runner
	view   *liveView
	events []*ojson.Object
}

func (f *Factory) newDrive(r *runner.Runner) *drive { return &drive{f: f, r: r, view: newLiveView(f)} }

// loop drives the run with the runtimes agentxchain.json names, asking the person
// for trust when that is missing and they are there. The result is nil when the
// loop did not begin.
func (d *drive) loop(ctx context.Context, opt loop.Options, runtimesUsed func(*protocol.Config) []string) (res *loop.Result, err error) {
	agents := driver.New(d.r, driver.Options{New: builtin.New, Getenv: d.f.Env.Getenv, Now: d.f.Env.Now, Sole: true})
	if opt.Dispatch == nil {
		opt.Dispatch = dispatchWith(agents)
	}
	opt.OnEvent, opt.OnActivity = d.event, d.view.activity
	err = d.f.trusting(ctx, d.r, func() error {
		v, err := d.r.View(ctx)
		if err != nil {
			return err
		}
		if err := d.r.RuntimeTrusted(ctx, v.Config, runtimesUsed(v.Config)...); err != nil {
			return err
		}
		d.view.start()
		defer d.view.stop()
		res = loop.Run(ctx, d.r, opt)
		if runner.ErrorCode(res.Err) == runner.CodeHooksUntrusted {
			return res.Err
		}
		return nil
	})
	return res, err
}

// dispatchWith hands turns of the loop to a driver.
func dispatchWith(agents *driver.Driver) loop.DispatchFunc {
	return func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
		return agents.Dispatch(ctx, driver.Job{TurnID: d.Turn.TurnID, Deadline: d.Deadline, View: d.View, Activity: d.Activity})
	}
}

// event tells the person what happened, in one line of the scrollback.
func (d *drive) event(e loop.Event) {
	d.events = append(d.events, e.Object())
	p := d.f.Out.Printer()
	var b strings.Builder
	who := func(turn *protocol.Turn) string {
		s := p.Bold(OneLine(turn.AssignedRole)) + "  " + turn.TurnID
		if turn.Attempt > 1 {
			s += fmt.Sprintf(" (attempt %d)", turn.Attempt)
		}
		return s
	}
	switch e.Type {
	case loop.EventTurnAssigned:
		fmt.Fprintf(&b, "%s  assigned to %s", who(e.Turn), OneLine(e.Turn.RuntimeID))
		d.view.turn(e.Turn)
	case loop.EventTurnAccepted:
		fmt.Fprintf(&b, "%s  %s", who(e.Turn), p.Green("accepted"))
		if s := e.Entry.String("summary"); s != "" {
			b.WriteString(": " + OneLine(s))
		}
		if n := len(e.Entry.Strings("files_changed")); n > 0 {
			fmt.Fprintf(&b, " (%s)", count(n, "file"))
		}
		d.view.gone(e.Turn.TurnID)
	case loop.EventTurnRejected:
		fmt.Fprintf(&b, "%s  %s: %s", who(e.Turn), p.Yellow("sent back"), OneLine(e.Reason))
		d.view.turn(e.Turn)
	case loop.EventTurnConflicted:
		fmt.Fprintf(&b, "%s  %s: %s", who(e.Turn), p.Yellow("in conflict"), OneLine(joinComma(e.Conflict.Strings("conflicting_files"))))
	case loop.EventGateApproved:
		fmt.Fprintf(&b, "Gate approved; the run is in phase %s, %s", p.Bold(OneLine(e.State.Phase)), e.State.Status)
	case loop.EventGateHeld:
		fmt.Fprintf(&b, "%s", p.Yellow("A gate waits for a person."))
	case loop.EventPriorityInjected:
		fmt.Fprintf(&b, "Intent %s (%s) goes first.", OneLine(e.IntentID), OneLine(e.Priority))
	case loop.EventCompleted:
		fmt.Fprintf(&b, "%s", p.Green("The run is complete."))
	}
	if e.State != nil {
		d.view.run(e.State)
	}
	if b.Len() > 0 {
		d.view.line(b.String())
	}
}

// count is "1 file", "2 files".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// payload is what --json carries of a loop.
func (d *drive) payload(res *loop.Result, n *protocol.NextAction) *ojson.Object {
	o := res.Object()
	for _, key := range []string{"ok", "state"} {
		o.Delete(key)
	}
	o.Set("cause", nilIfEmpty(res.Cause))
	if s := res.State; s != nil {
		o.Set("run_id", nilIfEmpty(s.Run()))
		o.Set("status", string(s.Status))
		o.Set("phase", s.Phase)
		o.Set("spent_usd", s.BudgetStatus.SpentUSD)
		o.Set("blocked_on", s.BlockedOn)
	}
	o.Set("events", d.events)
	o.Set("next_action", nextObject(n))
	return o
}

// outcome is the error a command ends with after a loop: nil for every end that
// was to be expected (spec/06 §12).
func outcome(ctx context.Context, res *loop.Result) error {
	switch {
	case ctx.Err() != nil && res.StopReason == loop.CallerStopped:
		return context.Cause(ctx)
	case res.StopReason == loop.Completed, res.StopReason == loop.GateHeld, res.StopReason == loop.MaxTurnsReached, res.StopReason == loop.CallerStopped && res.Err == nil:
		return nil
	case res.State != nil && res.State.Status == protocol.StatusBlocked:
		e := &protocol.Error{Code: protocol.CodeRunBlocked, Field: "blocked_on", Message: "The run is blocked.", Hint: "git agentxchain status"}
		if res.State.BlockedOn != nil {
			e.Message = "The run is blocked on " + *res.State.BlockedOn + "."
		}
		if r := res.State.BlockedReason; r != nil {
			if r.Recovery.Detail != nil && *r.Recovery.Detail != "" {
				e.Message = strings.TrimSuffix(e.Message, ".") + ": " + strings.TrimSuffix(*r.Recovery.Detail, ".") + "."
			}
			if r.Recovery.RecoveryAction != "" {
				e.Hint = r.Recovery.RecoveryAction
			}
		}
		return e
	case res.Err != nil:
		return res.Err
	case len(res.Errors) > 0:
		return errorf("failed", "%s", strings.Join(res.Errors, "; ")).withHint("git agentxchain status")
	}
	return errorf("failed", "the run loop ended: %s", res.StopReason).withHint("git agentxchain status")
}

// finish prints how a loop ended and returns the command's error.
func (d *drive) finish(ctx context.Context, res *loop.Result) error {
	err := outcome(ctx, res)
	n := next(context.WithoutCancel(ctx), d.r)
	d.f.Out.Emit(d.payload(res, n), func(p *Printer) {
		if len(d.events) > 0 {
			p.Println()
		}
		p.Field("Ended", "%s", endText(res))
		p.Field("Turns", "%d accepted, %s", res.TurnsExecuted, judgements(res))
		if s := res.State; s != nil {
			p.Field("Run", "%s, phase %s, %s", OneLine(orNone(s.Run())), p.Bold(OneLine(s.Phase)), statusStyle(p, s.Status)(string(s.Status)))
			if s.BudgetStatus.SpentUSD > 0 {
				p.Field("Cost", "%s", budgetText(s))
			}
		}
		if err == nil {
			printNext(p, n)
		}
	})
	for _, text := range res.Errors {
		if err == nil || !strings.Contains(text, err.Error()) {
			d.f.Out.Warn("%s", strings.TrimSuffix(OneLine(text), "."))
		}
	}
	return err
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func judgements(res *loop.Result) string {
	sent := 0
	for _, h := range res.TurnHistory {
		if !h.Accepted {
			sent++
		}
	}
	return fmt.Sprintf("%d not, %s approved", sent, count(res.GatesApproved, "gate"))
}

func budgetText(s *protocol.State) string {
	text := fmt.Sprintf("$%.2f", s.BudgetStatus.SpentUSD)
	if left := s.BudgetStatus.RemainingUSD; left != nil {
		text += fmt.Sprintf(" of $%.2f", s.BudgetStatus.SpentUSD+*left)
	}
	return text
}

// endText says why the loop ended.
func endText(res *loop.Result) string {
	switch res.Cause {
	case loop.CauseCancelled:
		return "interrupted; what was under way can be gone on with"
	case loop.CauseAwaitingPerson:
		return "what is left to do is for a person"
	case loop.CauseCostLimit:
		return "the cost limit of this command is reached"
	case loop.CauseLoopRunning:
		return "another loop drives this run"
	}
	switch res.StopReason {
	case loop.Completed:
		if len(res.TurnHistory) == 0 {
			return "the run is complete already; --new-run starts another"
		}
		return "the run is complete"
	case loop.GateHeld:
		return "a gate waits for a person"
	case loop.MaxTurnsReached:
		return "as many turns as asked for are done"
	case loop.CallerStopped:
		return "nobody is to have a turn"
	case loop.PriorityPreempted:
		return "intent " + OneLine(res.PreemptedBy) + " goes first"
	case loop.RejectExhausted:
		return "a turn has no attempt left"
	case loop.ConflictLoop, loop.ConflictStall:
		return "turns keep conflicting"
	case loop.Blocked:
		return "a person is needed"
	}
	return string(res.StopReason)
}

// approver decides on gates while a loop runs: by --auto-approve where no
// credentialed gate forbids it, else by asking, else not at all.
func (d *drive) approver(auto bool) func(context.Context, loop.GateRequest) (bool, error) {
	return func(ctx context.Context, g loop.GateRequest) (bool, error) {
		v, err := d.r.View(ctx)
		if err != nil {
			return false, err
		}
		credentialed := protocol.CredentialedExitGate(v.Config, g.From)
		if auto && !credentialed {
			return true, nil
		}
		what := "the run completes"
		if g.To != "" {
			what = g.From + " -> " + g.To
		}
		if !d.f.Interactive() {
			if auto {
				d.f.Out.Notice("Gate %s is credentialed: --auto-approve does not pass it.", OneLine(g.Gate))
			}
			return false, nil
		}
		d.view.stop()
		defer d.view.start()
		yes, err := d.f.Prompt.Confirm(ctx, fmt.Sprintf("Gate %s (%s) waits for you. Approve?", OneLine(g.Gate), OneLine(what)), "git agentxchain approve", false)
		if err != nil && errors.Is(err, context.Canceled) {
			return false, nil
		}
		return yes, err
	}
}

// watchdog looks for agents that never started or have fallen silent before
// turns are given.
func (d *drive) watchdog(ctx context.Context) error {
	w, err := d.r.Watchdog(ctx)
	if w != nil {
		d.f.notices(w.Notices)
	}
	return err
}

// boundRuntimes are the runtimes that roles of the configuration are bound to.
func boundRuntimes(c *protocol.Config) []string {
	var out []string
	seen := make(map[string]bool)
	for _, role := range c.Roles.All() {
		if role != nil && role.RuntimeID != "" && !seen[role.RuntimeID] {
			seen[role.RuntimeID] = true
			out = append(out, role.RuntimeID)
		}
	}
	return out
}

// seconds reads a duration flag that is given in seconds or with a unit.
func seconds(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d <= 0 {
		return 0, usageErrorf("--%s takes a duration such as 90s or 20m, not %q", name, OneLine(text))
	}
	return d, nil
}
