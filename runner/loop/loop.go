// The run loop: turns one after another or side by side, until there is a reason to stop.

package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// loop is one run of Run. All of it belongs to the goroutine of Run; a flight communicates with it
// only through done.
type loop struct {
	r     *runner.Runner
	opt   Options
	ctx   context.Context // ends when the caller gives up
	work  context.Context // of operations: a recorded step is never cut short
	res   *Result
	clock Clock

	cfg   *config.Config
	view  *runner.View // the run as it was last read
	stale bool         // the view has to be read again
	spent float64      // what the run had cost when the loop began, US dollars

	flights   map[string]*flight // turns being carried out
	order     []*flight          // the same in the order of their launch
	here      map[*flight]bool   // landed out of order, see Options.Ordered
	waiting   []*flight          // done, but not to be judged before their siblings
	parked    map[string]bool    // turns that a person works on
	fresh     map[string]int     // attempts this loop has dispatched or seen assigned
	done      chan *flight
	watched   time.Time // when the attempts under way were last looked at
	heard     time.Time // when the remote was last asked what became of them
	stopped   bool
	polls     int             // looks at the remote since it last had something new
	elsewhere map[string]bool // turns that other clones worked on at the last look
	owed      map[string]int  // turns of other machines whose commit was waited for, and how often
	release   []func()        // releases the locks that make this the only loop
	judged    bool            // a turn was carried out, or its staged result judged
}

// Run drives the run of r's project until it is complete or something stops it. The result is never
// nil; it contains any error.
func Run(ctx context.Context, r *runner.Runner, opt Options) *Result {
	l := &loop{
		r:       r,
		opt:     opt.withDefaults(),
		ctx:     ctx,
		work:    context.WithoutCancel(ctx),
		res:     &Result{TurnHistory: []HistoryEntry{}, Errors: []string{}},
		flights: make(map[string]*flight),
		here:    make(map[*flight]bool),
		parked:  make(map[string]bool),
		fresh:   make(map[string]int),
		done:    make(chan *flight),
	}
	l.clock = l.opt.Clock
	l.heard = l.clock.Now()
	if l.opt.Claim > 0 {
		l.work = runner.OnRemote(l.work)
	}
	if l.opt.Dispatch == nil {
		l.fail(InitFailed, "no dispatch callback is set", nil)
		return l.finish()
	}
	if !l.alone(r.Drive(ctx)) {
		return l.finish()
	}
	defer func() {
		for _, release := range l.release {
			release()
		}
	}()
	if l.start() {
		l.drive()
	}
	return l.finish()
}

// alone keeps the release of a lock that makes this the only loop, or fails.
func (l *loop) alone(release func(), err error) bool {
	switch {
	case err == nil:
		l.release = append(l.release, release)
		return true
	case runner.ErrorCode(err) == "locked":
		l.fail(AdmissionRejected, "another loop drives this run", err)
		l.res.Cause = CauseLoopRunning
	default:
		l.fail(InitFailed, "the run cannot be driven", err)
	}
	return false
}

// drive repeats: decide whether to go on, keep the slots filled, wait for a turn.
func (l *loop) drive() {
	for {
		l.decide()
		// A run that is no longer active, or not known to be, is read again first.
		moved := l.view != nil && (l.stale || l.state().Status != wire.StatusActive)
		if !l.stopped && !moved {
			moved = l.fill()
		}
		switch {
		case len(l.flights) > 0:
			l.await()
		case len(l.waiting) > 0:
			l.judgeWaiting()
		case l.stopped:
			return
		case !moved && len(l.elsewhere) > 0:
			l.leaveToOthers()
		case !moved && len(l.parked) > 0:
			l.stop(CallerStopped, CauseAwaitingPerson)
			l.emit(Event{Type: EventCallerStopped})
		case !moved:
			l.stop(CallerStopped, "")
			l.emit(Event{Type: EventCallerStopped})
		}
	}
}

// decide looks for a reason to stop. It waits for turns that are under way.
func (l *loop) decide() {
	if l.stopped {
		return
	}
	if l.ctx.Err() != nil {
		l.stop(CallerStopped, CauseCancelled)
		return
	}
	if !l.reload() {
		return
	}
	s := l.state()
	switch s.Status {
	case wire.StatusCompleted:
		l.emit(Event{Type: EventCompleted})
		l.stop(Completed, "")
	case wire.StatusBlocked:
		l.emit(Event{Type: EventBlocked})
		l.stop(Blocked, "")
	case wire.StatusPaused:
		if l.onceDone() {
			return
		}
		if len(l.flights)+len(l.waiting) == 0 {
			l.gate()
		}
	case wire.StatusActive:
		if !l.onceDone() && !l.retryGate() {
			l.limits(s)
		}
	case wire.StatusFailed:
		l.fail(Blocked, "the run was given up", nil)
	default:
		l.fail(Blocked, fmt.Sprintf("the run is %s", s.Status), nil)
	}
}

// limits stops a healthy run for the caller's reasons.
func (l *loop) limits(s *run.State) {
	switch {
	case l.res.TurnsExecuted >= l.opt.MaxTurns:
		l.stop(MaxTurnsReached, "")
	case l.opt.MaxCostUSD > 0 && s.BudgetStatus.SpentUSD-l.spent >= l.opt.MaxCostUSD:
		l.stop(MaxTurnsReached, CauseCostLimit)
	case s.ActiveTurns.Len() == 0:
		p := l.r.PriorityIntent()
		switch {
		case p == nil:
		case p.For(s.Run()):
			// The next assigned turn works on it.
			if l.res.PreemptedBy != p.ID {
				l.res.PreemptedBy = p.ID
				l.emit(Event{Type: EventPriorityInjected, IntentID: p.ID, Priority: p.Priority})
			}
		default:
			l.res.PreemptedBy = p.ID
			l.emit(Event{Type: EventPriorityInjected, IntentID: p.ID, Priority: p.Priority})
			l.stop(PriorityPreempted, "")
			return
		}
		// The next turn would work on files without the proposed work.
		switch waiting, err := l.r.WaitingProposals(l.work, l.view); {
		case err != nil:
			l.fail(Blocked, "the proposals cannot be read", err)
		case len(waiting) > 0:
			l.stop(CallerStopped, CauseProposalWaits)
			l.emit(Event{Type: EventCallerStopped})
		}
	}
}

// onceDone stops a loop that was to carry out one turn and has done so.
func (l *loop) onceDone() bool {
	if l.opt.Once && l.judged {
		l.stop(MaxTurnsReached, "")
	}
	return l.stopped
}

func (l *loop) state() *run.State { return l.view.State }

// reload reads the run again when something may have happened to it.
func (l *loop) reload() bool {
	if !l.stale && l.view != nil {
		return true
	}
	if err := l.look(); err != nil {
		l.fail(Blocked, "the run cannot be read", err)
		return false
	}
	return true
}

// look reads the run and the configuration.
func (l *loop) look() error {
	v, err := try(func() (*runner.View, error) { return l.r.View(l.work) })
	if err == nil && len(v.ConfigProblems) > 0 {
		err = config.Refusal(v.ConfigProblems)
	}
	if err == nil {
		l.view, l.cfg, l.stale = v, v.Config, false
	}
	return err
}

// try carries out an operation, again when another process was faster: a git that a killed loop had
// started may still move the run's ref or hold the index.
func try[T any](op func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		out, err := op()
		if n == maxTries || !transient(err) {
			return out, err
		}
		time.Sleep(firstPause << n)
	}
}

const (
	maxTries   = 6
	firstPause = 10 * time.Millisecond
)

func transient(err error) bool {
	switch runner.ErrorCode(err) {
	case "ref_moved", "state_moved", "lock_lost":
		return true
	}
	return err != nil && strings.Contains(err.Error(), "index.lock")
}

// adopt takes the result of an operation as the present state of the run.
func (l *loop) adopt(d *runner.Done, err error) {
	if err != nil || d == nil || d.Transition == nil || d.State == nil {
		l.stale = true // a refusal means that something differs from the view
		return
	}
	v := *l.view
	v.Run, v.Op, v.State, v.Index = d.Run, d.Op, d.State, d.Transition.Index
	l.view = &v
}

// stop notes why the loop ends; the first reason counts.
func (l *loop) stop(reason StopReason, cause string) {
	if !l.stopped {
		l.stopped, l.res.StopReason, l.res.Cause = true, reason, cause
	}
}

// fail stops like stop and reports an error.
func (l *loop) fail(reason StopReason, what string, err error) {
	l.report(what, err)
	l.stop(reason, "")
}

// report keeps an error in the result; the first refusal is kept as a value too.
func (l *loop) report(what string, err error) {
	if err == nil {
		l.res.Errors = append(l.res.Errors, what)
		return
	}
	l.res.Errors = append(l.res.Errors, what+": "+err.Error())
	if l.res.Err == nil && !errors.Is(err, context.Canceled) {
		l.res.Err = err
	}
}

// finish completes the result.
func (l *loop) finish() *Result {
	if l.res.StopReason != AdmissionRejected && l.res.StopReason != InitFailed {
		if v, err := l.r.View(l.work); err == nil {
			l.res.State = v.State
		} else if l.view != nil {
			l.res.State = l.view.State
		}
	}
	l.res.OK = l.res.StopReason == Completed
	return l.res
}
