// Judging a dispatch: its result is staged and accepted, sent back, or a reason to stop.

package loop

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// settle judges a flight that has landed.
func (l *loop) settle(f *flight) {
	delete(l.flights, f.turn.TurnID)
	l.order = slices.DeleteFunc(l.order, func(o *flight) bool { return o == f })
	l.judged = true
	if f.broken != "" {
		l.report(f.broken, nil)
	}
	if f.late {
		l.report(fmt.Sprintf("the dispatch of %s did not return within %s of its end", named(f.turn), l.opt.Grace), nil)
	}
	if l.superseded(f) {
		return
	}
	out := f.out
	switch {
	case f.halted: // another clone has taken the turn; what is staged stays
		return
	case f.threw != "":
		l.threw(f)
		return
	case f.over && (out == nil || out.Kind != runtimes.Returned && out.Kind != runtimes.Staged):
		out = &runtimes.Outcome{Kind: runtimes.TimedOut}
	case out == nil:
		out = &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "the dispatch gave no outcome"}
	}
	f.out = out
	switch out.Kind {
	case runtimes.Returned, runtimes.Staged:
		l.take(f)
	case runtimes.Rejected:
		l.reject(f, cmp.Or(out.Reason, "the agent's answer is no result"))
	case runtimes.Blocked:
		l.blocked(f)
	case runtimes.TimedOut:
		l.timedOut(f)
	case runtimes.Pending:
		l.parked[f.turn.TurnID] = true
		if l.opt.Once {
			l.stop(CallerStopped, CauseAwaitingPerson) // nothing was judged
		}
	case runtimes.Aborted:
		switch {
		case out.Err != nil:
			l.fail(DispatchError, named(f.turn)+" was not carried out", out.Err)
		case l.ctx.Err() == nil:
			l.fail(CallerStopped, cmp.Or(out.Reason, "the dispatch of turn "+f.turn.TurnID+" was given up"), nil)
		}
	default:
		l.reject(f, fmt.Sprintf("the dispatch ended with an unknown outcome: %q", out.Kind))
	}
}

// over reports that the attempt of a flight has ended: a person has sent the turn back, or given it up, while its agent was
// at work.
func (l *loop) over(f *flight) bool {
	if tip, err := l.r.RunTip(l.work, l.view.Run); err != nil || tip != l.view.Op {
		if l.look() != nil {
			return false // told by the operation that matters
		}
	}
	turn, active := l.state().ActiveTurns.Get(f.turn.TurnID)
	return !active || turn.Attempt != f.turn.Attempt
}

// endAttempts stops agents whose attempt a person has ended, or whose turn another clone has taken. One whose turn is
// accepted ends by itself.
func (l *loop) endAttempts() {
	l.watched = l.clock.Now()
	for _, f := range l.order {
		if f.halted {
			continue
		}
		if why := l.ended(f); why != "" {
			l.notice(f.turn.TurnID, ActivityWaiting, why+"; stopping its agent")
			f.halted = true
			close(f.halt)
		}
	}
}

// ended returns why the result of a flight would not be taken, "" if it would be, or has been.
func (l *loop) ended(f *flight) string {
	if l.over(f) {
		if l.inHistory(f.turn.TurnID) {
			return ""
		}
		return "the attempt was ended by a person"
	}
	if l.opt.Claim > 0 {
		if h := l.r.Holds(l.view)[f.turn.TurnID]; h != nil && !h.Here && !h.Over {
			return "claimed by " + h.Who()
		}
	}
	return ""
}

// inHistory reports whether a turn is in the history as accepted.
func (l *loop) inHistory(id string) bool {
	rows, err := l.r.Record().ViewRows(l.work, l.view, wire.LedgerHistory, 1, func(row *ojson.Object) bool {
		return row.String("turn_id") == id && run.SaysAccepted(row)
	})
	return err == nil && len(rows) > 0
}

// superseded drops what a dispatch brought if its attempt is over. The attempt after it is not judged by that, and does not
// find it staged.
func (l *loop) superseded(f *flight) bool {
	if !l.over(f) {
		return false
	}
	id := f.turn.TurnID
	turn, active := l.state().ActiveTurns.Get(id)
	if !active && l.inHistory(id) {
		return true // its agent, or a person, has had it accepted
	}
	what := "it was given up while its agent was at work; what that brought was not taken"
	who := named(f.turn)
	if active {
		what = fmt.Sprintf("attempt %d was ended while its agent was at work; what that brought was not taken",
			f.turn.Attempt)
		l.fresh[id] = turn.Attempt
		if err := l.setAside(f); err != nil {
			l.fail(Blocked, who+": "+what, err)
			return true
		}
	}
	l.report(who+": "+what, nil)
	l.remember(entryOf(f.turn, wire.CodeTurnNotActive, what))
	return true
}

// setAside renames what an attempt that is over has staged: its place belongs to the attempt after it.
func (l *loop) setAside(f *flight) error {
	dir, err := os.OpenRoot(root(l.r))
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // nothing was written through it
	staged := wire.StagingPath(f.turn.TurnID)
	err = dir.Rename(staged, fmt.Sprintf("%s/attempt-%d.json", path.Dir(staged), f.turn.Attempt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// threw handles a callback that panicked: where one turn runs at a time the loop stops and the turn
// stays; side by side it counts as an answer without a result.
func (l *loop) threw(f *flight) {
	if l.slots() == 1 {
		l.fail(DispatchError, fmt.Sprintf("the dispatch of %s crashed: %s", f.turn.AssignedRole, f.threw), nil)
		return
	}
	l.reject(f, "the dispatch crashed: "+f.threw)
}

// take stages what the agent has returned and has it accepted.
func (l *loop) take(f *flight) {
	var data []byte
	if f.out.Kind == runtimes.Returned {
		data = f.out.Result
	} else {
		st, err := l.r.Staged(f.turn.TurnID)
		if err != nil {
			l.reject(f, "the staged result cannot be read: "+err.Error())
			return
		}
		if data = st.Data; data == nil {
			l.reject(f, "the agent ended without a result at "+f.job.StagingPath)
			return
		}
	}
	if problem := envelope(data); problem != "" {
		l.reject(f, problem)
		return
	}
	priced, changed := withCost(data, f.out)
	if changed || f.out.Kind == runtimes.Returned {
		if _, err := try(func() (*runner.StagedFile, error) {
			return l.r.StageResult(l.work, f.turn.TurnID, priced)
		}); err != nil {
			l.stale = true
			if !overtaken(err) {
				l.reject(f, "the result cannot be staged: "+err.Error())
			}
			return
		}
	}
	if l.ctx.Err() != nil {
		return // it is staged; the next loop takes it from there
	}
	l.accept(f)
}

// accept has the staged result of a turn judged.
func (l *loop) accept(f *flight) {
	l.judged = true
	accept := func() (*runner.Accepted, error) {
		return l.r.AcceptTurn(l.work, runner.AcceptOptions{TurnID: f.turn.TurnID, Patient: len(l.flights) > 0})
	}
	out, err := try(accept)
	if runner.ErrorCode(err) == run.CodeClaimEnded && !l.othersHave(f.turn) { // this machine slept
		out, err = accept()
	}
	l.adopt(&out.Done, err)
	code := runner.ErrorCode(err)
	entry := entryOf(f.turn, code, "")
	if err != nil {
		entry.AcceptError = err.Error()
	}
	switch {
	case code == runner.CodeSiblingsAtWork:
		l.waiting = append(l.waiting, f)
		l.notice(f.turn.TurnID, ActivityWaiting, entry.AcceptError)
		return
	case out.Result != nil && out.Result.Entry != nil:
		// A hook that failed after the commit is an error, but the turn is accepted.
		l.accepted(f, out, entry, err)
		return
	case code == wire.CodeTurnAlreadyAccepted || code == wire.CodeTurnNotActive:
		return // another process has judged it
	case code == run.CodeTurnClaimed:
		l.notice(f.turn.TurnID, ActivityWaiting, entry.AcceptError) // the staged result stays
		return
	}
	if !l.reload() {
		l.remember(entry)
		return
	}
	turn, active := l.state().ActiveTurns.Get(f.turn.TurnID)
	switch {
	case code == wire.CodeConflict && active:
		entry.Conflict = out.Result.Conflict
		l.remember(entry)
		l.emit(Event{
			Type:      EventTurnConflicted,
			Turn:      turn,
			Role:      turn.AssignedRole,
			ErrorCode: code,
			Conflict:  out.Result.Conflict,
		})
		if l.state().Status == wire.StatusBlocked {
			l.emit(Event{Type: EventBlocked})
			l.fail(ConflictLoop, named(turn)+" keeps conflicting", err)
			return
		}
		l.sendBack(turn, rejection{conflict: true, reason: err.Error()})
	case l.state().Status == wire.StatusBlocked || overtaken(err):
		// A hook, a policy or a sibling has blocked the run; the staged result stays.
		entry.Blocked = true
		l.remember(entry)
		l.report(named(f.turn)+" was not accepted", err)
	case active && (turn.Status == wire.TurnFailedAcceptance || code == wire.CodeInvalidJSON ||
		code == wire.CodeStagedMissing || code == wire.CodeStaleStaging):
		l.remember(entry)
		l.sendBack(turn, rejectionOf(err))
	default:
		l.remember(entry)
		l.fail(Blocked, named(f.turn)+" could not be accepted", err)
	}
}

// accepted does what follows an acceptance.
func (l *loop) accepted(f *flight, out *runner.Accepted, entry HistoryEntry, err error) {
	entry.Accepted = true
	l.res.TurnsExecuted++
	l.remember(entry)
	delete(l.fresh, f.turn.TurnID)
	if err != nil {
		l.report("turn "+f.turn.TurnID+" is accepted, but what follows an acceptance failed", err)
	}
	committed := true
	if !l.opt.NoCheckpoint && len(out.Result.Entry.Strings("files_changed")) > 0 {
		committed = l.checkpoint(f.turn.TurnID)
	}
	if l.opt.AfterAccept != nil {
		if err := l.afterAccept(AfterAccept{Turn: out.Result.Turn, Accepted: out}); err != nil {
			l.report("the callback after the acceptance of turn "+f.turn.TurnID+" failed", err)
			l.emit(Event{Type: EventTurnAccepted, Turn: out.Result.Turn, Role: f.turn.AssignedRole})
			l.emit(Event{Type: EventBlocked, Reason: "after_accept_failed"})
			l.stop(Blocked, "")
			return
		}
	}
	if committed {
		l.emit(Event{
			Type:  EventTurnAccepted,
			Turn:  out.Result.Turn,
			Role:  f.turn.AssignedRole,
			Entry: out.Result.Entry,
			Gate:  out.Result.Gate,
		})
	}
}

func (l *loop) afterAccept(a AfterAccept) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it broke down: %v", p)
		}
	}()
	l.stale = true // the callback may change the run
	return l.opt.AfterAccept(l.ctx, a)
}

// judgeWaiting looks again at turns that were put off because of their siblings.
func (l *loop) judgeWaiting() {
	waiting := l.waiting
	l.waiting = nil
	for _, f := range waiting {
		if l.ctx.Err() != nil {
			return // staged; the next loop takes them from there
		}
		if !l.superseded(f) {
			l.accept(f)
		}
	}
}

func (l *loop) remember(e HistoryEntry) { l.res.TurnHistory = append(l.res.TurnHistory, e) }

// rememberBlock is remember for a dispatch that blocks the run.
func (l *loop) rememberBlock(f *flight, code, why string) {
	e := entryOf(f.turn, code, why)
	e.Blocked = true
	l.remember(e)
}

// entryOf returns the judgement on a turn's attempt.
func entryOf(turn *run.Turn, code, why string) HistoryEntry {
	return HistoryEntry{
		Role:        turn.AssignedRole,
		TurnID:      turn.TurnID,
		Attempt:     turn.Attempt,
		ErrorCode:   code,
		AcceptError: why,
	}
}

// named names a turn in a sentence.
func named(turn *run.Turn) string { return "turn " + turn.TurnID + " (" + turn.AssignedRole + ")" }
