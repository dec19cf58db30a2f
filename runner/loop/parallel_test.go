package loop_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// A slot is reused as soon as its turn is accepted; it does not wait for the slowest.
func TestFreeSlotIsFilledAtOnce(t *testing.T) {
	p := newProject(t, 2, []string{"a", "b"}, nil)
	quick := make(chan int, 20)
	res, types := run(p, loop.Options{
		MaxTurns: 5,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			if d.Turn.AssignedSequence == 1 {
				for range 3 {
					<-quick // is still at work when the third turn begins beside it
				}
			} else {
				quick <- 1
			}
			return returned(d.Turn)
		},
	})
	if res.TurnsExecuted != 5 || !slices.Contains(types, "parallel_dispatch") {
		t.Fatalf("%+v %v", res, types)
	}
}

// Two parallel turns change the same file: the second is sent back with the first one's work before
// it, and then passes.
func TestConflictIsSentBack(t *testing.T) {
	p := newProject(t, 2, []string{"a", "b"}, nil)
	p.write("src/x.txt", "0\n")
	git(t, p.dir, "add", "-A")
	git(t, p.dir, "commit", "-qm", "x")
	var both sync.WaitGroup
	both.Add(2)
	var mu sync.Mutex
	told := 0
	res, types := run(p, loop.Options{
		MaxTurns: 2,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			if d.Turn.Attempt == 1 {
				both.Done()
				both.Wait()
			} else if files := d.Turn.ConflictContext.Strings("conflicting_files"); slices.Equal(files,
				[]string{"src/x.txt"}) {
				told++
			}
			mu.Lock()
			appendLine(p.dir+"/src/x.txt", d.Turn.TurnID+fmt.Sprint(d.Turn.Attempt))
			mu.Unlock()
			return returned(d.Turn, "files_changed", []string{"src/x.txt"},
				"artifact", ojson.NewObject("type", "workspace"))
		},
	})
	if res.TurnsExecuted != 2 || told != 1 || !slices.Contains(types, "turn_conflicted") ||
		!slices.Contains(types, "turn_rejected") || len(res.TurnHistory) != 3 {
		t.Fatalf("%+v %v told %d", res, types, told)
	}
	if e := res.TurnHistory[1]; e.Accepted || e.ErrorCode != wire.CodeConflict || e.Conflict == nil {
		t.Fatalf("%+v", e)
	}
}

// A turn whose sibling has still undeclared changes in the tree is not sent back for them: it waits
// until the sibling has staged its result.
func TestUndeclaredWorkOfSiblingIsWaitedFor(t *testing.T) {
	p := newProject(t, 2, []string{"a", "b"}, nil)
	wrote, first := make(chan bool), make(chan bool)
	var once sync.Once
	res, types := run(p, loop.Options{
		MaxTurns: 2,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			name := "src/" + d.Turn.AssignedRole + ".txt"
			p.write(name, "x\n")
			if d.Turn.AssignedRole == "a" {
				<-wrote
				defer once.Do(func() { close(first) })
			} else {
				wrote <- true
				<-first
				time.Sleep(50 * time.Millisecond) // a's result is looked at meanwhile
			}
			return returned(d.Turn, "files_changed", []string{name}, "artifact", ojson.NewObject("type", "workspace"))
		},
	})
	if res.TurnsExecuted != 2 || slices.Contains(types, "turn_rejected") || len(res.TurnHistory) != 2 ||
		len(res.Errors) != 0 {
		t.Fatalf("%+v %v", res, types)
	}
}

// One slot's block does not lose what the other slot has done.
func TestBlockLetsSiblingsFinish(t *testing.T) {
	p := newProject(t, 2, []string{"a", "b"}, nil)
	blocked := make(chan bool)
	res, _ := run(p, loop.Options{Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		if d.Turn.AssignedRole == "a" {
			close(blocked)
			return &runtimes.Outcome{Kind: runtimes.Blocked, Class: "auth_failure", Reason: "no key"}
		}
		<-blocked
		time.Sleep(100 * time.Millisecond)
		return returned(d.Turn)
	}})
	if res.StopReason != loop.Blocked || res.State.ActiveTurns.Len() != 2 {
		t.Fatalf("%+v", res)
	}
	p.reactivate()
	asked := 0
	res, _ = run(p, loop.Options{MaxTurns: 2, Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		if asked++; d.Turn.AssignedRole != "a" {
			t.Errorf("%s is asked again", d.Turn.AssignedRole)
		}
		return returned(d.Turn)
	}})
	if res.TurnsExecuted != 2 || asked != 1 {
		t.Fatalf("%+v %d", res, asked)
	}
}

// A delegation's review runs alone.
func TestDelegationReviewRunsAlone(t *testing.T) {
	p := newProject(t, 3, []string{"lead", "a", "b"}, nil)
	var mu sync.Mutex
	now := map[string]bool{}
	reviewed := false
	res, _ := run(p, loop.Options{MaxTurns: 4, Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		mu.Lock()
		now[d.Turn.TurnID] = true
		if d.Turn.DelegationReview != nil {
			reviewed = true
		}
		mu.Unlock()
		time.Sleep(40 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if d.Turn.DelegationReview != nil && len(now) != 1 {
			t.Errorf("%d turns are at work beside the review", len(now)-1)
		}
		delete(now, d.Turn.TurnID)
		if d.Turn.AssignedRole == "lead" && d.Turn.DelegationReview == nil {
			del := func(id, to string) *ojson.Object {
				return ojson.NewObject("id", id, "to_role", to, "charter", "do it",
					"acceptance_contract", []string{"it is done"})
			}
			return returned(d.Turn, "delegations", []*ojson.Object{del("del-001", "a"), del("del-002", "b")},
				"proposed_next_role", "a")
		}
		return returned(d.Turn, "proposed_next_role", "lead")
	}, SelectRole: func(_ context.Context, s *agentrun.State, c *config.Config) (string, error) {
		waits := slices.ContainsFunc(s.DelegationQueue,
			func(d *agentrun.Delegation) bool { return d.Status == "pending" })
		if s.ActiveTurns.Len() > 0 && !waits && s.PendingDelegation == nil {
			return "", nil // only delegated work runs side by side
		}
		return loop.NextRole(s, c)
	}})
	if res.TurnsExecuted != 4 || !reviewed {
		t.Fatalf("%+v, reviewed %v", res, reviewed)
	}
}
