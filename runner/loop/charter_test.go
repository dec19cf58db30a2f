package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Charters are assigned in the order of their dependencies, side by side where possible; while the
// open ones wait for active turns no other turn is assigned, and the run completes by itself.
func TestChartersAreWorkedOff(t *testing.T) {
	p := newProject(t, 3, []string{"a", "b", "c"}, nil)
	ctx := context.Background()
	charter := func(id, role string, after ...string) *agentrun.Charter {
		return &agentrun.Charter{CharterID: id, Phase: "build", Role: role, Charter: "do " + id, DependsOn: after}
	}
	_, err := p.r.QueueCharters(ctx, runner.CharterOptions{
		Plan: ojson.NewObject("plan_id", "plan"),
		Charters: []*agentrun.Charter{
			charter("root", "a"), charter("left", "a", "root"), charter("right", "b", "root"),
			charter("join", "c", "left", "right"), charter("last", "a", "join")},
	})
	p.must(err)

	var mu sync.Mutex
	var order []string
	var beside sync.WaitGroup
	beside.Add(2)
	res, types := run(p, loop.Options{Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		id := d.Turn.CharterID()
		mu.Lock()
		order = append(order, id)
		mu.Unlock()
		if id == "left" || id == "right" {
			beside.Done()
			beside.Wait()
		}
		return returned(d.Turn)
	}})
	if !res.OK || res.TurnsExecuted != 5 || !slices.Contains(types, "parallel_dispatch") {
		t.Fatalf("%+v %v", res, types)
	}
	slices.Sort(order[1:3])
	if !slices.Equal(order, []string{"root", "left", "right", "join", "last"}) {
		t.Errorf("order %v", order)
	}
	for _, row := range p.history() {
		if c := p.state().Charter(row.String("charter_id")); c == nil || c.TurnID == nil ||
			*c.TurnID != row.String("turn_id") {
			t.Errorf("row %s", ojson.Compact(row))
		}
	}
	p.fsck()
}

// A result is not judged on a tree that a sibling has already changed while the sibling's own
// result is still being written.
func TestHalfStagedSiblingIsWaitedFor(t *testing.T) {
	p := newProject(t, 2, []string{"a", "b"}, nil)
	half, waits := make(chan struct{}), make(chan struct{})
	var once sync.Once
	verified := ojson.NewObject("status", "pass", "commands", []string{"true"}, "evidence_summary", "ran",
		"machine_evidence", []any{ojson.NewObject("command", "true", "exit_code", 0)})
	res, types := run(p, loop.Options{MaxTurns: 2, OnActivity: func(_ string, a runtimes.Activity) {
		if a.Type == "waiting" {
			once.Do(func() { close(waits) })
		}
	}, Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		file := d.Turn.AssignedRole + ".txt"
		doc := []any{"files_changed", []string{file}, "artifact", ojson.NewObject("type", "workspace"), "verification",
			verified}
		if d.Turn.AssignedRole == "a" {
			<-half
			p.write(file, "a")
			return returned(d.Turn, doc...)
		}
		p.write(file, "b")
		staged := filepath.Join(p.dir, filepath.FromSlash(d.StagingPath))
		_ = os.MkdirAll(filepath.Dir(staged), 0o777)
		_ = os.WriteFile(staged, nil, 0o666)
		close(half)
		select {
		case <-waits:
		case <-time.After(20 * time.Second):
			return &runtimes.Outcome{Kind: runtimes.Rejected, Reason: "nobody waited"}
		}
		return returned(d.Turn, doc...)
	}})
	if res.TurnsExecuted != 2 || slices.Contains(types, "turn_rejected") {
		t.Fatalf("%+v %v", res, types)
	}
	p.fsck()
}
