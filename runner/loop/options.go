// What a caller gives the loop: callbacks, limits, how a run starts.

package loop

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// DispatchFunc has one turn carried out. It is called in a goroutine of its own, one for each turn
// under way, and has to return soon after ctx ends. The loop judges what it returns; for nil or a
// panic see Options.
type DispatchFunc func(ctx context.Context, d *Dispatch) *runtimes.Outcome

// Dispatch is a turn to be carried out.
type Dispatch struct {
	Turn        *run.Turn
	View        *runner.View // the run with the turn in it
	Root        string       // absolute directory of the project
	BundlePath  string       // project-relative, slash-separated
	StagingPath string
	Deadline    time.Time // never zero
	Scope       string    // whose limit the deadline is: turn, phase, run
	Try         int       // 0, then 1, 2, … when the dispatch is repeated because of the provider

	// Activity takes signs of life of the agent; safe for concurrent use.
	Activity func(runtimes.Activity)
}

// GateRequest is a gate that waits for a person.
type GateRequest struct {
	Type  string // phase_transition, run_completion
	Gate  string
	From  string
	To    string // "" for a completion
	State *run.State
}

// AfterAccept is a turn that has been accepted.
type AfterAccept struct {
	Turn     *run.Turn
	Accepted *runner.Accepted
}

// Options configures a loop. Dispatch is required. A callback that panics or returns an error does
// no harm: SelectRole stops the loop with dispatch_error, so does a Dispatch that panics in a phase
// of one turn at a time (side by side it counts as a rejection), ApproveGate stops with blocked,
// AfterAccept with blocked; for OnEvent and OnActivity the error is only kept.
type Options struct {
	// NextRole when nil; "" stops
	SelectRole func(ctx context.Context, s *run.State, c *config.Config) (string, error)
	// FirstRole gets the first new turn, before the choice of SelectRole; if it is refused that turn, no other role
	// gets it.
	FirstRole   string
	Dispatch    DispatchFunc
	ApproveGate func(ctx context.Context, g GateRequest) (bool, error) // nil holds every gate
	AfterAccept func(ctx context.Context, a AfterAccept) error
	OnEvent     func(Event)
	OnActivity  func(turnID string, a runtimes.Activity) // called from the agents' goroutines

	MaxTurns   int     // accepted turns; 0 takes run_loop.max_turns of the configuration, 50 by default
	MaxCostUSD float64 // of this loop's turns; 0 means no limit

	// How a run starts (docs/run-loop.md).
	Start             runner.InitRunOptions
	NewRun            bool // start another run when the last one is complete
	NewRunFromBlocked bool // also when it is blocked: that run is ended for good

	// Once carries out one turn, judged once, and stops with max_turns_reached: the
	// active turn Turn, or a new one when that is "".
	Once bool
	Turn string

	// Claim is how long each turn is claimed before it is dispatched; the claim is renewed at half
	// time. Every operation is then decided on the remote, the branch is pushed along, and the loop
	// waits while other clones work on all turns. 0 claims nothing.
	Claim time.Duration
	Poll  time.Duration // first wait before another look at the remote, then doubled each time: 1 s when 0

	NoCheckpoint bool // leave the files of accepted turns uncommitted
	AllowActions bool // gate actions may run on approval

	DispatchLimit time.Duration // of one dispatch, besides the limits of turn, phase and run; 0 is none
	Retries       int           // of a dispatch that is retryable: 5 when 0, none when negative
	Grace         time.Duration // for a dispatch to return after its end: 30 s when 0
	Ordered       bool          // judge turns in the order of their launch, not of their end

	Clock  Clock          // the system's when nil
	Jitter func() float64 // in [0, 1); random when nil
}

const (
	defaultRetries = 5
	defaultGrace   = 30 * time.Second
	defaultPoll    = time.Second
	maxPoll        = 30 * time.Second
)

func (o Options) withDefaults() Options {
	if o.SelectRole == nil {
		o.SelectRole = func(_ context.Context, s *run.State, c *config.Config) (string, error) {
			return NextRole(s, c)
		}
		o.Start.Admit = true // a run in which nothing could be done is not begun
	}
	o.Start.Role = o.FirstRole
	switch {
	case o.Retries == 0:
		o.Retries = defaultRetries
	case o.Retries < 0:
		o.Retries = 0
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return o
}

// NextRole returns the next role in the protocol's own order (docs/run-loop.md): a due delegation
// review, delegated work, the charter, the legal recommendation, the phase's entry role, the first
// role. It is "" while active turns work on what the charters of the phase wait for.
func NextRole(s *run.State, c *config.Config) (string, error) {
	role, _, err := protocol.ResolveRole(c, s, "")
	if err != nil && err.Code == wire.CodeChartersWait && s.ActiveTurns.Len() > 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return role, nil
}

// Clock is the time source of a loop. After returns a channel that fires once, and a function that
// cancels it.
type Clock interface {
	Now() time.Time
	After(d time.Duration) (<-chan time.Time, func())
}

// SystemClock returns the clock of this machine.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
