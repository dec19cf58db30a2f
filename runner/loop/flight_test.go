package loop_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// hastyClock lets short waits pass at once and notes how long they were.
type hastyClock struct {
	mu    sync.Mutex
	waits []time.Duration
}

func (c *hastyClock) Now() time.Time { return time.Now() }

func (c *hastyClock) After(d time.Duration) (<-chan time.Time, func()) {
	if d < 2*time.Second || d > 10*time.Minute {
		return loop.SystemClock().After(d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	now := make(chan time.Time, 1)
	now <- time.Now()
	return now, func() {}
}

// A dispatch that the provider had no capacity for is repeated after ever longer waits and costs no
// attempt; in the end a person is asked.
func TestBusyProviderIsAskedAgain(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	clock := &hastyClock{}
	var tries []int
	var told []string // nothing else moves during these pauses
	res, _ := run(p, loop.Options{
		MaxTurns: 1,
		OnActivity: func(_ string, a runtimes.Activity) {
			if a.Type == loop.ActivityWaiting {
				told = append(told, a.Summary)
			}
		},
		Clock:  clock,
		Jitter: func() float64 { return 0 },
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			tries = append(tries, d.Try)
			switch d.Try {
			case 3:
				return returned(d.Turn)
			case 1:
				return &runtimes.Outcome{
					Kind:       runtimes.Blocked,
					Class:      runtimes.ClassRateLimited,
					Reason:     "busy.",
					Retryable:  true,
					RetryAfter: 3 * time.Minute,
				}
			}
			return &runtimes.Outcome{
				Kind:      runtimes.Blocked,
				Class:     runtimes.ClassRateLimited,
				Reason:    "busy",
				Retryable: true,
			}
		},
	})
	if res.TurnsExecuted != 1 || len(res.TurnHistory) != 1 || res.TurnHistory[0].Attempt != 1 ||
		!slices.Equal(tries, []int{0, 1, 2, 3}) ||
		!slices.Equal(clock.waits, []time.Duration{2 * time.Second, 3 * time.Minute, 8 * time.Second}) {
		t.Fatalf("%+v tries %v waits %v", res, tries, clock.waits)
	}
	if want := []string{"busy; dispatched again in 2s", "busy; dispatched again in 3m0s",
		"busy; dispatched again in 8s"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	always := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		return &runtimes.Outcome{
			Kind:      runtimes.Blocked,
			Class:     runtimes.ClassRateLimited,
			Reason:    "busy",
			Retryable: true,
		}
	}
	clock.waits = nil
	if res, _ := run(p, loop.Options{
		Clock:    clock,
		Jitter:   func() float64 { return 0 },
		Dispatch: always,
	}); res.StopReason != loop.Blocked || *res.State.BlockedOn != "dispatch:rate_limited" || len(clock.waits) != 5 {
		t.Fatalf("%+v waits %v", res, clock.waits)
	}
}

// A wait too long to count is too long to wait for.
func TestEndlessWaitIsNotBegun(t *testing.T) {
	clock := &hastyClock{}
	res, _ := run(newProject(t, 1, []string{"dev"}, nil), loop.Options{
		Clock:  clock,
		Jitter: func() float64 { return 1 },
		Dispatch: func(context.Context, *loop.Dispatch) *runtimes.Outcome {
			return &runtimes.Outcome{
				Kind:       runtimes.Blocked,
				Class:      runtimes.ClassRateLimited,
				Reason:     "busy",
				Retryable:  true,
				RetryAfter: math.MaxInt64,
			}
		},
	})
	if res.StopReason != loop.Blocked || len(clock.waits) != 0 {
		t.Fatalf("%+v waits %v", res, clock.waits)
	}
}

// A long dispatch is recorded while it goes on: the process and the first output.
func TestSlowTurnIsRecordedAsRunning(t *testing.T) {
	testrepo.Serving(t)
	p := newProject(t, 1, []string{"dev"}, nil)
	other := *p
	other.open()
	res, _ := run(p, loop.Options{
		MaxTurns: 1,
		Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
			wait := func(status string) *agentrun.Turn {
				for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
					if turn, ok := other.state().ActiveTurns.Get(d.Turn.TurnID); ok && turn.Status == status {
						return turn
					}
				}
				t.Error("the turn never was " + status)
				return d.Turn
			}
			d.Activity(runtimes.Activity{Type: "starting", PID: 4711})
			starting := wait(wire.TurnStarting)
			d.Activity(runtimes.Activity{Type: "output", PID: 4711, Stream: "stderr"})
			d.Activity(runtimes.Activity{Type: "output", PID: 4711, Stream: "stdout"})
			running := wait(wire.TurnRunning)
			if pid, _ := starting.Extra.Get("worker_pid"); pid != ojson.Of(4711) {
				t.Errorf("worker_pid %v", pid)
			}
			if stream, _ := running.Extra.Get("first_output_stream"); stream != "stdout" {
				t.Errorf("first_output_stream %v", stream)
			}
			return returned(d.Turn)
		},
		DispatchLimit: 30 * time.Second,
	})
	if res.TurnsExecuted != 1 || p.history()[0].String("started_at") == "" {
		t.Fatalf("%+v", res)
	}
}

// A limit of the phase ends a dispatch like one of the turn, and is named.
func TestPhaseLimitEndsTheDispatch(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, func(cfg *ojson.Object) {
		cfg.Set("timeouts", ojson.NewObject("per_turn_minutes", 60, "per_phase_minutes", 1))
	})
	p.assign("dev")
	res, _ := run(p, loop.Options{
		Clock: &laterClock{by: 2 * time.Minute},
		Dispatch: func(context.Context, *loop.Dispatch) *runtimes.Outcome {
			t.Error("dispatched although the phase was over")
			return nil
		},
	})
	if res.StopReason != loop.Blocked || *res.State.BlockedOn != "timeout:phase" ||
		!strings.Contains(strings.Join(res.Errors, ""), "not done within") {
		t.Fatalf("%+v", res)
	}
}

// laterClock is ahead of the run's.
type laterClock struct{ by time.Duration }

func (c *laterClock) Now() time.Time { return time.Now().Add(c.by) }

func (c *laterClock) After(d time.Duration) (<-chan time.Time, func()) {
	return loop.SystemClock().After(d)
}
