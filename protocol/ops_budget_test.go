// Tests of budgets and time limits.

package protocol

import (
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func cost(usd float64) []any { return []any{"cost", ojson.NewObject("usd", usd)} }

func TestBudgetPausesTheRun(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 1}`)))
	w.accept(w.assign("pm").TurnID, cost(0.4)...)
	w.wantStatus(wire.StatusActive, "")
	tr := w.accept(w.assign("dev").TurnID, cost(0.6)...)
	w.wantEvents(tr, "turn_accepted human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "budget:exhausted")
	if v, _ := w.state.BudgetStatus.Extra.Get("exhausted"); v != true || w.index.Accepted != 2 {
		t.Errorf("budget %s", w.state.Encode())
	}
	w.fails(wire.CodeBudgetExhausted, &Reactivate{})
	w.cfg.Budget.PerRunMaxUSD = new(2.0)
	w.edit(func(*run.State) {})
	w.must(&Reactivate{})
	if v, ok := w.state.BudgetStatus.Extra.Get("exhausted"); ok || *w.state.BudgetStatus.RemainingUSD != 1 {
		t.Errorf("exhausted %v remaining %v", v, *w.state.BudgetStatus.RemainingUSD)
	}
	w.assign("pm")
}

func TestBudgetWarns(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 1, "on_exceed": "warn"}`),
		"gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	tr := w.accept(w.assign("qa").TurnID, cost(3)...)
	w.wantEvents(tr, "turn_accepted budget_exceeded_warn")
	at, _ := w.state.BudgetStatus.Extra.Get("exhausted_at")
	// The run may end with the same turn that overspends: run_completed is last.
	tr = w.accept(w.assign("qa").TurnID, append(cost(1), "run_completion_request", true)...)
	w.wantEvents(tr, "turn_accepted budget_exceeded_warn run_completed")
	if again, _ := w.state.BudgetStatus.Extra.Get("exhausted_at"); at == nil || again != at {
		t.Errorf("exhausted_at moved from %v to %v", at, again)
	}
	p := added(tr, wire.LedgerEvents)[1].Object("payload")
	if limit, _ := p.Float("limit_usd"); limit != 1 || p.Object("recovery_classification") == nil {
		t.Errorf("payload %s", ojson.Compact(p))
	}
}

func TestBudgetDoesNotStopACompletion(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 1}`),
		"gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	w.accept(w.assign("qa").TurnID, append(cost(5), "run_completion_request", true)...)
	w.wantStatus(wire.StatusCompleted, "")
}

func TestRefusedAttemptsAreCharged(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 1}`), "rules.max_turn_retries", 5))
	turn := w.assign("dev")
	w.stage(turn.TurnID, cost(0.4)...)
	w.must(w.rejection(turn.TurnID, "no")) // checked: charged from the staged result
	if w.state.BudgetStatus.SpentUSD != 0.4 || w.index.CostUSD != 0 {
		t.Errorf("spent %v", w.state.BudgetStatus.SpentUSD)
	}
	// Negative and nonsensical costs give nothing back.
	for _, usd := range []string{"-5", `"x"`, "1e999"} {
		w.staged[turn.TurnID] = nil
		op := w.rejection(turn.TurnID, "no")
		op.Staged = evidence.NewBlob([]byte(`{"cost":{"usd":` + usd + `}}`))
		w.must(op)
	}
	if w.state.BudgetStatus.SpentUSD != 0.4 {
		t.Errorf("spent %v", w.state.BudgetStatus.SpentUSD)
	}
	w.stage(turn.TurnID, cost(0.7)...)
	tr := w.must(w.reissue(turn.TurnID, ""))
	w.wantEvents(tr, "turn_reissued turn_dispatched human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "budget:exhausted")
	turn = w.state.OnlyTurn()
	w.refuse(wire.CodeRunBlocked, turn.TurnID)
	w.fails(wire.CodeRunBlocked, w.reissue(turn.TurnID, ""))
	if !w.state.BlockedReason.Recovery.TurnRetained {
		t.Error("the turn is still there")
	}
	if len(tr.Files) != 1 {
		t.Error("the result that was given up is not kept")
	}
}

func TestNoNewAttemptWithoutMoney(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 1}`)))
	turn := w.assign("dev")
	w.edit(func(s *run.State) { s.BudgetStatus.SpentUSD = 1 })
	w.fails(wire.CodeBudgetExhausted, w.reissue(turn.TurnID, ""))
}

func TestAbsurdCosts(t *testing.T) {
	w := startedWorld(t, sets("rules.max_turn_retries", 9))
	turn := w.assign("dev")
	w.checks = false
	for range 3 {
		op := w.rejection(turn.TurnID, "no")
		op.Cost = 1e308
		w.must(op)
	}
	if w.state.BudgetStatus.SpentUSD != run.MaxSpentUSD {
		t.Errorf("spent %v", w.state.BudgetStatus.SpentUSD)
	}
}

func TestTurnTimeout(t *testing.T) {
	w := startedWorld(t, sets("timeouts", obj(`{"per_turn_minutes": 10}`)))
	turn := w.assign("pm")
	w.now = w.now.Add(11 * time.Minute)
	tr := w.accept(turn.TurnID)
	w.wantEvents(tr, "turn_accepted run_blocked")
	w.wantEntries(tr, "timeout")
	w.wantStatus(wire.StatusBlocked, "timeout:turn")
	if w.state.BlockedReason.Recovery.Owner != run.OwnerOperator || len(w.index.OpenEscalations) != 0 {
		t.Error("a timeout is the operator's")
	}
	w.must(&Reactivate{})
	// A retry's limit runs from its own start.
	turn = w.assign("pm")
	w.now = w.now.Add(9 * time.Minute)
	w.must(w.rejection(turn.TurnID, "again"))
	w.now = w.now.Add(9 * time.Minute)
	w.accept(turn.TurnID)
	w.wantStatus(wire.StatusActive, "")
}

func TestTimeoutWarns(t *testing.T) {
	w := startedWorld(t, sets("timeouts", obj(`{"per_turn_minutes": 1, "per_run_minutes": 1, "action": "warn"}`)))
	turn := w.assign("pm")
	w.now = w.now.Add(5 * time.Minute)
	tr := w.accept(turn.TurnID)
	w.wantEntries(tr, "timeout_warning timeout_warning")
	w.wantEvents(tr, "turn_accepted")
}

func TestPhaseTimeouts(t *testing.T) {
	over := func(edit func(*ojson.Object), phase string) (*opsWorld, *run.Turn) {
		w := startedWorld(t, func(cfg *ojson.Object) {
			sets("timeouts", obj(`{}`), "routing."+phase+".timeout_minutes", 10, "routing."+phase+
				".timeout_action", "skip_phase")(cfg)
			if edit != nil {
				edit(cfg)
			}
		}).inPhase(phase)
		turn := w.assign("dev")
		w.now = w.now.Add(time.Hour)
		return w, turn
	}
	// The gate passes: the phase is left, and the event log says so.
	w, turn := over(nil, "build")
	tr := w.accept(turn.TurnID)
	w.wantEvents(tr, "turn_accepted phase_entered phase_cleanup")
	w.wantEntries(tr, "timeout_skip")
	w.wantStatus(wire.StatusActive, "")
	if r := w.lastRow(wire.LedgerDecisions); w.state.Phase != "ship" || r.String("from_phase") != "build" ||
		r.String("to_phase") != "ship" {
		t.Errorf("row %s", ojson.Compact(r))
	}
	// The gate fails.
	w, turn = over(nil, "build")
	delete(w.work, "docs/build.md")
	w.commit()
	tr = w.accept(turn.TurnID, "status", "failed", "files_changed", []string{"docs/build.md"})
	w.wantEvents(tr, "turn_accepted gate_failed run_blocked")
	w.wantEntries(tr, "gate_failure timeout_skip_failed timeout")
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
	// A person's gate is never skipped, even if the policy would approve.
	w, turn = over(sets("approval_policy", obj(`{"phase_transitions":{"default":"auto_approve"}}`)), "planning")
	w.write("docs/plan.md", "plan")
	w.commit()
	tr = w.accept(turn.TurnID, "files_changed", []string{"docs/plan.md"})
	w.wantEntries(tr, "timeout_skip_failed timeout")
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
	// The final phase has nowhere to go.
	w, turn = over(nil, "ship")
	tr = w.accept(turn.TurnID)
	w.wantEntries(tr, "timeout")
	w.wantStatus(wire.StatusBlocked, "timeout:phase")
	// Not while siblings work.
	w, turn = over(nil, "build")
	w.assign("qa")
	tr = w.accept(turn.TurnID)
	w.wantEntries(tr, "timeout")
	if w.state.Phase != "build" || !w.state.BlockedReason.Recovery.TurnRetained {
		t.Errorf("state %s", w.state.Encode())
	}
}
