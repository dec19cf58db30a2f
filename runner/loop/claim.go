// Several machines on one run: which turns this loop takes, and what it does while other machines
// have all of them (docs/teams.md#two-machines-that-run).

package loop

import (
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// follow takes over what other machines have done, with their commits, while no agent is at work
// here. It reports whether the loop may go on with what it knows.
func (l *loop) follow() bool {
	if l.opt.Claim == 0 || len(l.flights)+len(l.waiting) > 0 {
		return true
	}
	was := l.view.Op
	if _, err := try(func() (any, error) { return nil, l.r.Follow(l.work) }); err != nil {
		l.fail(Blocked, "this clone cannot continue from what the remote has", err)
		return false
	}
	l.stale = true
	if !l.reload() {
		return false
	}
	if l.view.Op != was {
		l.polls = 0
		return false
	}
	return !l.awaitCheckpoint()
}

// checkpointPolls is how often a loop looks again for a commit that another machine owes.
const checkpointPolls = 5

// awaitCheckpoint waits while the files of a turn that another machine accepted are not yet
// committed there: work that began without them would diverge. It does not wait again for a commit
// that did not come.
func (l *loop) awaitCheckpoint() bool {
	if l.opt.NoCheckpoint || l.view.Index == nil {
		return false
	}
	for _, turn := range l.view.Index.Uncheckpointed.All() {
		if l.owed == nil {
			l.owed = make(map[string]int)
		}
		if l.owed[turn]++; l.owed[turn] > checkpointPolls {
			if l.owed[turn] == checkpointPolls+1 {
				l.notice(turn, ActivityWaiting, "the commit of its files does not come; going on without them. "+
					"Where it was accepted: git agentxchain checkpoint "+turn+", git push; then git pull here")
			}
			continue
		}
		l.notice(turn, ActivityWaiting, "accepted in another clone, which has not committed its files yet; waiting")
		l.leaveToOthers()
		return true
	}
	return false
}

// othersHave reports that another clone has claimed a turn. A loop that claims turns tries to claim
// it first.
func (l *loop) othersHave(turn *run.Turn) bool {
	h := l.r.Holds(l.view)[turn.TurnID]
	if l.opt.Claim == 0 && (h == nil || h.Here) || h != nil && h.Here && !h.Over {
		return false
	}
	if l.opt.Claim > 0 && (h == nil || h.Here || h.Over) {
		out, err := l.r.ClaimTurn(l.work, runner.ClaimOptions{
			Target: turn.TurnID,
			Action: protocol.ClaimTake,
			For:    l.opt.Claim,
		})
		l.adopt(&out.Done, err)
		if err == nil {
			return false
		}
		if !overtaken(err) {
			l.fail(Blocked, named(turn)+" cannot be claimed", err)
		}
	}
	l.elsewhere[turn.TurnID] = true
	if h != nil {
		l.notice(turn.TurnID, ActivityWaiting, "claimed by "+h.Who()+"; waiting")
	}
	return true
}

// leaveToOthers is for a loop that has nothing to do until another machine is done: a loop that
// claims looks again after a while, any other ends.
func (l *loop) leaveToOthers() {
	if l.opt.Claim == 0 {
		l.stop(CallerStopped, CauseClaimed)
		l.emit(Event{Type: EventCallerStopped})
		return
	}
	wait := min(l.opt.Poll<<min(l.polls, 16), maxPoll)
	l.polls++
	again, giveUp := l.clock.After(wait + time.Duration(float64(wait)*0.25*l.opt.Jitter()))
	defer giveUp()
	select {
	case <-again:
		l.stale = true
	case <-l.ctx.Done():
		l.stop(CallerStopped, CauseCancelled)
	}
}

// untilHeard fires when the remote is to be asked again what other machines did with the turns under way.
func (l *loop) untilHeard() (<-chan time.Time, func()) {
	if l.opt.Claim == 0 || l.stopped {
		return nil, func() {}
	}
	return l.clock.After(max(0, l.heard.Add(hearEvery).Sub(l.clock.Now())))
}

// hear takes over what other machines recorded, and stops the agents whose attempts they ended: a person may abandon
// the run there or take its turn away. A remote that does not answer now is asked again after a while.
func (l *loop) hear() {
	if l.r.CatchUp(l.work) == nil {
		l.endAttempts()
	}
	l.heard = l.clock.Now()
}

// untilRenewal fires when the first claim of a flight has used half of its time.
func (l *loop) untilRenewal() (<-chan time.Time, func()) {
	if l.opt.Claim == 0 || len(l.order) == 0 || l.stopped {
		return nil, func() {}
	}
	first := l.order[0].claimed
	for _, f := range l.order[1:] {
		if f.claimed.Before(first) {
			first = f.claimed
		}
	}
	return l.clock.After(max(0, first.Add(l.opt.Claim/2).Sub(l.clock.Now())))
}

// renew extends the claims of the turns under way. For a turn that was taken away meanwhile the
// acceptance says so; a renewal that fails now is tried again after a while.
func (l *loop) renew() {
	now := l.clock.Now()
	for _, f := range l.order {
		if now.Sub(f.claimed) < l.opt.Claim/2 {
			continue
		}
		out, err := l.r.ClaimTurn(l.work, runner.ClaimOptions{
			Target: f.turn.TurnID,
			Action: protocol.ClaimRenew,
			For:    l.opt.Claim,
		})
		l.adopt(&out.Done, err)
		f.claimed = now
		if err != nil {
			f.claimed = now.Add(l.opt.Poll - l.opt.Claim/2)
		}
	}
}
