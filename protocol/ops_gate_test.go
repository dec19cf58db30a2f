// Tests of gates inside acceptance: advance, pause, failure, reconciliation, the
// pre-check, the non-progress guard.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestPhaseAdvance(t *testing.T) {
	w := startedWorld(t, sets("gates.plan_ok.requires_human_approval", false))
	w.write("docs/plan.md", "plan")
	w.commit()
	turn := w.assign("pm")
	tr := w.accept(turn.TurnID, "phase_transition_request", "build", "proposed_next_role", "qa")
	w.wantEvents(tr, "turn_accepted phase_entered phase_cleanup")
	p := added(tr, wire.LedgerEvents)[1].Object("payload")
	if p.String("from") != "planning" || p.String("to") != "build" || p.String("gate_id") != "plan_ok" ||
		p.String("trigger") != "auto" || p.String("requested_by_turn") != turn.TurnID {
		t.Errorf("payload %s", ojson.Compact(p))
	}
	s := w.state
	if g, _ := s.PhaseGateStatus.Get("plan_ok"); s.Phase != "build" || g != wire.GatePassed ||
		wire.OrEmpty(s.PhaseEnteredAt) != wire.FormatTime(w.now) || wire.OrEmpty(s.NextRecommendedRole) != "dev" {
		t.Errorf("the phase begins with its entry role, not the proposed one: state %s", s.Encode())
	}
	if res := tr.Result.(*AcceptResult); res.Gate.Action != gates.ActionAdvance || res.GateType != run.GatePhase ||
		res.Entry.String("phase") != "planning" {
		t.Errorf("result %+v", res.Gate)
	}
	if w.lastRow(wire.LedgerEvents).String("phase") != "build" {
		t.Error("events carry the phase they led to")
	}
}

func TestPauseForAPerson(t *testing.T) {
	w := paused(t, nil)
	p := w.state.PendingPhaseTransition
	if p == nil || p.From != "planning" || p.To != "build" || p.Gate != "plan_ok" || p.RequestedAt == "" ||
		w.state.BlockedReason != nil {
		t.Errorf("state %s", w.state.Encode())
	}
	if e := w.lastRow(wire.LedgerEvents); e.String("event_type") != "gate_pending" ||
		e.Object("payload").String("to") != "build" {
		t.Errorf("event %s", ojson.Compact(e))
	}
	w.fails(wire.CodeAwaitingApproval, AcceptTurn{}.withTurn(w))
	w.fails(wire.CodeAwaitingApproval, &Reactivate{})
}

// withTurn puts a turn made by another tool into a paused run.
func (op AcceptTurn) withTurn(w *opsWorld) *AcceptTurn {
	w.edit(func(s *run.State) {
		s.ActiveTurns.Set("turn_odd", &run.Turn{
			TurnID:           "turn_odd",
			RunID:            s.Run(),
			AssignedRole:     "pm",
			Status:           wire.TurnDispatched,
			Attempt:          1,
			RuntimeID:        "man",
			AssignedSequence: 1,
		})
	})
	w.checks = false
	op.TurnID = "turn_odd"
	return &op
}

func TestAcceptApprovalPolicy(t *testing.T) {
	w := startedWorld(t, sets("approval_policy",
		obj(`{"phase_transitions":{"default":"require_human","rules":[{"from_phase":"planning","to_phase":"build","action":"auto_approve","when":{"roles_participated":["pm"]}}]},
		"run_completion":{"action":"auto_approve","when":{"all_phases_visited":true}}}`)))
	w.write("docs/plan.md", "plan")
	w.commit()
	tr := w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantEntries(tr, "approval_policy")
	w.wantEvents(tr, "turn_accepted phase_entered phase_cleanup")
	if p := added(tr, wire.LedgerEvents)[1].Object("payload"); p.String("trigger") != "auto_approved" {
		t.Errorf("trigger %s", p.String("trigger"))
	}
	w.inPhase("ship")
	tr = w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantEntries(tr, "approval_policy")
	w.wantEvents(tr, "turn_accepted run_completed")
	w.wantStatus(wire.StatusCompleted, "")
}

func TestCredentialedGateNeedsAPerson(t *testing.T) {
	w := startedWorld(t, sets("gates.plan_ok.credentialed", true,
		"approval_policy", obj(`{"phase_transitions":{"default":"auto_approve"}}`)))
	w.write("docs/plan.md", "plan")
	w.commit()
	w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
}

func TestRunCompletion(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	tr := w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantEvents(tr, "turn_accepted run_completed")
	w.wantStatus(wire.StatusCompleted, "")
	row := w.lastRow(wire.LedgerRunHistory)
	if row.String("status") != "completed" || wire.OrEmpty(w.state.CompletedAt) != wire.FormatTime(w.now) ||
		len(row.Strings("phases_completed")) != 3 {
		t.Errorf("run history %s", ojson.Compact(row))
	}
	if n, _ := row.Int("total_turns"); n != 3 {
		t.Errorf("total turns %d", n)
	}
	w.fails(wire.CodeInvalidStateTransition, &Escalate{Reason: "x"})
	w.fails(wire.CodeInvalidStateTransition, &Block{
		BlockedOn:   "x",
		Category:    "c",
		TypedReason: "c",
		Owner:       "human",
		Action:      "a",
	})
	w.fails(wire.CodeInvalidStateTransition, &Reactivate{})
}

func TestCompletionRequestOutsideTheFinalPhase(t *testing.T) {
	w := startedWorld(t, nil)
	tr := w.accept(w.assign("dev").TurnID, "run_completion_request", true)
	w.wantEvents(tr, "turn_accepted")
	w.wantStatus(wire.StatusActive, "")
	if tr.Result.(*AcceptResult).Gate.Action != gates.ActionNotFinalPhase ||
		len(tr.Result.(*AcceptResult).Warnings) == 0 {
		t.Error("nobody is told")
	}
}

func TestGateFailureIsRecordedAndReconciled(t *testing.T) {
	w := startedWorld(t, sets("gates.build_ok.requires_files", []string{"docs/build.md", "docs/more.md"})).inPhase(
		"build")
	// The gate coverage check looks at files only when one is not declared.
	w.write("docs/build.md", "x")
	w.write("docs/more.md", "y")
	w.commit()
	delete(w.work, "docs/build.md")
	delete(w.work, "docs/more.md")
	w.commit()
	turn := w.assign("dev")
	w.write("src/a.go", "1")
	w.cfg.GateCoverageMode = "lenient"
	tr := w.accept(turn.TurnID, "files_changed", []string{"src/a.go"}, "phase_transition_request", "ship")
	w.wantEvents(tr, "turn_accepted gate_failed")
	w.wantEntries(tr, "gate_failure")
	f := w.state.LastGateFailure
	if g, _ := w.state.PhaseGateStatus.Get("build_ok"); g != wire.GateFailed || f.GateType != run.GatePhase ||
		len(f.MissingFiles) != 2 || f.QueuedRequest || wire.OrEmpty(f.RequestedByTurn) != turn.TurnID ||
		wire.OrEmpty(f.ToPhase) != "ship" {
		t.Errorf("failure %s", ojson.Compact(ojson.Marshal(f)))
	}
	w.commit()

	turn = w.assign("dev")
	w.write("docs/build.md", "x")
	tr = w.accept(turn.TurnID, "files_changed", []string{"docs/build.md"})
	w.wantEntries(tr, "")
	w.commit()
	turn = w.assign("dev")
	w.write("docs/more.md", "y")
	tr = w.accept(turn.TurnID, "files_changed", []string{"docs/more.md"})
	w.wantEntries(tr, "gate_reconciliation")
	if g, _ := w.state.PhaseGateStatus.Get("build_ok"); g != wire.GateReconciled || w.state.LastGateFailure != nil ||
		w.state.Phase != "build" {
		t.Errorf("state %s", w.state.Encode())
	}
	row := w.lastRow(wire.LedgerDecisions)
	if row.String("reconciled_by_turn") != turn.TurnID || len(row.Strings("previously_missing_files")) != 2 {
		t.Errorf("row %s", ojson.Compact(row))
	}
}

// A failed verification is not cleared because a file appears, and an acceptance never clears its own failure.
func TestGateFailureThatStands(t *testing.T) {
	w := startedWorld(t, sets("gates.build_ok.requires_verification_pass", true)).inPhase("build")
	tr := w.accept(w.assign("dev").TurnID, "phase_transition_request", "ship",
		"verification", obj(`{"status":"fail"}`))
	w.wantEntries(tr, "gate_failure")
	if !w.state.LastGateFailure.MissingVerification {
		t.Error("verification")
	}
	w.edit(func(s *run.State) { s.LastGateFailure.MissingFiles = []string{"docs/build.md"} })
	w.accept(w.assign("dev").TurnID)
	if w.state.LastGateFailure == nil {
		t.Error("reconciled although verification is missing")
	}
}

func TestGatePrecheck(t *testing.T) {
	// Planning: the request is set aside.
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	tr := w.accept(turn.TurnID, "phase_transition_request", "build")
	w.wantEvents(tr, "staged_result_auto_normalized turn_accepted")
	p := added(tr, wire.LedgerEvents)[0].Object("payload")
	if p.String("rationale") != "gate_transition_request_auto_stripped" || p.String("gate_id") != "plan_ok" {
		t.Errorf("payload %s", ojson.Compact(p))
	}
	if w.lastRow(wire.LedgerHistory).Has("phase_transition_request") || w.state.LastGateFailure != nil {
		t.Error("a request that was set aside leaves no trace in history")
	}
	// Any other phase: refused, with each file named.
	w = startedWorld(t, nil).inPhase("build")
	delete(w.work, "docs/build.md")
	w.commit()
	turn = w.assign("dev")
	tr = w.refuse(wire.CodeGateCoverage, turn.TurnID, "phase_transition_request", "ship")
	if len(tr.Failure.Problems) != 1 || tr.Failure.Problems[0].Field != "docs/build.md" {
		t.Errorf("problems %v", tr.Failure.Problems)
	}
	w.write("docs/build.md", "built")
	w.accept(turn.TurnID, "phase_transition_request", "ship", "files_changed", []string{"docs/build.md"})
	if w.state.Phase != "ship" {
		t.Errorf("phase %s", w.state.Phase)
	}
}

// The candidate's own participation counts in the pre-check (docs/compatibility.md#where-we-differ-on-purpose).
func TestAcceptGateOwnership(t *testing.T) {
	w := startedWorld(t,
		sets("workflow_kit", obj(`{"phases":{"build":{"artifacts":[{"path":"docs/build.md","owned_by":"qa"}]}}}`),
			"routing.build.allowed_next_roles", []string{"dev", "qa", "human"})).inPhase("build")
	w.refuse(wire.CodeGateCoverage, w.assign("dev").TurnID, "phase_transition_request", "ship")
	w.must(w.rejection(w.state.OnlyTurn().TurnID, "qa first"))
	w.must(w.reissue(w.state.OnlyTurn().TurnID, "qa"))
	w.accept(w.state.OnlyTurn().TurnID, "phase_transition_request", "ship")
	if w.state.Phase != "ship" {
		t.Errorf("phase %s", w.state.Phase)
	}
}

func TestNonProgressInEveryPhase(t *testing.T) {
	for _, phase := range []string{"planning", "build", "ship"} {
		w := startedWorld(t, sets("gates.ship_ok.requires_files", []string{"docs/ship.md"})).inPhase(phase)
		for _, f := range []string{"docs/plan.md", "docs/build.md"} {
			delete(w.work, f)
		}
		w.commit()
		for i := 1; i <= 3; i++ {
			if w.state.NonProgressCount != i-1 {
				t.Errorf("%s: count %d before turn %d", phase, w.state.NonProgressCount, i)
			}
			tr := w.accept(w.assign("dev").TurnID, "status", "failed")
			if i == 3 {
				w.wantEvents(tr, "turn_accepted human_escalation_raised run_blocked")
				w.wantEntries(tr, "non_progress_block")
			}
		}
		w.wantStatus(wire.StatusBlocked, "non_progress")
		w.fails(wire.CodeRunBlocked, w.assignment("dev"))
		w.must(&Reactivate{})
		if w.state.NonProgressCount != 0 || w.state.NonProgressSignature != nil {
			t.Errorf("%s: the count survives", phase)
		}
	}
}

// Editing a file on which the gate fails is progress even while it still fails.
func TestNonProgressCountsOnlyIdleTurns(t *testing.T) {
	w := startedWorld(t, sets("gates.build_ok.requires_files", []string{"docs/build.md", "docs/never.md"})).inPhase(
		"build")
	for i := range 6 {
		turn := w.assign("dev")
		w.write("docs/never.md", strings.Repeat("x", i+1))
		w.commit()
		delete(w.work, "docs/never.md")
		w.accept(turn.TurnID, "files_changed", []string{"docs/never.md"})
		w.commit()
	}
	w.wantStatus(wire.StatusActive, "")
}

func TestQueuedCompletionDoesNotSurviveItsPhase(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false))
	pm, dev := w.assign("pm"), w.assign("dev")
	w.accept(dev.TurnID, "run_completion_request", true)
	if w.state.QueuedRunCompletion == nil {
		t.Fatal("not queued")
	}
	w.accept(pm.TurnID)
	if w.state.QueuedRunCompletion != nil || w.index.QueuedDone != nil {
		t.Error("a completion asked for in planning is still queued")
	}
	w.inPhase("ship")
	w.accept(w.assign("qa").TurnID)
	w.wantStatus(wire.StatusActive, "")
}
