package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// programs configures onePhase with two roles side by side: dev on a program, pm by hand.
func programs(cfg *ojson.Object) {
	onePhase(cfg)
	cfg.Set("roles", ojson.NewObject(
		"dev", ojson.NewObject("title", "Developer", "mandate", "Build.", "write_authority", "authoritative",
			"runtime", "prog"),
		"pm", ojson.NewObject("title", "PM", "mandate", "Plan.", "write_authority", "review_only", "runtime", "hand")))
	cfg.Set("runtimes", ojson.NewObject("prog", ojson.NewObject("type", "local_cli", "command", []string{"true"},
		"startup_watchdog_ms", 60000), "hand", ojson.NewObject("type", "manual")))
	cfg.Object("routing").Object("build").Set("allowed_next_roles", []string{"dev", "pm", "human"})
	cfg.Object("routing").Object("build").Set("max_concurrent_turns", 2)
}

// later opens the project with a clock that is ahead.
func (p *project) later(by time.Duration) *runner.Runner {
	p.t.Helper()
	r, err := runner.Open(p.ctx, p.dir, runner.Options{Now: func() time.Time { return time.Now().Add(by) }})
	p.must(err)
	p.t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestWatchdogFindsGhosts(t *testing.T) {
	p := newProject(t, programs)
	dev, pm := p.assign("dev").Turn, p.assign("pm").Turn
	health := func(r *runner.Runner) []attempt.TurnHealth {
		v, err := r.View(p.ctx)
		p.must(err)
		return r.Health(v)
	}
	now, hour := p.later(0), p.later(time.Hour)
	if got := health(now); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	if out, err := now.Watchdog(p.ctx); err != nil || out.Result != nil || !out.OK {
		t.Fatalf("%+v %v", out, err)
	}
	if got := health(hour); len(got) != 0 {
		t.Fatalf("no step has begun the turn yet, and %+v", got)
	}
	_, err := p.r.AdvanceTurn(p.ctx, attempt.AdvanceTurn{TurnID: dev.TurnID, Status: wire.TurnStarting})
	p.must(err)
	before := snapshot(t, p.dir)
	if got := health(hour); len(got) != 1 || got[0].Turn.TurnID != dev.TurnID || got[0].Kind != attempt.HealthGhost {
		t.Fatalf("%+v", got)
	}
	if snapshot(t, p.dir) != before {
		t.Fatal("looking changed something")
	}
	out, err := hour.Watchdog(p.ctx)
	p.must(err)
	if out.Result == nil || len(out.Result.Ghosts) != 1 || out.State.Status != wire.StatusBlocked ||
		*out.State.BlockedOn != "turn:failed_start:"+dev.TurnID {
		t.Fatalf("%+v", out)
	}
	if turn, _ := p.state().ActiveTurns.Get(pm.TurnID); turn.Status != wire.TurnDispatched {
		t.Fatalf("the manual turn is %s", turn.Status)
	}
	_, err = hour.ReissueTurn(p.ctx, runner.ReissueOptions{TurnID: dev.TurnID, Reason: "ghost"})
	p.must(err)
	if s := p.state(); s.Status != wire.StatusActive {
		t.Fatalf("the run is %s", s.Status)
	}
	report, err := p.r.Record().Fsck(p.ctx, proof.Options{Replay: true})
	p.must(err)
	if !report.Clean() {
		t.Fatalf("fsck: %+v", report.Findings)
	}
}

func TestSignsOfLifeKeepTheWatchdogAway(t *testing.T) {
	testrepo.Serving(t)
	hour := time.Hour
	begun := func(p *project, turn *run.Turn) {
		_, err := p.r.AdvanceTurn(p.ctx, attempt.AdvanceTurn{TurnID: turn.TurnID, Status: wire.TurnStarting})
		p.must(err)
	}
	for name, c := range map[string]struct {
		live func(p *project, turn *run.Turn)
		want string
	}{
		"not begun": {func(*project, *run.Turn) {}, ""},
		"nothing":   {begun, attempt.HealthGhost},
		"staged":    {func(p *project, turn *run.Turn) { begun(p, turn); p.stage(turn, "summary", "done") }, ""},
		"cleared": {func(p *project, turn *run.Turn) {
			begun(p, turn)
			p.write(wire.StagingPath(turn.TurnID), " {}\n")
		}, attempt.HealthGhost},
		"of another program": {func(p *project, turn *run.Turn) {
			p.write(".agentxchain/dispatch-progress-"+turn.TurnID+".json", `{"turn_id": "`+turn.TurnID+`"}`)
		}, attempt.HealthGhost},
		"first output long ago": {func(p *project, turn *run.Turn) {
			_, err := p.r.AdvanceTurn(p.ctx, attempt.AdvanceTurn{
				TurnID: turn.TurnID,
				Status: wire.TurnRunning,
				PID:    1 << 22,
				Stream: "stdout",
			})
			p.must(err)
		}, attempt.HealthStale},
		"at work a moment ago": {func(p *project, turn *run.Turn) {
			_, err := p.r.AdvanceTurn(p.ctx, attempt.AdvanceTurn{
				TurnID: turn.TurnID,
				Status: wire.TurnRunning,
				Stream: "stdout",
			})
			p.must(err)
			at := time.Now().Add(hour - time.Minute).UTC().Format(time.RFC3339Nano)
			p.write(".agentxchain/dispatch-progress-"+turn.TurnID+".json",
				fmt.Sprintf(`{"turn_id": %q, "first_output_at": %q, "last_activity_at": %q}`, turn.TurnID, at, at))
		}, ""},
		"a damaged progress file": {func(p *project, turn *run.Turn) {
			begun(p, turn)
			p.write(".agentxchain/dispatch-progress-"+turn.TurnID+".json", `{"turn_id": [`)
		}, attempt.HealthGhost},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, programs)
			turn := p.assign("dev").Turn
			c.live(p, turn)
			r := p.later(hour)
			v, err := r.View(p.ctx)
			p.must(err)
			got := ""
			for _, h := range r.Health(v) {
				got = h.Kind
			}
			if got != c.want {
				t.Fatalf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFailTurnNeedsNoThreshold(t *testing.T) {
	p := newProject(t, programs)
	dev, pm := p.assign("dev").Turn, p.assign("pm").Turn
	_, err := p.r.FailTurn(p.ctx, pm.TurnID, attempt.FailureSpawn, "a person is no program")
	wantCode(t, err, wire.CodeInvalidArgument)
	out, err := p.r.FailTurn(p.ctx, dev.TurnID, attempt.FailureAttach, "no\x1b[31m pipe")
	p.must(err)
	if out.State.BlockedReason.Category != "ghost_turn" || out.Result.Ghosts[0].Failure != attempt.FailureAttach {
		t.Fatalf("%+v", out.State.BlockedReason)
	}
}

// Only one loop drives a work tree, and a loop that died is no obstacle.
func TestDriveIsExclusive(t *testing.T) {
	p := newProject(t, nil)
	release, err := p.r.Drive(p.ctx)
	p.must(err)
	_, err = p.later(0).Drive(context.Background())
	wantCode(t, err, fail.CodeLocked)
	release()
	release, err = p.later(0).Drive(p.ctx)
	p.must(err)
	release()
	if _, err := os.Stat(filepath.Join(p.dir, ".agentxchain/locks/run-loop.lock")); !os.IsNotExist(err) {
		t.Fatalf("the lock is left: %v", err)
	}
}

// A patient acceptance leaves no record of a result whose siblings may explain its fault; without
// patience, and once they have staged, the result is judged.
func TestPatientAcceptance(t *testing.T) {
	p := newProject(t, func(cfg *ojson.Object) {
		programs(cfg)
		cfg.Object("roles").Object("pm").Set("write_authority", "authoritative")
	})
	dev, pm := p.assign("dev").Turn, p.assign("pm").Turn
	p.write("src/dev.txt", "x\n")
	p.write("src/pm.txt", "x\n")
	ids := map[string]string{"dev": "DEC-001", "pm": "DEC-002"}
	work := func(turn *run.Turn) {
		p.stage(turn, "summary", "work", "objections", []any{}, "files_changed", []string{"src/" + turn.AssignedRole +
			".txt"}, "artifact", ojson.NewObject("type", "workspace"), "proposed_next_role", "dev",
			"decisions", []*ojson.Object{ojson.NewObject("id", ids[turn.AssignedRole], "category", "process",
				"statement", "Go on.", "rationale", "There is more.")})
	}
	work(dev)
	before := snapshot(t, p.dir)
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: dev.TurnID, Patient: true})
	wantCode(t, err, runner.CodeSiblingsAtWork)
	if snapshot(t, p.dir) != before {
		t.Fatal("the project changed")
	}
	work(pm)
	_, err = p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: dev.TurnID, Patient: true})
	p.must(err)
}
