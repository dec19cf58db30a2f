// Tests of AdvanceTurn, Watch and DispatchTimeout.

package protocol

import (
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func extra(turn *run.Turn, key string) any { v, _ := turn.Extra.Get(key); return v }

func TestAdvanceTurn(t *testing.T) {
	w := startedWorld(t, nil)
	w.fails(wire.CodeTurnNotActive, &attempt.AdvanceTurn{TurnID: "turn_none", Status: wire.TurnRunning})
	id := w.assign("ops").TurnID
	w.fails(wire.CodeInvalidArgument, &attempt.AdvanceTurn{TurnID: id, Status: "splendid"})
	w.fails(wire.CodeInvalidArgument, &attempt.AdvanceTurn{TurnID: id, Status: wire.TurnStarting, PID: -1})
	w.wantEvents(w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnStarting, PID: 42}), "")
	turn := w.turn(id)
	if turn.Status != wire.TurnStarting || turn.StartedAt == "" ||
		extra(turn, "worker_attached_at") != turn.StartedAt || extra(turn, "first_output_at") != nil {
		t.Fatalf("state %s", w.state.Encode())
	}
	w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnRunning, PID: 42, Stream: "stderr"})
	if got := extra(w.turn(id), "first_output_at"); got != nil {
		t.Fatalf("stderr counts as proof of life: %v", got)
	}
	w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnRunning, Stream: "stdout"})
	first := extra(w.turn(id), "first_output_at")
	w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnRunning, Stream: "request"})
	if turn = w.turn(id); first == nil || extra(turn, "first_output_at") != first ||
		extra(turn, "first_output_stream") != "stdout" || turn.Status != wire.TurnRunning {
		t.Fatalf("state %s", w.state.Encode())
	}
	w.fails(wire.CodeInvalidStateTransition, &attempt.AdvanceTurn{TurnID: id, Status: wire.TurnStarting})

	// Dispatched again by another loop: no second event, and a new time limit.
	w.now = w.now.Add(5 * time.Hour)
	w.wantEvents(w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnDispatched}), "")
	turn = w.turn(id)
	if at, _ := wire.ParseTime(turn.DeadlineAt); turn.Status != wire.TurnDispatched || !at.After(w.now) ||
		turn.StartedAt == "" || extra(turn, "worker_pid") != nil || extra(turn, "first_output_at") != nil {
		t.Fatalf("state %s", w.state.Encode())
	}
	w.must(&Escalate{Reason: "stop"})
	w.fails(wire.CodeRunBlocked, &attempt.AdvanceTurn{TurnID: id, Status: wire.TurnDispatched})
	w.must(&attempt.AdvanceTurn{TurnID: id, Status: wire.TurnStarting, PID: 7}) // it still goes on working
	w.wantStatus(wire.StatusBlocked, "escalation:operator:stop")
}

func TestWatchdogThresholds(t *testing.T) {
	w := startedWorld(t, func(cfg *ojson.Object) {
		set(cfg, "run_loop", obj(`{"startup_watchdog_ms": 60000, "stale_turn_threshold_ms": 120000}`))
	})
	ops, man := w.assign("ops"), w.assign("pm")
	start, _ := wire.ParseTime(w.turn(ops.TurnID).DispatchedAt)
	look := func(after time.Duration, seen ...attempt.WatchedTurn) []attempt.TurnHealth {
		return attempt.WatchTurns(w.cfg, w.state, seen, start.Add(after))
	}
	one := attempt.WatchedTurn{TurnID: ops.TurnID}
	if got := look(59*time.Second, one); len(got) != 0 {
		t.Fatalf("too early: %+v", got)
	}
	if got := look(61*time.Second, one, attempt.WatchedTurn{TurnID: man.TurnID},
		attempt.WatchedTurn{TurnID: "turn_other"}); len(
		got) != 1 || got[0].Kind != attempt.HealthGhost || got[0].Failure != attempt.FailureSpawn ||
		got[0].ThresholdMS != 60000 {
		t.Fatalf("%+v", got)
	}
	for name, seen := range map[string]attempt.WatchedTurn{
		"staged": {TurnID: ops.TurnID, Staged: true}, "driven": {TurnID: ops.TurnID, Driven: true},
		"unknown failure": {
			TurnID:  ops.TurnID,
			Failure: "bad luck",
		}, "manual failed": {TurnID: man.TurnID, Failure: attempt.FailureSpawn},
	} {
		if got := look(time.Hour, seen); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	w.must(&attempt.AdvanceTurn{TurnID: ops.TurnID, Status: wire.TurnStarting, PID: 3})
	if got := look(2*time.Minute, one); len(got) != 1 || got[0].Failure != attempt.FailureAttach {
		t.Fatalf("%+v", got)
	}
	w.must(&attempt.AdvanceTurn{TurnID: ops.TurnID, Status: wire.TurnRunning, Stream: "stdout"})
	if got := look(119*time.Second, one); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	if got := look(5*time.Minute, attempt.WatchedTurn{
		TurnID:     ops.TurnID,
		ActivityAt: wire.FormatTime(start.Add(4 * time.Minute)),
	}); len(got) != 0 {
		t.Fatalf("a living turn is stale: %+v", got)
	}
	if got := look(5*time.Minute, one); len(got) != 1 || got[0].Kind != attempt.HealthStale ||
		got[0].ThresholdMS != 120000 {
		t.Fatalf("%+v", got)
	}
}

func TestWatchMarksAndBlocks(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_turn_max_usd": 1, "per_run_max_usd": 10}`)))
	ops := w.assign("ops").TurnID
	w.fails(wire.CodeInvalidArgument, &attempt.Watch{Turns: []attempt.WatchedTurn{{TurnID: ops}}})
	w.now = w.now.Add(time.Hour)
	tr := w.must(&attempt.Watch{Turns: []attempt.WatchedTurn{{TurnID: ops}}})
	w.wantEvents(tr, "turn_start_failed runtime_spawn_failed human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "turn:failed_start:"+ops)
	turn := w.turn(ops)
	if turn.Status != wire.TurnFailedStart || extra(turn, "failed_start_previous_status") != wire.TurnDispatched ||
		w.state.BudgetReservations.Has(ops) || w.state.BlockedReason.Category != "ghost_turn" {
		t.Fatalf("state %s", w.state.Encode())
	}
	w.fails(wire.CodeInvalidArgument, &attempt.Watch{Turns: []attempt.WatchedTurn{{TurnID: ops}}})
	w.must(&ReissueTurn{TurnID: ops, Baseline: w.baseline()})
	w.wantStatus(wire.StatusActive, "")
	again := w.state.OnlyTurn()
	w.must(&attempt.AdvanceTurn{TurnID: again.TurnID, Status: wire.TurnRunning, Stream: "stdout"})
	w.now = w.now.Add(time.Hour)
	tr = w.must(&attempt.Watch{Turns: []attempt.WatchedTurn{{TurnID: again.TurnID}}})
	w.wantEvents(tr, "turn_stalled human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "turn:stalled:"+again.TurnID)
}

func TestWatchOfSeveralTurns(t *testing.T) {
	w := startedWorld(t, nil)
	ops, crit := w.assign("ops").TurnID, w.assign("crit").TurnID
	w.now = w.now.Add(time.Hour)
	tr := w.must(&attempt.Watch{Turns: []attempt.WatchedTurn{{TurnID: ops}, {
		TurnID:  crit,
		Failure: attempt.FailureNoOutput,
		Detail:  "no answer",
	}}})
	w.wantStatus(wire.StatusBlocked, "turns:failed_start")
	if res := tr.Result.(*attempt.WatchResult); len(res.Ghosts) != 2 || len(res.Stale) != 0 ||
		wire.OrEmpty(w.state.BlockedReason.TurnID) != ops {
		t.Fatalf("%+v", res)
	}
	// Each of them needs an answer.
	w.must(&ReissueTurn{TurnID: ops, Baseline: w.baseline()})
	w.wantStatus(wire.StatusBlocked, "turn:failed_start:"+crit)
	w.must(&ReissueTurn{TurnID: crit, Baseline: w.baseline()})
	w.wantStatus(wire.StatusActive, "")
}

func TestDispatchTimeout(t *testing.T) {
	w := startedWorld(t, sets("timeouts", obj(`{"per_phase_minutes": 30}`)))
	id := w.assign("ops").TurnID
	w.fails(wire.CodeInvalidArgument, &attempt.DispatchTimeout{TurnID: id, Scope: "week"})
	w.fails(wire.CodeTurnNotActive, &attempt.DispatchTimeout{TurnID: "turn_none", Scope: "turn"})
	w.now = w.now.Add(31 * time.Minute)
	tr := w.must(&attempt.DispatchTimeout{TurnID: id, Scope: "phase", LimitMS: 60000})
	w.wantEvents(tr, "run_blocked")
	w.wantEntries(tr, "timeout")
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
	if row := w.lastRow(wire.LedgerDecisions); row.String("scope") != "phase" || row.String("phase") != "planning" ||
		row.String("turn_id") != id {
		t.Fatalf("%v", row)
	}
	if limit, _ := w.lastRow(wire.LedgerDecisions).Float("limit_minutes"); limit != 30 {
		t.Fatalf("limit %v", limit)
	}
	w.fails(wire.CodeRunBlocked, &attempt.DispatchTimeout{TurnID: id, Scope: "turn"})
	w.must(&Reactivate{})
	w.wantStatus(wire.StatusActive, "")
	if w.turn(id).Status != wire.TurnDispatched {
		t.Fatal("the turn is not kept")
	}
}
