// How a loop begins: whether the configuration is workable, whether there is a run, whether the
// last loop's work is committed.

package loop

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// start brings the run to where turns can be assigned. false means that it has failed and reported
// why.
func (l *loop) start() bool {
	if err := l.look(); err != nil {
		l.fail(InitFailed, "the run cannot be read", err)
		return false
	}
	if l.opt.MaxTurns <= 0 {
		l.opt.MaxTurns = max(1, l.cfg.RunLoop.MaxTurns)
	}
	for _, f := range config.Admission(l.cfg) {
		if f.Severity == config.SeverityError {
			l.fail(AdmissionRejected, "Admission control: "+f.Code+": "+f.Message, nil)
		}
	}
	if l.stopped {
		return false
	}
	if !l.begin() || !l.alone(l.r.DriveRun(l.ctx, l.state().Run())) {
		return false
	}
	l.spent = l.state().BudgetStatus.SpentUSD
	l.checkpointRest()
	return true
}

// begin starts a run when there is none, or another one on request.
func (l *loop) begin() bool {
	s := l.state()
	opt := l.opt.Start
	switch {
	case s.Status == wire.StatusIdle:
	case s.Status == wire.StatusBlocked && s.Run() == "" && s.ActiveTurns.Len() == 0:
	case s.Status.Ended() && l.opt.NewRun, s.Status == wire.StatusBlocked && l.opt.NewRunFromBlocked:
		opt.Restart = true
	default:
		return true
	}
	done, err := try(func() (*runner.Done, error) { return l.r.InitRun(l.work, opt) })
	if err != nil {
		l.fail(InitFailed, "no run could be started", err)
		return false
	}
	l.adopt(done, nil)
	return l.reload()
}

// checkpointRest commits the files of accepted turns that an earlier loop did not get to: otherwise
// the next writing turn could not be assigned.
func (l *loop) checkpointRest() {
	if l.opt.NoCheckpoint || l.view.Index == nil || l.state().Status != wire.StatusActive {
		return
	}
	var turns []string
	for _, id := range l.view.Index.Uncheckpointed.All() {
		if !slices.Contains(turns, id) {
			turns = append(turns, id)
		}
	}
	for _, id := range turns {
		if !l.checkpoint(id) {
			return
		}
	}
}

// checkpoint commits the files of an accepted turn. When git refuses, a writing turn could not
// follow, so the loop stops there.
func (l *loop) checkpoint(turnID string) bool {
	done, err := try(func() (*runner.Checkpointed, error) { return l.r.Checkpoint(l.work, turnID) })
	if err != nil {
		l.stale = true
		l.report("the files of turn "+turnID+" could not be committed", err)
		l.emit(Event{Type: EventBlocked, Reason: "checkpoint_failed"})
		l.stop(Blocked, "")
		return false
	}
	if done.Transition != nil {
		l.adopt(&done.Done, nil)
	}
	return true
}

// root returns the project's directory.
func root(r *runner.Runner) string { return r.Record().Dir() }
