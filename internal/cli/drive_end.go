// How run and step end: the outcome of the loop in text, in JSON and as an error.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
)

// payload returns the --json members of a loop.
func (d *drive) payload(res *loop.Result, n *protocol.NextAction) *ojson.Object {
	o := res.Object()
	for _, key := range []string{"ok", "state"} {
		o.Delete(key)
	}
	o.Set("cause", ojson.OrNull(res.Cause))
	if s := res.State; s != nil {
		o.Set("run_id", ojson.OrNull(s.Run()))
		o.Set("status", string(s.Status))
		o.Set("phase", s.Phase)
		o.Set("spent_usd", s.BudgetStatus.SpentUSD)
		o.Set("blocked_on", s.BlockedOn)
	}
	o.Set("events", d.events)
	o.Set("next_action", shared.NextObject(n))
	return o
}

// outcome returns the error that a command ends with after a loop: nil for every expected end
// (docs/run-loop.md).
func outcome(ctx context.Context, res *loop.Result) error {
	switch {
	case ctx.Err() != nil && res.StopReason == loop.CallerStopped:
		return context.Cause(ctx)
	case res.StopReason == loop.Completed, res.StopReason == loop.GateHeld, res.StopReason == loop.MaxTurnsReached,
		res.StopReason == loop.CallerStopped && res.Err == nil:
		return nil
	case res.State != nil && res.State.Status == wire.StatusFailed:
		return term.Errorf("failed", "the run was given up").WithHint("git agentxchain run --new-run")
	case res.State != nil && res.State.Status == wire.StatusBlocked:
		e := &wire.Error{
			Code:    wire.CodeRunBlocked,
			Field:   "blocked_on",
			Message: "The run is blocked.",
			Hint:    "git agentxchain status",
		}
		if res.State.BlockedOn != nil {
			e.Message = "The run is blocked on " + *res.State.BlockedOn + "."
		}
		if r := res.State.BlockedReason; r != nil {
			if r.Recovery.Detail != nil && *r.Recovery.Detail != "" {
				e.Message = strings.TrimSuffix(e.Message, ".") + ": " + strings.TrimSuffix(*r.Recovery.Detail, ".") +
					"."
			}
			if r.Recovery.RecoveryAction != "" {
				e.Hint = r.Recovery.RecoveryAction
			}
		}
		return e
	case res.Err != nil:
		if refusal, ok := errors.AsType[*wire.Error](res.Err); ok {
			for _, flag := range []string{"", " --new-run"} {
				if advice, ok := strings.CutSuffix(refusal.Hint, run.CmdAssign+flag); ok {
					again := *refusal // the loop assigns the turn
					again.Hint = advice + "git agentxchain run" + flag
					return &again
				}
			}
		}
		return res.Err
	case res.StopReason == loop.AdmissionRejected && res.Cause == "" && len(res.Errors) > 0:
		return &wire.Error{
			Code:    wire.CodeInvalidConfig,
			Field:   wire.ConfigPath,
			Message: strings.Join(res.Errors, "; "),
			Hint:    "change routing, gates or runtimes in " + wire.ConfigPath + ", then: git agentxchain validate",
		}
	case len(res.Errors) > 0:
		return term.Errorf("failed", "%s", strings.Join(res.Errors, "; ")).WithHint("git agentxchain status")
	}
	return term.Errorf("failed", "the run loop ended: %s", res.StopReason).WithHint("git agentxchain status")
}

// finish prints how a loop ended and returns the command's error.
func (d *drive) finish(ctx context.Context, res *loop.Result) error {
	err, end := outcome(ctx, res), endText(res)
	if d.once && res.StopReason == loop.MaxTurnsReached {
		end = "the turn is accepted"
		if err = sentBack(res); err != nil {
			end = "the turn was sent back"
		}
	}
	n := d.r.Next(context.WithoutCancel(ctx))
	var gate *gate.Pending
	if res.StopReason == loop.GateHeld {
		gate, _ = d.r.PendingGate(context.WithoutCancel(ctx)) // the end of the loop is reported without it
	}
	d.f.Out.Emit(d.payload(res, n), func(p *term.Printer) {
		if len(d.events) > 0 {
			p.Println()
		}
		p.Field("Ended", "%s", end)
		p.Field("Turns", "%s", judgements(res))
		if s := res.State; s != nil {
			p.Field("Run", "%s, phase %s, %s", term.OneLine(cmp.Or(s.Run(), "(none)")), p.Bold(term.OneLine(s.Phase)),
				shared.StatusStyle(p, s.Status)(string(s.Status)))
			if s.BudgetStatus.SpentUSD > 0 {
				p.Field("Cost", "%s", budgetText(s))
			}
		}
		printReading(p, gate)
		if err == nil {
			shared.PrintNext(p, n)
		}
	})
	for _, text := range res.Errors {
		if err == nil || !strings.Contains(text, err.Error()) {
			d.f.Out.Warn("%s", strings.TrimSuffix(term.OneLine(text), "."))
		}
	}
	return err
}

// printReading names what a person should read before they answer: what changed comes first.
func printReading(p *term.Printer, g *gate.Pending) {
	if g == nil {
		return
	}
	var changed, same []string
	for _, d := range g.Documents {
		switch {
		case d.Present && d.SincePhase:
			changed = append(changed, d.Path)
		case d.Present:
			same = append(same, d.Path)
		}
	}
	if docs := append(changed, same...); len(docs) > 0 {
		p.Field("Read", "%s", term.OneLine(term.JoinComma(docs)))
	}
	if n := len(g.Objections); n > 0 {
		p.Field("Objections", "%s", p.Yellow(strconv.Itoa(n)+" open"))
	}
}

func judgements(res *loop.Result) string {
	sent := 0
	for _, h := range res.TurnHistory {
		if !h.Accepted {
			sent++
		}
	}
	text := fmt.Sprintf("%d accepted", res.TurnsExecuted)
	if sent > 0 {
		text += fmt.Sprintf(", %d not", sent)
	}
	if res.GatesApproved > 0 {
		text += ", " + term.Counted(res.GatesApproved, "gate") + " approved"
	}
	return text
}

func budgetText(s *run.State) string {
	text := fmt.Sprintf("$%.2f", s.BudgetStatus.SpentUSD)
	if left := s.BudgetStatus.RemainingUSD; left != nil {
		text += fmt.Sprintf(" of $%.2f", s.BudgetStatus.SpentUSD+*left)
	}
	return text
}

// endText returns why the loop ended.
func endText(res *loop.Result) string {
	switch res.Cause {
	case loop.CauseCancelled:
		return "interrupted; git agentxchain run resumes what was under way"
	case loop.CauseAwaitingPerson:
		return "the remaining work is for a person"
	case loop.CauseClaimed:
		return "other machines work on all turns there are; git agentxchain run --claim waits for them"
	case loop.CauseProposalWaits:
		return "a proposal waits to be applied or rejected"
	case loop.CauseCostLimit:
		return "the cost limit of this command is reached"
	case loop.CauseLoopRunning:
		return "another loop drives this run"
	}
	if res.State != nil && res.State.Status == wire.StatusFailed {
		return "the run was given up; --new-run starts another"
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
		return "no role is due for a turn"
	case loop.PriorityPreempted:
		return "intent " + term.OneLine(res.PreemptedBy) + " goes first"
	case loop.RejectExhausted:
		return "a turn has no attempt left"
	case loop.ConflictLoop, loop.ConflictStall:
		return "turns keep conflicting"
	case loop.Blocked:
		return "a person is needed"
	case loop.InitFailed:
		return "no run could be started"
	case loop.AdmissionRejected:
		return "the configuration could never pass its own gates"
	}
	return string(res.StopReason)
}
