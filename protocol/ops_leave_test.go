// Tests of the other ways to leave a waiting gate: more work in the phase, and a stop.

package protocol

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (w *opsWorld) leaving(role string) *AssignTurn {
	op := w.assignment(role)
	op.LeaveGate = true
	return op
}

func TestAssignAtAWaitingGate(t *testing.T) {
	w := paused(t, sets("routing.planning.allowed_next_roles", []string{"pm", "human"}))
	// Only a named role of the phase, on purpose, and not from inside a turn.
	w.fails(wire.CodeAwaitingApproval, w.assignment("pm"))
	w.fails(wire.CodeAwaitingApproval, w.leaving(""))
	w.fails(wire.CodeAwaitingApproval, w.leaving("dev"))
	w.fails(wire.CodeAwaitingApproval, w.leaving("nobody"))
	w.actor.InsideTurn = "turn_agent"
	w.fails(wire.CodeInsideTurn, w.leaving("pm"))
	w.actor.InsideTurn = ""
	tr := w.must(w.leaving("pm"))
	w.wantEvents(tr, "gate_left turn_dispatched")
	w.wantEntries(tr, "gate_left")
	w.wantStatus(wire.StatusActive, "")
	if st, _ := w.state.PhaseGateStatus.Get("plan_ok"); st != wire.GatePending || w.state.Phase != "planning" ||
		w.state.PendingPhaseTransition != nil {
		t.Errorf("%s", w.state.Encode())
	}
	if res := tr.Result.(*AssignResult); res.Left != "plan_ok" || res.Turn.AssignedRole != "pm" {
		t.Errorf("%+v", res)
	}
	if row := w.lastRow(wire.LedgerDecisions); row.Object("left_by").String("name") != "Ada" ||
		row.String("role") != "pm" || row.String("to_phase") != "build" {
		t.Errorf("%s", ojson.Compact(row))
	}
	w.fails(wire.CodeInvalidStateTransition, w.approval())
	// The gate is requested again, and opens.
	w.accept(w.state.OnlyTurn().TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	w.must(w.approval())
}

func TestAssignAtAWaitingCompletion(t *testing.T) {
	w := startedWorld(t, nil).inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	w.must(w.leaving("qa"))
	if w.state.PendingRunCompletion != nil || w.state.Phase != "ship" {
		t.Errorf("%s", w.state.Encode())
	}
}

func TestEscalateAtAWaitingGate(t *testing.T) {
	w := paused(t, nil)
	w.must(&Escalate{Reason: "which licence?"})
	w.wantStatus(wire.StatusBlocked, "escalation:operator:which-licence")
	// The gate does not open meanwhile, and waits as before afterwards.
	w.fails(wire.CodeRunBlocked, w.approval())
	w.fails(wire.CodeRunBlocked, w.leaving("pm"))
	w.fails(wire.CodeRunBlocked, &DenyGate{Reason: "no"})
	w.must(&Reactivate{})
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	w.must(w.approval())
}
