// A turn on its way: a goroutine that has it carried out, holds it to its time and repeats the
// dispatch when the other side was merely too busy.

package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// flight is one dispatch, with all its repetitions.
type flight struct {
	turn  *run.Turn
	job   Dispatch
	began time.Time
	left  time.Duration // time it has

	claimed time.Time // when the turn was last claimed or renewed

	out   *runtimes.Outcome
	threw string // panic of the callback, "" for none
	late  bool   // the callback did not return in time
	over  bool   // the deadline had passed

	halt   chan struct{} // closed to end the dispatch
	halted bool          // it is closed

	mu     sync.Mutex
	pid    int
	stream string // of the first proof of life
	told   string // recorded status
	broken string // panic of OnActivity
}

var (
	errDeadline = errors.New("the time of the dispatch is up")
	errEnded    = errors.New("the attempt is over")
)

const (
	maxWait = 2 * time.Minute // before a dispatch is repeated, unless the provider asks for more
	minWait = 2 * time.Second

	// slowAfter is how long a dispatch may take before its progress is recorded: a record costs a
	// commit, and a short turn has nothing to report.
	slowAfter = time.Second

	// watchEvery is how often the loop looks whether the attempts under way still count.
	watchEvery = time.Second

	// hearEvery is how often a loop that claims its turns asks the remote while agents work.
	hearEvery = 30 * time.Second
)

// launch prepares the flight of a turn; the caller starts it.
func (l *loop) launch(turn *run.Turn) *flight {
	now := l.clock.Now()
	f := &flight{turn: turn, began: now, claimed: now, told: wire.TurnDispatched, halt: make(chan struct{})}
	f.job = Dispatch{
		Turn:        turn,
		View:        l.view,
		Root:        root(l.r),
		BundlePath:  wire.BundleDir(turn.TurnID),
		StagingPath: wire.StagingPath(turn.TurnID),
	}
	f.job.Deadline, f.job.Scope = l.deadline(turn, now)
	f.left = f.job.Deadline.Sub(now)
	f.job.Activity = func(a runtimes.Activity) { f.note(l.opt.OnActivity, a) }
	l.flights[turn.TurnID] = f
	l.order = append(l.order, f)
	return f
}

// deadline returns the earliest limit of a turn, and its scope. A limit that only warns ends
// nothing.
func (l *loop) deadline(turn *run.Turn, now time.Time) (first time.Time, scope string) {
	sooner := func(at time.Time, of string) {
		if first.IsZero() || at.Before(first) {
			first, scope = at, of
		}
	}
	at, err := wire.ParseTime(turn.DeadlineAt)
	if err != nil {
		at = limits.TurnDeadline(l.cfg, now)
	}
	if t := l.cfg.Timeouts; t != nil && t.PerTurn != nil && t.Action == config.TimeoutWarn {
		// A limit that only warns ends nothing, but nothing runs for ever either.
		if plain := limits.TurnDeadline(&config.Config{}, now); plain.After(at) {
			at = plain
		}
	}
	sooner(at, "turn")
	for _, b := range limits.TimeoutBudgets(l.cfg, l.state(), nil, now) {
		if b.Action == config.TimeoutEscalate {
			sooner(b.Deadline, b.Scope)
		}
	}
	if l.opt.DispatchLimit > 0 {
		sooner(now.Add(l.opt.DispatchLimit), "turn")
	}
	return first, scope
}

// note keeps an agent's process and first output stream for the record and passes the activity on.
func (f *flight) note(tell func(string, runtimes.Activity), a runtimes.Activity) {
	f.mu.Lock()
	if a.PID > 0 {
		f.pid = a.PID
	}
	if f.stream == "" && attempt.ProofStream(a.Stream) {
		f.stream = a.Stream
	}
	f.mu.Unlock()
	if tell == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			f.mu.Lock()
			f.broken = fmt.Sprintf("the activity callback crashed: %v", p)
			f.mu.Unlock()
		}
	}()
	tell(f.turn.TurnID, a)
}

// fly carries the turn out and hands over the flight.
func (l *loop) fly(f *flight) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	expired, giveUp := l.clock.After(max(0, f.left))
	defer giveUp()
	go func() {
		select {
		case <-expired:
			cancel(errDeadline)
		case <-f.halt:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	if f.left <= 0 {
		f.over = true // overdue before it began
	} else {
		l.tries(ctx, f)
		f.over = errors.Is(context.Cause(ctx), errDeadline)
	}
	l.done <- f
}

// tries makes the dispatch, and repeats it while that is promised to help.
func (l *loop) tries(ctx context.Context, f *flight) {
	for ; ; f.job.Try++ {
		l.call(ctx, f)
		if f.out == nil || f.out.Kind != runtimes.Blocked || !f.out.Retryable || f.job.Try >= l.opt.Retries {
			return
		}
		wait := min(minWait<<min(f.job.Try, 10), maxWait)
		wait = max(wait, f.out.RetryAfter)
		left := f.job.Deadline.Sub(l.clock.Now())
		if wait <= left { // the requested wait may be too long to be multiplied
			wait += time.Duration(float64(wait) * 0.25 * l.opt.Jitter())
		}
		if wait > left {
			return
		}
		f.job.Activity(runtimes.Activity{
			Type:    ActivityWaiting,
			Summary: fmt.Sprintf("%s; dispatched again in %s", strings.TrimSuffix(f.out.Reason, "."), wait.Round(time.Second)),
		})
		again, giveUp := l.clock.After(wait)
		select {
		case <-again:
		case <-ctx.Done():
			giveUp()
			f.out = &runtimes.Outcome{Kind: runtimes.Aborted}
			return
		}
	}
}

// call makes one dispatch. It gives up a callback that does not return after its context has ended,
// and ignores what that still returns.
func (l *loop) call(ctx context.Context, f *flight) {
	type answer struct {
		out   *runtimes.Outcome
		threw string
	}
	job := f.job
	back := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.threw = fmt.Sprint(p)
			}
			back <- a
		}()
		a.out = l.opt.Dispatch(ctx, &job)
	}()
	take := func(a answer) { f.out, f.threw = a.out, a.threw }
	select {
	case a := <-back:
		take(a)
		return
	case <-ctx.Done():
	}
	grace, giveUp := l.clock.After(l.opt.Grace)
	defer giveUp()
	select {
	case a := <-back:
		take(a)
	case <-grace:
		f.out, f.late = &runtimes.Outcome{Kind: runtimes.Aborted}, true
	}
}

// await waits for a turn, and meanwhile records the progress of slow ones and ends those that no longer count.
func (l *loop) await() {
	if first := l.order[0]; l.here[first] {
		l.landed(first)
		return
	}
	var tick <-chan time.Time
	if d, any := l.untilSlow(); any && !l.stopped {
		var giveUp func()
		tick, giveUp = l.clock.After(d)
		defer giveUp()
	}
	renew, giveUp := l.untilRenewal()
	defer giveUp()
	watch, giveUp := l.clock.After(max(0, l.watched.Add(watchEvery).Sub(l.clock.Now())))
	defer giveUp()
	hear, giveUp := l.untilHeard()
	defer giveUp()
	gone := l.ctx.Done()
	if l.stopped {
		gone = nil // already known
	}
	select {
	case f := <-l.done:
		l.landed(f)
	case <-tick:
		l.advance()
	case <-renew:
		l.renew()
	case <-watch:
		l.endAttempts()
	case <-hear:
		l.hear()
	case <-gone:
		l.stop(CallerStopped, CauseCancelled)
	}
}

// landed removes a flight from the board; when turns are judged in the order of their launch, it
// removes the first one, and one at a time: how many have landed meanwhile must decide nothing.
func (l *loop) landed(f *flight) {
	if l.opt.Ordered {
		l.here[f] = true
		for !l.here[l.order[0]] {
			l.here[<-l.done] = true
		}
		f = l.order[0]
		delete(l.here, f)
	}
	l.settle(f)
	l.judgeWaiting()
}

// untilSlow returns the time until the next flight counts as slow.
func (l *loop) untilSlow() (time.Duration, bool) {
	now, found := l.clock.Now(), false
	var least time.Duration
	for _, f := range l.order {
		if f.told == wire.TurnRunning {
			continue
		}
		d := max(slowAfter/2, f.began.Add(slowAfter).Sub(now))
		if !found || d < least {
			least, found = d, true
		}
	}
	return least, found
}

// advance records starting and running for slow flights.
func (l *loop) advance() {
	now := l.clock.Now()
	for _, f := range l.order {
		if f.told == wire.TurnRunning || now.Sub(f.began) < slowAfter {
			continue
		}
		f.mu.Lock()
		op := attempt.AdvanceTurn{TurnID: f.turn.TurnID, PID: f.pid, Stream: f.stream}
		f.mu.Unlock()
		switch {
		case op.Stream != "":
			op.Status = wire.TurnRunning
		case op.PID > 0:
			op.Status = wire.TurnStarting
		}
		if op.Status == "" || op.Status == f.told || l.over(f) {
			continue
		}
		out, err := l.r.AdvanceTurn(l.work, op)
		l.adopt(&out.Done, err)
		// The operation that matters reports a refusal; this one is not tried again.
		f.told = op.Status
		if err != nil {
			f.told = wire.TurnRunning
		}
	}
}
