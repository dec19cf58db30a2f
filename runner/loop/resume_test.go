package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func (p *project) reactivate() {
	p.t.Helper()
	_, err := p.r.ReactivateRun(context.Background(), runner.ReactivateOptions{})
	p.must(err)
}

func (p *project) assign(role string) *agentrun.Turn {
	p.t.Helper()
	a, err := p.r.AssignTurn(context.Background(), runner.AssignOptions{Role: role})
	p.must(err)
	return a.Turn
}

func (p *project) stage(turn *agentrun.Turn, data []byte) string {
	p.t.Helper()
	p.write(wire.StagingPath(turn.TurnID), string(data))
	return filepath.Join(p.dir, wire.StagingPath(turn.TurnID))
}

// What a turn left behind decides how another loop continues it.
func TestTurnsLeftBehind(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		leave    func(p *project, turn *agentrun.Turn)
		asked    int // dispatches of the next loop
		accepted int
		said     string // error of the first history entry
	}{
		"staged":       {func(p *project, turn *agentrun.Turn) { p.stage(turn, result(turn)) }, 0, 1, ""},
		"staged half":  {func(p *project, turn *agentrun.Turn) { p.stage(turn, result(turn)[:40]) }, 1, 1, ""},
		"staged empty": {func(p *project, turn *agentrun.Turn) { p.stage(turn, []byte("{}")) }, 1, 1, ""},
		"staged by another": {func(p *project,
			turn *agentrun.Turn) {
			p.stage(turn, result(turn, "turn_id", "turn_other"))
		}, 1, 1, ""},
		"staged before the dispatch": {func(p *project, turn *agentrun.Turn) {
			old := time.Now().Add(-time.Hour)
			p.must(os.Chtimes(p.stage(turn, result(turn)), old, old))
		}, 1, 1, ""},
		"nothing": {func(*project, *agentrun.Turn) {}, 1, 1, ""},
		"running": {func(p *project, turn *agentrun.Turn) {
			_, err := p.r.AdvanceTurn(ctx, attempt.AdvanceTurn{
				TurnID: turn.TurnID,
				Status: wire.TurnRunning,
				PID:    1 << 21,
			})
			p.must(err)
		}, 1, 1, ""},
		"refused": {func(p *project, turn *agentrun.Turn) {
			p.stage(turn, result(turn, "status", "splendid"))
			if _, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{}); err == nil {
				p.t.Fatal("accepted")
			}
		}, 1, 1, "splendid"},
		"refused and corrected": {func(p *project, turn *agentrun.Turn) {
			p.stage(turn, result(turn, "status", "splendid"))
			if _, err := p.r.AcceptTurn(ctx, runner.AcceptOptions{}); err == nil {
				p.t.Fatal("accepted")
			}
			later := time.Now().Add(time.Second)
			p.must(os.Chtimes(p.stage(turn, result(turn)), later, later))
		}, 0, 1, ""},
		"lost, and the block lifted": {func(p *project, turn *agentrun.Turn) {
			_, err := p.r.FailTurn(ctx, turn.TurnID, attempt.FailureSpawn, "gone")
			p.must(err)
			p.reactivate()
		}, 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, 1, []string{"dev"}, nil)
			turn := p.assign("dev")
			c.leave(p, turn)
			asked := 0
			res, types := run(p, loop.Options{
				MaxTurns: 1,
				Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
					asked++
					return returned(d.Turn)
				},
			})
			if asked != c.asked || res.TurnsExecuted != c.accepted || len(p.history()) != c.accepted {
				t.Fatalf("asked %d, %+v", asked, res)
			}
			if c.said != "" && (len(res.TurnHistory) != 2 ||
				!strings.Contains(res.TurnHistory[0].AcceptError, c.said)) {
				t.Fatalf("%+v", res.TurnHistory)
			}
			if slices.Contains(types, "turn_assigned") {
				t.Fatalf("a turn was assigned: %v", types)
			}
		})
	}
}

// A loop that was killed between the acceptance and the checkpoint leaves changes that would keep
// the next writing turn from starting.
func TestCheckpointIsMadeUpFor(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	write := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
		name := "src/" + d.Turn.TurnID + ".txt"
		p.write(name, "x\n")
		return returned(d.Turn, "files_changed", []string{name}, "artifact", ojson.NewObject("type", "workspace"))
	}
	if res, _ := run(p, loop.Options{MaxTurns: 1, NoCheckpoint: true, Dispatch: write}); res.TurnsExecuted != 1 ||
		git(t, p.dir, "status", "--porcelain") == "" {
		t.Fatalf("%+v", res)
	}
	if res, _ := run(p, loop.Options{MaxTurns: 2, Dispatch: write}); res.TurnsExecuted != 2 || len(res.Errors) > 0 {
		t.Fatalf("%+v", res)
	}
	if dirt := git(t, p.dir, "status", "--porcelain"); dirt != "" {
		t.Fatalf("left uncommitted: %s", dirt)
	}
}

// A person's own changes prevent a writing turn and stay; no run is begun for it.
func TestOwnChangesStopTheLoop(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	p.write("notes.txt", "mine\n")
	res, _ := run(p, loop.Options{Dispatch: func(_ context.Context,
		d *loop.Dispatch) *runtimes.Outcome {
		return returned(d.Turn)
	}})
	if res.StopReason != loop.InitFailed || runner.ErrorCode(res.Err) != wire.CodeDirtyTree ||
		git(t, p.dir, "for-each-ref", "refs/agentxchain") != "" {
		t.Fatalf("%+v", res)
	}
}

// An unreadable state is not taken for a new run.
func TestCorruptStateStops(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	p.assign("dev")
	p.write(string(wire.DocState), `{"schema_version": "1.1", "run`)
	res := loop.Run(context.Background(), p.r,
		loop.Options{Dispatch: func(context.Context, *loop.Dispatch) *runtimes.Outcome { panic("no") }})
	if res.StopReason != loop.InitFailed || res.OK || len(res.Errors) == 0 {
		t.Fatalf("%+v", res)
	}
	if data, err := os.ReadFile(filepath.Join(p.dir, string(wire.DocState))); err != nil ||
		!strings.HasSuffix(string(data), `"run`) {
		t.Fatalf("the state was replaced: %s", data)
	}
}
