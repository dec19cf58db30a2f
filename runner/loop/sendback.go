// A dispatch without an accepted result: its turn is sent back for another attempt, or the run stops on it.

package loop

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// rejection says why a turn is sent back.
type rejection struct {
	stage, reason string
	errors        []string
	conflict      bool
	cost          float64
}

// rejectionOf passes the faults that an acceptance found to the next attempt.
func rejectionOf(err error) rejection {
	rej := rejection{stage: "validation", reason: err.Error()}
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		rej.reason = refusal.Message
		if refusal.Stage != "" {
			rej.stage = refusal.Stage
		}
		rej.errors = wire.Problems(refusal.Problems).Messages()
	}
	return rej
}

// reject sends back a turn whose dispatch returned nothing that is a result.
func (l *loop) reject(f *flight, reason string) {
	rej := rejection{stage: "dispatch", reason: reason}
	if f.out != nil && f.out.CostUSD != nil {
		rej.cost = max(0, *f.out.CostUSD)
	}
	l.remember(entryOf(f.turn, CodeDispatchRejected, reason))
	l.sendBack(f.turn, rej)
}

// CodeDispatchRejected is the error code of a history entry whose turn returned nothing to judge.
const CodeDispatchRejected = "dispatch_rejected"

// sendBack rejects a turn: another attempt follows, or none is left.
func (l *loop) sendBack(turn *run.Turn, rej rejection) {
	out, err := try(func() (*runner.Rejected, error) {
		return l.r.RejectTurn(l.work, runner.RejectOptions{
			TurnID:   turn.TurnID,
			Reason:   rej.reason,
			Stage:    rej.stage,
			Errors:   rej.errors,
			Reassign: rej.conflict,
			CostUSD:  rej.cost,
		})
	})
	l.adopt(&out.Done, err)
	if err != nil {
		if what := named(turn) + " could not be sent back"; overtaken(err) {
			l.report(what, err)
		} else {
			l.fail(Blocked, what, err)
		}
		return
	}
	l.emit(Event{Type: EventTurnRejected, Turn: out.Result.Turn, Role: turn.AssignedRole, Reason: rej.reason})
	if !out.Result.Escalated {
		l.fresh[turn.TurnID] = out.Result.Turn.Attempt
		return
	}
	l.emit(Event{Type: EventBlocked})
	reason := RejectExhausted
	if rej.conflict {
		if reason = ConflictLoop; l.slots() > 1 {
			reason = ConflictStall
		}
	}
	l.fail(reason, fmt.Sprintf("%s was sent back; attempt %d was its last", named(turn), out.Result.Turn.Attempt), nil)
}

// reconsider continues a turn whose result was refused to an earlier loop or a person. The same
// bytes are not judged twice; a result that was changed since is.
func (l *loop) reconsider(turn *run.Turn) {
	if st, err := l.r.LookStaged(turn.TurnID); err == nil && st.Data != nil {
		if at, err := wire.ParseTime(turn.FailedAt); err == nil && st.ModTime.After(at) {
			l.accept(&flight{turn: turn})
			return
		}
	}
	l.remember(entryOf(turn, wire.CodeValidationFailed, turn.FailureReason))
	l.sendBack(turn, rejection{stage: "acceptance", reason: cmp.Or(turn.FailureReason, "its result was not accepted")})
}

// blocked stops the run on a problem that a person has to fix.
func (l *loop) blocked(f *flight) {
	out := f.out
	reason := cmp.Or(out.Reason, "the agent could not be asked")
	class := cmp.Or(out.Class, "dispatch_failed")
	l.rememberBlock(f, class, reason)
	var done *runner.Done
	var err error
	switch out.Failure {
	case attempt.FailureSpawn, attempt.FailureAttach, attempt.FailureNoOutput:
		var w *runner.Watched
		w, err = l.r.FailTurn(l.work, f.turn.TurnID, out.Failure, reason)
		done = &w.Done
	default:
		var b *runner.Blocked
		b, err = l.r.MarkRunBlocked(l.work, protocol.Block{
			BlockedOn:   "dispatch:" + class,
			Category:    "dispatch_error",
			TypedReason: "dispatch_error",
			Owner:       run.OwnerHuman,
			Action:      mend(out.Recovery, f.turn.TurnID),
			Detail:      reason,
			TurnID:      f.turn.TurnID,
		})
		done = &b.Done
	}
	l.blockedNow(f, done, err, named(f.turn)+": "+reason, "")
}

// mend returns what a person does about a blocked dispatch. The run stays blocked until they say
// so, whatever a runtime reported about its own trouble. A change to the configuration is not the
// agent's work, but lies in the tree that the turn answers for: it is committed, and the turn
// restarted on top of it.
func mend(recovery, turnID string) string {
	const unblock = "git agentxchain unblock"
	what := recovery
	for _, end := range []string{unblock, " then:", ".", ","} {
		what = strings.TrimRight(strings.TrimSuffix(what, end), " ")
	}
	switch {
	case what == "":
		what = "Mend what kept the turn from being carried out"
	case strings.Contains(what, wire.ConfigPath):
		return what + ", commit it, then run: git agentxchain reissue " + turnID + " --take-commits"
	case strings.Contains(what, "git agentxchain "):
		return recovery
	}
	return what + ", then run: " + unblock
}

// timedOut stops the run because a turn's time was up.
func (l *loop) timedOut(f *flight) {
	had := f.left
	if !f.over {
		had = l.clock.Now().Sub(f.began)
	}
	reason := fmt.Sprintf("%s was not done within %s", named(f.turn), max(0, had).Round(time.Millisecond))
	if f.out.Reason != "" {
		reason += ": " + strings.TrimSuffix(f.out.Reason, ".")
	}
	l.rememberBlock(f, "timeout", reason)
	b, err := l.r.DispatchTimedOut(l.work, attempt.DispatchTimeout{
		TurnID:  f.turn.TurnID,
		Scope:   f.job.Scope,
		LimitMS: int(max(0, had).Milliseconds()),
	})
	l.blockedNow(f, &b.Done, err, reason, "timeout:"+f.job.Scope)
}

// blockedNow takes note of a block that the loop has asked for. An existing block stays: it says
// what a person has to do.
func (l *loop) blockedNow(f *flight, done *runner.Done, err error, what, reason string) {
	l.adopt(done, err)
	l.report(what, nil)
	if err != nil && !overtaken(err) {
		l.fail(Blocked, "the run could not be blocked on turn "+f.turn.TurnID, err)
		return
	}
	if l.reload() {
		l.emit(Event{Type: EventBlocked, Reason: reason})
		l.stop(Blocked, "")
	}
}
