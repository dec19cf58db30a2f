// A gate waits for a person: the loop asks its caller.

package loop

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// gate asks for the pending approval and passes it on.
func (l *loop) gate() {
	s := l.state()
	req := GateRequest{State: s}
	w := s.Waiting()
	if w == nil {
		l.fail(Blocked, "the run is paused and waits for nothing", nil)
		return
	}
	req.Type, req.Gate, req.From, req.To = w.Type, w.Gate, w.From, w.To
	l.res.Errors = append(l.res.Errors, l.r.Remind(l.work, l.view)...)
	l.emit(Event{Type: EventGatePaused, GateType: req.Type})
	yes, err := l.ask(req)
	switch {
	case l.ctx.Err() != nil && !yes:
		l.stop(CallerStopped, CauseCancelled)
		return
	case err != nil:
		l.fail(Blocked, "asking about gate "+req.Gate+" failed", err)
		return
	case !yes:
		l.emit(Event{Type: EventGateHeld, GateType: req.Type})
		l.stop(GateHeld, "")
		return
	}
	approve := l.r.ApproveCompletionGate
	if req.Type == "phase_transition" {
		approve = l.r.ApprovePhaseGate
	}
	out, err := try(func() (*runner.Approved, error) {
		return approve(l.work, runner.GateOptions{AllowActions: l.opt.AllowActions})
	})
	l.adopt(&out.Done, err)
	if err != nil {
		if overtaken(err) {
			return
		}
		l.fail(Blocked, "gate "+req.Gate+" could not be approved", err)
		return
	}
	l.res.GatesApproved++
	l.emit(Event{Type: EventGateApproved, GateType: req.Type})
}

// retryGate evaluates again a gate whose documents were corrected since it failed, which costs no
// turn, and reports whether the run moved.
func (l *loop) retryGate() bool {
	if len(l.flights)+len(l.waiting) > 0 || l.opt.Once || !l.r.GateMended(l.view) {
		return false
	}
	out, err := try(func() (*runner.RetriedGate, error) { return l.r.RetryGate(l.work) })
	l.adopt(&out.Done, err)
	if err != nil {
		// Documents that have changed yet again are for the next turn.
		if !overtaken(err) && runner.ErrorCode(err) != wire.CodeGateFailed {
			l.fail(Blocked, "the gate that failed could not be asked again", err)
		}
		return false
	}
	l.emit(Event{Type: EventGateRetried, GateType: out.Result.GateType})
	return true
}

func (l *loop) ask(req GateRequest) (yes bool, err error) {
	if l.opt.ApproveGate == nil {
		return false, nil
	}
	defer func() {
		if p := recover(); p != nil {
			yes, err = false, fmt.Errorf("the callback crashed: %v", p)
		}
	}()
	return l.opt.ApproveGate(l.ctx, req)
}
