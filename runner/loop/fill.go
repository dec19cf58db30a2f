// Keeping the slots filled: existing turns first, then new ones.

package loop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// fill gives every free slot something to do and reports whether anything moved.
func (l *loop) fill() bool {
	var launched []*flight
	if !l.follow() {
		return true
	}
	moved := l.takeUp(&launched)
	if !l.stopped && l.assignNew(&launched) {
		moved = true
	}
	if len(launched) == 0 {
		return moved
	}
	if l.slots() > 1 {
		ids := make([]string, len(launched))
		for i, f := range launched {
			ids[i] = f.turn.TurnID
		}
		l.emit(Event{Type: EventParallelDispatch, Count: len(ids), Turns: ids})
	}
	for _, f := range launched {
		go l.fly(f)
	}
	return true
}

func (l *loop) slots() int { return runner.MaxConcurrentTurns(l.cfg, l.state().Phase) }

// takeUp resumes the active turns that are not being worked on: turns of an earlier loop, rejected
// turns, or turns in a state that no dispatch fits.
func (l *loop) takeUp(launched *[]*flight) (moved bool) {
	l.elsewhere = make(map[string]bool)
	for _, id := range slices.Clone(l.state().ActiveTurns.Keys()) {
		turn, ok := l.state().ActiveTurns.Get(id)
		if l.stopped || l.stale || l.state().Status != wire.StatusActive {
			return true
		}
		if !ok || l.opt.Once && (l.judged || id != l.opt.Turn) || l.flights[id] != nil || l.parked[id] ||
			slices.ContainsFunc(l.waiting, func(f *flight) bool {
				return f.turn.TurnID == id
			}) {
			continue
		}
		if l.othersHave(turn) {
			continue
		}
		switch turn.Status {
		case wire.TurnAssigned, wire.TurnDispatched, wire.TurnStarting, wire.TurnRunning, wire.TurnRetrying:
			if len(l.flights) >= l.slots() {
				continue
			}
			l.resume(turn, launched)
			moved = true
		case wire.TurnFailedAcceptance:
			l.reconsider(turn)
			moved = true
		case wire.TurnConflicted:
			l.sendBack(turn, rejection{conflict: true, reason: "other turns changed the same files meanwhile"})
			moved = true
		default: // failed, failed_start, stalled: a person has lifted the block, so it is tried again
			out, err := try(func() (*runner.Reissued, error) {
				return l.r.ReissueTurn(l.work, runner.ReissueOptions{
					TurnID: id,
					Reason: "run loop: the turn was " + turn.Status,
				})
			})
			l.adopt(&out.Done, err)
			if err != nil {
				l.fail(Blocked, named(turn)+" cannot be tried again", err)
				return true
			}
			l.fresh[out.Result.Turn.TurnID] = out.Result.Turn.Attempt
			l.emit(Event{Type: EventTurnResumed, Turn: out.Result.Turn, Role: turn.AssignedRole})
			moved = true
		}
	}
	return moved
}

// resume dispatches an active turn. One that is new to this loop may have been carried out already:
// a result of the present attempt is then used as it is, without asking the agent twice.
func (l *loop) resume(turn *run.Turn, launched *[]*flight) {
	if l.fresh[turn.TurnID] != turn.Attempt {
		if st, err := l.r.LookStaged(turn.TurnID); err == nil && st.Data != nil && envelope(st.Data) == "" &&
			ofAttempt(turn, st) {
			l.notice(turn.TurnID, "resumed", "the result was staged already")
			l.accept(&flight{turn: turn})
			return
		}
		inHand := l.inHand(turn)
		if !inHand && !l.again(turn) {
			return
		}
		turn, _ = l.state().ActiveTurns.Get(turn.TurnID)
		l.fresh[turn.TurnID] = turn.Attempt
		if !inHand {
			l.emit(Event{Type: EventTurnResumed, Turn: turn, Role: turn.AssignedRole})
		}
	}
	*launched = append(*launched, l.launch(turn))
}

// inHand reports whether a person has the turn and time left for it: resuming it is not recorded
// and gives them no more time.
func (l *loop) inHand(turn *run.Turn) bool {
	rt, ok := l.cfg.Runtimes.Get(turn.RuntimeID)
	if !ok || rt == nil || rt.Type != config.RuntimeManual || turn.Status != wire.TurnDispatched {
		return false
	}
	until, err := wire.ParseTime(turn.DeadlineAt)
	return err == nil && l.clock.Now().Before(until)
}

// again records that a turn is dispatched once more, or at last. Its time restarts, as the loop
// that had it was ended.
func (l *loop) again(turn *run.Turn) bool {
	done, err := try(func() (*runner.Done, error) {
		if turn.Status == wire.TurnAssigned {
			out, err := l.r.WriteDispatchBundle(l.work, turn.TurnID)
			return &out.Done, err
		}
		out, err := l.r.AdvanceTurn(l.work, attempt.AdvanceTurn{TurnID: turn.TurnID, Status: wire.TurnDispatched})
		return &out.Done, err
	})
	l.notice(turn.TurnID, "resumed", "dispatched again")
	l.adopt(done, err)
	if err != nil {
		if !overtaken(err) {
			l.fail(Blocked, named(turn)+" cannot be dispatched", err)
		}
		return false
	}
	next, ok := l.state().ActiveTurns.Get(turn.TurnID)
	if ok && turn.Status == wire.TurnAssigned && next.Status != wire.TurnAssigned {
		if until, err := wire.ParseTime(next.DeadlineAt); err == nil && until.Before(l.clock.Now()) {
			return l.again(next) // it lay there for long; its time begins now
		}
	}
	return ok
}

// overtaken reports that another process has changed the run: the loop looks again.
func overtaken(err error) bool {
	switch runner.ErrorCode(err) {
	case wire.CodeTurnNotActive, wire.CodeTurnAlreadyAccepted, wire.CodeRunBlocked, wire.CodeAwaitingApproval,
		run.CodeTurnClaimed, "ref_moved", "state_moved":
		return true
	}
	return false
}

// assignNew assigns turns to roles until the slots are full or no role should have one.
func (l *loop) assignNew(launched *[]*flight) (moved bool) {
	tried := make(map[string]bool)
	checkpointed := make(map[string]bool)
	var refused error
	var refusedRole string
	for !l.stopped && !l.stale && l.room() {
		role, ok := l.choose(tried)
		if !ok {
			break
		}
		out, err := try(func() (*runner.Assigned, error) {
			return l.r.AssignTurn(l.work, runner.AssignOptions{Role: role})
		})
		l.adopt(&out.Done, err)
		if err == nil {
			l.opt.FirstRole = ""
			l.fresh[out.Turn.TurnID] = out.Turn.Attempt
			l.emit(Event{Type: EventTurnAssigned, Turn: out.Turn, Role: role})
			moved = true
			if !l.othersHave(out.Turn) {
				*launched = append(*launched, l.launch(l.state().ActiveTurns.Value(out.Turn.TurnID)))
			}
			continue
		}
		l.stale = false // a refusal from here on is handled below
		code := runner.ErrorCode(err)
		if id := waitsForCheckpoint(err); id != "" && !l.opt.NoCheckpoint && !checkpointed[id] && len(l.flights) == 0 {
			checkpointed[id] = true
			if !l.checkpoint(id) {
				return true
			}
			continue
		}
		switch code {
		case wire.CodeRoleActive, wire.CodeTurnActive, wire.CodeAtCapacity:
			l.stale = true
			if l.state().ActiveTurns.Len() == 0 {
				return true // another machine or a person assigned a turn in between
			}
		}
		if overtaken(err) {
			l.stale = true
			return true
		}
		tried[role] = true
		if refused == nil {
			refused, refusedRole = err, role
		}
		if code == wire.CodeDirtyTree || code == wire.CodeCheckpointRequired {
			if l.state().ActiveTurns.Len() > 0 {
				break // another turn is at work in the tree; there will be another chance
			}
		}
	}
	if refused != nil && !l.stopped && !moved && (l.opt.Once || l.state().ActiveTurns.Len() == 0) {
		l.fail(Blocked, "role "+refusedRole+" cannot be given a turn", refused)
	}
	return moved
}

// waitsForCheckpoint returns the accepted turn whose uncommitted files prevent an assignment.
func waitsForCheckpoint(err error) string {
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code == wire.CodeCheckpointRequired {
		return refusal.Details.String("turn_id")
	}
	return ""
}

// room reports whether another turn may be assigned: there is a free slot, the limit of turns is
// not reached, and no delegation review is active, which runs alone.
func (l *loop) room() bool {
	s := l.state()
	if s.Status != wire.StatusActive || l.ctx.Err() != nil {
		return false
	}
	n := s.ActiveTurns.Len()
	if l.opt.Once && (l.opt.Turn != "" || l.judged || len(l.flights) > 0) {
		return false
	}
	if n >= l.slots() || l.res.TurnsExecuted+n >= l.opt.MaxTurns {
		return false
	}
	return Room(s, l.cfg)
}

// choose chooses the role of the next turn. When that role has a turn already, the other roles of
// the phase may fill the slot, unless delegated work decides who is next.
func (l *loop) choose(tried map[string]bool) (string, bool) {
	if first := l.opt.FirstRole; first != "" {
		return first, !tried[first]
	}
	role, err := l.selectRole()
	s := l.state()
	if err != nil {
		l.fail(DispatchError, "choosing a role failed", err)
		return "", false
	}
	if role == "" {
		if s.ActiveTurns.Len() == 0 {
			l.emit(Event{Type: EventCallerStopped})
			l.stop(CallerStopped, "")
		}
		return "", false
	}
	role = FreeRole(role, s, l.cfg, tried)
	return role, role != ""
}

// selectRole calls the caller's callback and turns a panic into an error.
func (l *loop) selectRole() (role string, err error) {
	defer func() {
		if p := recover(); p != nil {
			role, err = "", fmt.Errorf("the callback crashed: %v", p)
		}
	}()
	return l.opt.SelectRole(l.ctx, l.state(), l.cfg)
}
