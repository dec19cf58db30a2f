// What run and step share: the run loop over the built-in runtimes, reported as it goes.

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/builtin"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// drive is one use of the loop by a command.
type drive struct {
	f      *term.Factory
	r      *runner.Runner
	view   *liveView
	once   bool // one turn only: its outcome decides how the command ends
	events []*ojson.Object
	last   string // the turn that was assigned last
}

func newDrive(f *term.Factory, r *runner.Runner) *drive {
	return &drive{f: f, r: r, view: newLiveView(f)}
}

// loop drives the run with the runtimes that agentxchain.json names, and asks the person, if
// present, for missing trust. The result is nil when the loop did not begin.
func (d *drive) loop(ctx context.Context, opt loop.Options,
	runtimesUsed func(*config.Config) []string) (res *loop.Result, err error) {
	agents := driver.New(d.r, driver.Options{New: builtin.New, Getenv: d.f.Env.Getenv, Now: d.f.Env.Now, Sole: true})
	opt.Dispatch = func(ctx context.Context, job *loop.Dispatch) *runtimes.Outcome {
		out := agents.Dispatch(ctx, driver.Job{
			TurnID:   job.Turn.TurnID,
			Deadline: job.Deadline,
			View:     job.View,
			Activity: job.Activity,
		})
		if out.Moved != "" && !d.f.JSON() {
			d.view.line(d.f.Out.Printer().Yellow("After turn " + job.Turn.TurnID + " " + term.OneLine(out.Moved) +
				"; what follows is committed there."))
		}
		return out
	}
	opt.OnEvent, opt.OnActivity = d.event, d.view.activity
	err = shared.Trusting(ctx, d.f, d.r, func() error {
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
		if runner.ErrorCode(res.Err) == trust.CodeHooksUntrusted {
			return res.Err
		}
		return nil
	})
	return res, err
}

// event reports an event to the person, in one line of the scrollback.
func (d *drive) event(e loop.Event) {
	d.events = append(d.events, e.Object())
	p := d.f.Out.Printer()
	var b strings.Builder
	who := func(turn *run.Turn) string {
		s := p.Bold(term.OneLine(turn.AssignedRole)) + "  " + turn.TurnID
		if turn.Attempt > 1 {
			s += fmt.Sprintf(" (attempt %d)", turn.Attempt)
		}
		return s
	}
	switch e.Type {
	case loop.EventTurnAssigned, loop.EventTurnResumed:
		verb := "assigned to"
		if e.Type == loop.EventTurnResumed {
			verb = "resumed by"
		}
		fmt.Fprintf(&b, "%s  %s %s, phase %s", who(e.Turn), verb, term.OneLine(e.Turn.RuntimeID),
			term.OneLine(e.State.Phase))
		d.last = e.Turn.TurnID
		d.view.turn(e.Turn)
	case loop.EventTurnAccepted:
		fmt.Fprintf(&b, "%s  %s", who(e.Turn), p.Green("accepted"))
		if s := e.Entry.String("summary"); s != "" {
			b.WriteString(": " + term.OneLine(s))
		}
		fmt.Fprintf(&b, " (%s)", term.OneLine(turnFacts(e.Entry)))
		if gate := gateOutcome(e); gate != "" {
			fmt.Fprintf(&b, "\n  %s", term.OneLine(gate))
		}
		d.view.gone(e.Turn.TurnID)
	case loop.EventTurnRejected:
		// The turn is already at its next attempt, or has none left.
		after := fmt.Sprintf("attempt %d follows", e.Turn.Attempt)
		if e.Turn.Status == wire.TurnFailed {
			after = "no attempt is left"
		}
		fmt.Fprintf(&b, "%s  %s  %s: %s (%s)", p.Bold(term.OneLine(e.Turn.AssignedRole)), e.Turn.TurnID,
			p.Yellow("sent back"), strings.TrimSuffix(term.OneLine(e.Reason), "."), after)
		d.view.turn(e.Turn)
	case loop.EventTurnConflicted:
		fmt.Fprintf(&b, "%s  %s: %s", who(e.Turn), p.Yellow("in conflict"),
			term.OneLine(term.JoinComma(e.Conflict.Strings("conflicting_files"))))
	case loop.EventGateApproved:
		fmt.Fprintf(&b, "Gate approved; the run is in phase %s, %s", p.Bold(term.OneLine(e.State.Phase)),
			e.State.Status)
	case loop.EventGateHeld:
		fmt.Fprintf(&b, "%s", p.Yellow("Gate "+term.OneLine(run.PendingGate(e.State))+" waits for a person."))
	case loop.EventGateRetried:
		fmt.Fprintf(&b, "The documents were corrected, so the gate was asked again; the run is in phase %s, %s",
			p.Bold(term.OneLine(e.State.Phase)), e.State.Status)
	case loop.EventPriorityInjected:
		fmt.Fprintf(&b, "Intent %s (%s) goes first.", term.OneLine(e.IntentID), term.OneLine(e.Priority))
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

// turnFacts returns where a turn worked and its outcome: phase, files, time, money; what is not
// known is left out.
func turnFacts(row *ojson.Object) string {
	facts := []string{row.String("phase")}
	if n := len(row.Strings("files_changed")); n > 0 {
		facts = append(facts, term.Counted(n, "file"))
	}
	if ms, ok := row.Int("duration_ms"); ok && ms >= 1000 {
		facts = append(facts, clock(time.Duration(ms)*time.Millisecond))
	}
	if usd := run.RowCost(row.Object("cost")); usd > 0 {
		facts = append(facts, fmt.Sprintf("$%.2f", usd))
	}
	return strings.Join(facts, ", ")
}

// gateOutcome returns the outcome of a turn's request to move the run on, "" for none and for a
// waiting gate, which is reported separately.
func gateOutcome(e loop.Event) string {
	g := e.Gate
	if g == nil {
		return ""
	}
	gate := strings.TrimSpace("gate " + wire.OrEmpty(g.GateID))
	if n := len(g.Reasons); n > 0 && !g.Passed {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more: git agentxchain gate show)", n-1)
		}
		return gate + " failed: " + g.Reasons[0] + more
	}
	if was := e.Entry.String("phase"); e.State != nil && e.State.Phase != was {
		return gate + " passed: phase " + was + " -> " + e.State.Phase
	}
	return ""
}

// approver decides on gates while a loop runs: by --auto-approve where no credentialed gate forbids
// it, else by asking, else not at all.
func (d *drive) approver(auto bool) func(context.Context, loop.GateRequest) (bool, error) {
	return func(ctx context.Context, g loop.GateRequest) (bool, error) {
		v, err := d.r.View(ctx)
		if err != nil {
			return false, err
		}
		credentialed := gates.CredentialedExitGate(v.Config, g.From)
		if auto && !credentialed {
			return true, nil
		}
		what := "the run completes"
		if g.To != "" {
			what = g.From + " -> " + g.To
		}
		if !d.f.Interactive() {
			if auto {
				d.f.Out.Notice("Gate %s is credentialed: --auto-approve does not pass it.", term.OneLine(g.Gate))
			}
			return false, nil
		}
		d.view.stop()
		defer d.view.start()
		if pending, perr := d.r.PendingGate(ctx); perr == nil {
			pending.No = "the gate still waits; git agentxchain approve shows the difference, and takes a no with its reason"
			d.f.Out.Aside(func(p *term.Printer) { printPendingGate(p, pending) })
		}
		yes, err := d.f.Prompt.Confirm(ctx, fmt.Sprintf("Gate %s (%s) waits for you. Approve?", term.OneLine(g.Gate),
			term.OneLine(what)), "git agentxchain approve", false)
		if err != nil && errors.Is(err, context.Canceled) {
			return false, nil
		}
		return yes, err
	}
}

// ready looks at the run before anything is done. It refuses the whole loop to agents: only their
// dispatcher may carry out turns, and approve gates on the way. It first marks turns whose agents
// never started or have fallen silent.
func (d *drive) ready(ctx context.Context, command, role string) (*runner.View, error) {
	if id := d.r.InsideTurn(); id != "" {
		return nil, &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
			Message: fmt.Sprintf(
				"This process runs inside dispatched turn %s; an agent does its own turn and carries out no others.",
				id),
			Hint: "ask a person to run " + command + " in their own terminal"}
	}
	v, err := d.r.View(ctx)
	if err != nil {
		return nil, err
	}
	shared.TellNotices(d.f, v.Notices)
	if len(v.ConfigProblems) > 0 {
		return nil, config.Refusal(v.ConfigProblems)
	}
	if err := knownRole(v.Config, role); err != nil {
		return nil, err
	}
	if len(d.r.Health(v)) == 0 {
		return v, nil
	}
	w, err := d.r.Watchdog(ctx)
	if err != nil {
		return nil, err
	}
	shared.TellNotices(d.f, w.Notices)
	return d.r.View(ctx)
}

// knownRole refuses the name of a role that the configuration has not. "" is no name.
func knownRole(cfg *config.Config, role string) error {
	if role == "" || cfg.Role(role) != nil {
		return nil
	}
	return run.UnknownRole(cfg, role)
}

// boundRuntimes returns the runtimes that roles of the configuration are bound to.
func boundRuntimes(c *config.Config) []string {
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
