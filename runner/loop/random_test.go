package loop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// stopReasons is the closed set of stop reasons.
var stopReasons = []loop.StopReason{
	loop.Completed, loop.AdmissionRejected, loop.InitFailed, loop.Blocked, loop.GateHeld, loop.MaxTurnsReached,
	loop.PriorityPreempted, loop.CallerStopped, loop.DispatchError, loop.RejectExhausted, loop.ConflictLoop,
	loop.ConflictStall,
}

// TestRandomAgents lets loops of one to four slots drive agents that do anything an agent can do,
// lifts every block and goes on. Whatever happens: every loop ends for a reason of the closed set,
// its report matches the record, no turn is accepted twice, nothing is left unfinished, and the
// record replays.
func TestRandomAgents(t *testing.T) {
	testrepo.Serving(t)
	seeds := 4
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			randomRun(t, uint64(seed))
		})
	}
}

func randomRun(t *testing.T, seed uint64) {
	slots := 1 + int(seed%4)
	p := newProject(t, slots, []string{"a", "b", "c", "d"}[:max(slots, 2)], nil)
	rnd := &lockedRand{rnd: rand.New(rand.NewPCG(seed, 2))}
	ctx := context.Background()
	accepted := 0
	for range 5 {
		inAir := &counter{}
		seen := &events{}
		callCtx, cancel := context.WithCancel(ctx)
		res := loop.Run(callCtx, p.r, loop.Options{
			MaxTurns:      4,
			OnEvent:       seen.on,
			Retries:       -1,
			Grace:         10 * time.Second,
			DispatchLimit: time.Minute,
			Dispatch: func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
				inAir.add(1)
				defer inAir.add(-1)
				return anything(ctx, p, d, rnd, cancel)
			},
		})
		cancel()
		if !slices.Contains(stopReasons, res.StopReason) || res.OK != (res.StopReason == loop.Completed) {
			t.Fatalf("%+v", res)
		}
		if n := inAir.value(); n != 0 {
			t.Fatalf("%d dispatches are still in the air", n)
		}
		said := 0
		for _, e := range res.TurnHistory {
			if e.Accepted {
				said++
			}
		}
		told := len(slices.DeleteFunc(seen.types(), func(s string) bool { return s != loop.EventTurnAccepted }))
		accepted += res.TurnsExecuted
		if said != res.TurnsExecuted || told != said {
			t.Fatalf("%d turns executed, %d in the history, %d events: %+v", res.TurnsExecuted, said, told, res)
		}
		rows := p.history()
		ids := make(map[string]bool)
		for _, row := range rows {
			ids[row.String("turn_id")] = true
		}
		if len(rows) != accepted || len(ids) != len(rows) {
			t.Fatalf("%d turns accepted so far, %d rows of %d turns: %q", accepted, len(rows), len(ids), res.Errors)
		}
		unblock(t, p)
	}
	p.fsck()
}

// unblock acts as a person who lifts any block.
func unblock(t *testing.T, p *project) {
	t.Helper()
	ctx := context.Background()
	for range 5 {
		s := p.state()
		if s.Status != wire.StatusBlocked {
			return
		}
		if _, err := p.r.ReactivateRun(ctx, runner.ReactivateOptions{}); err != nil {
			t.Fatalf("blocked on %s: %v", *s.BlockedOn, err)
		}
	}
}

// anything does a random one of the things that an agent and its runtime can do.
func anything(ctx context.Context, p *project, d *loop.Dispatch, rnd *lockedRand, giveUp func()) *runtimes.Outcome {
	time.Sleep(time.Duration(rnd.n(8)) * time.Millisecond)
	d.Activity(runtimes.Activity{Type: "output", Stream: "stdout", PID: os.Getpid()})
	if ctx.Err() != nil {
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	}
	switch rnd.n(24) {
	case 0:
		return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "no"}
	case 1:
		return &runtimes.Outcome{
			Kind:      runtimes.Blocked,
			Class:     "network_failure",
			Reason:    "unplugged",
			Retryable: true,
		}
	case 2:
		return &runtimes.Outcome{Kind: runtimes.Blocked, Failure: attempt.FailureNoOutput, Reason: "silence"}
	case 3:
		return &runtimes.Outcome{Kind: runtimes.TimedOut}
	case 4:
		return nil
	case 5:
		panic("the agent's runtime broke down")
	case 6:
		giveUp()
		<-ctx.Done()
		return &runtimes.Outcome{Kind: runtimes.Aborted}
	case 7:
		return returned(d.Turn, "status", "needs_human", "needs_human_reason", "which colour?", "proposed_next_role",
			"human")
	case 8:
		return returned(d.Turn, "files_changed", 7)
	case 9:
		return &runtimes.Outcome{Kind: runtimes.Staged}
	}
	if d.Turn.AssignedRole == "a" && rnd.n(2) == 0 {
		// One role writes; others would have to wait for its changes to be committed.
		p.write("src/a.txt", d.Turn.TurnID+fmt.Sprint(rnd.n(1000))+"\n")
		return returned(d.Turn, "files_changed", []string{"src/a.txt"},
			"artifact", ojson.NewObject("type", "workspace"))
	}
	return returned(d.Turn)
}

type lockedRand struct {
	mu  sync.Mutex
	rnd *rand.Rand
}

func (r *lockedRand) n(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rnd.IntN(n)
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add(d int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += d
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
