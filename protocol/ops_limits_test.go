// What the budget and time limits say, and how to go on from them.

package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func warned(tr *change.Transition) string {
	return strings.Join(tr.Result.(*AcceptResult).Warnings, "\n")
}

func TestDearTurnWarns(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 9, "per_turn_max_usd": 1}`)))
	tr := w.accept(w.assign("pm").TurnID, cost(1)...)
	if strings.Contains(warned(tr), "per_turn_max_usd") {
		t.Error("a turn at its limit is not over it")
	}
	tr = w.accept(w.assign("pm").TurnID, cost(1.25)...)
	if said := warned(tr); !strings.Contains(said, "$0.25 more than budget.per_turn_max_usd allows ($1.00)") {
		t.Errorf("warned %q", said)
	}
	if !strings.Contains(eventTypes(tr), "budget_exceeded_warn") {
		t.Errorf("events %s", eventTypes(tr))
	}
}

func TestPhaseClockStartsAgain(t *testing.T) {
	limit := sets("timeouts", obj(`{"per_phase_minutes": 10, "action": "escalate"}`),
		"run_loop.non_progress_threshold", 9)
	w := startedWorld(t, limit)
	turn := w.assign("pm")
	w.now = w.now.Add(11 * time.Minute)
	w.accept(turn.TurnID)
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
	w.must(&Reactivate{})
	turn = w.assign("pm")
	w.now = w.now.Add(5 * time.Minute)
	w.accept(turn.TurnID)
	w.wantStatus(wire.StatusActive, "")
	turn = w.assign("pm")
	w.now = w.now.Add(6 * time.Minute)
	w.accept(turn.TurnID)
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
}

func TestLimitsSayWhatTheyDid(t *testing.T) {
	for action, want := range map[string]string{"warn": "the limit only warns", "skip_phase": "was not skipped: "} {
		w := startedWorld(t, sets("timeouts", obj(`{"per_turn_minutes": 900}`),
			"routing.planning.timeout_minutes", 5, "routing.planning.timeout_action", action))
		turn := w.assign("pm")
		w.now = w.now.Add(6 * time.Minute)
		tr := w.accept(turn.TurnID)
		if said := warned(tr); !strings.Contains(said, want) || !strings.Contains(said, "Phase timeout (planning)") {
			t.Errorf("%s: %q", action, said)
		}
	}
}

// An adopted budget that is large enough again lifts its block, and no other.
func TestRaisedBudgetIsAdopted(t *testing.T) {
	budget := func(usd float64) func(*ojson.Object) {
		return sets("budget", ojson.NewObject("per_run_max_usd", usd, "per_turn_max_usd", 1))
	}
	w := startedWorld(t, budget(2))
	w.accept(w.assign("pm").TurnID, cost(1.5)...)
	n := NextStep(w.state, w.cfg, "")
	if !strings.HasSuffix(n.Command, "git agentxchain config adopt") || strings.Contains(n.Reason, "$-") {
		t.Errorf("next is %+v", n)
	}
	w.fails(wire.CodeBudgetExhausted, w.clean("pm", false))
	adopt := func(usd float64) {
		t.Helper()
		was := w.cfg
		w.cfg = opsConfig(t, budget(usd))
		w.state = w.reread(w.state)
		w.must(w.adopting(was))
		w.state = w.reread(w.state)
	}
	adopt(3)
	w.accept(w.assign("pm").TurnID, cost(2.5)...)
	w.wantStatus(wire.StatusBlocked, "budget:exhausted")
	adopt(3.5)
	w.wantStatus(wire.StatusBlocked, "budget:exhausted")
	adopt(9)
	w.wantStatus(wire.StatusActive, "")
	w.assign("pm")
}
