// Tests of the approvals.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestApprovePhase(t *testing.T) {
	w := paused(t, nil)
	by := w.state.PendingPhaseTransition.RequestedByTurn
	w.actor.Terminal = false
	tr := w.must(w.approval())
	w.wantEvents(tr, "gate_approved phase_entered phase_cleanup")
	w.wantEntries(tr, "human_approval")
	w.wantStatus(wire.StatusActive, "")
	row := w.lastRow(wire.LedgerDecisions)
	if row.Object("approved_by").String("name") != "Ada" || row.Bool("terminal") ||
		row.String("requested_by_turn") != by || row.String("to_phase") != "build" {
		t.Errorf("row %s", ojson.Compact(row))
	}
	if p := added(tr, wire.LedgerEvents)[1].Object("payload"); p.String("trigger") != "human_approved" {
		t.Errorf("payload %s", ojson.Compact(p))
	}
	if g, _ := w.state.PhaseGateStatus.Get("plan_ok"); w.state.Phase != "build" || g != wire.GatePassed ||
		w.state.PendingPhaseTransition != nil || w.reason(tr) != "phase_approved" {
		t.Errorf("state %s", w.state.Encode())
	}
	w.fails(wire.CodeInvalidStateTransition, &ApprovePhase{})
}

// A denial sends the run back to work, and says why.
func TestDenyGate(t *testing.T) {
	w := paused(t, nil)
	by := w.state.PendingPhaseTransition.RequestedByTurn
	w.fails(wire.CodeReasonRequired, &DenyGate{Reason: " \t"})
	w.fails(wire.CodeInvalidArgument, &DenyGate{Reason: strings.Repeat("x", change.MaxReason+1)})
	w.actor.InsideTurn = "turn_x"
	w.fails(wire.CodeInsideTurn, &DenyGate{Reason: "no"})
	w.actor.InsideTurn = ""
	tr := w.must(&DenyGate{Reason: " too thin "})
	w.wantEvents(tr, "gate_failed")
	w.wantEntries(tr, "human_denial gate_failure")
	w.wantStatus(wire.StatusActive, "")
	f, g := w.state.LastGateFailure, w.state
	status, _ := g.PhaseGateStatus.Get("plan_ok")
	if g.Phase != "planning" || status != wire.GateFailed || g.PendingPhaseTransition != nil || f == nil ||
		wire.OrEmpty(f.RequestedByTurn) != by ||
		len(f.Reasons) != 1 || f.Reasons[0] != "denied by Ada: too thin" || wire.OrEmpty(f.ToPhase) != "build" {
		t.Errorf("state %s", g.Encode())
	}
	row := added(tr, wire.LedgerDecisions)[0]
	if row.Object("denied_by").String("name") != "Ada" || row.String("reason") != "too thin" ||
		row.String("gate_id") != "plan_ok" {
		t.Errorf("row %s", ojson.Compact(row))
	}
	w.fails(wire.CodeInvalidStateTransition, &DenyGate{Reason: "again"})
}

func TestDenyCompletion(t *testing.T) {
	w := startedWorld(t, nil).inPhase("ship")
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	tr := w.must(&DenyGate{Reason: "not shipped on a Friday"})
	w.wantEntries(tr, "human_denial gate_failure")
	w.wantStatus(wire.StatusActive, "")
	if w.state.PendingRunCompletion != nil || w.state.LastGateFailure == nil ||
		w.state.LastGateFailure.GateType != run.GateCompletion {
		t.Errorf("state %s", w.state.Encode())
	}
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusPaused, "human_approval:ship_ok")
}

func TestApproveCompletion(t *testing.T) {
	w := startedWorld(t, nil).inPhase("ship")
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusPaused, "human_approval:ship_ok")
	w.fails(wire.CodeInvalidStateTransition, &ApprovePhase{})
	tr := w.must(w.approval())
	w.wantEvents(tr, "gate_approved run_completed")
	w.wantStatus(wire.StatusCompleted, "")
	if w.reason(tr) != "run_completed" || w.lastRow(wire.LedgerRunHistory).String("status") != "completed" {
		t.Error("session or run history")
	}
	w.fails(wire.CodeInvalidStateTransition, &ApproveCompletion{})
}

func TestApprovalFromInsideATurn(t *testing.T) {
	w := paused(t, nil)
	w.actor.InsideTurn = "turn_x"
	w.fails(wire.CodeInsideTurn, w.approval())
	w.actor.InsideTurn = ""
	w.must(w.approval())
}

// What was true at the pause may not be true at the approval.
func TestApprovalLooksAgain(t *testing.T) {
	w := paused(t, nil)
	delete(w.work, "docs/plan.md")
	err := w.failsPlain(wire.CodeGateFailed, w.approval())
	if len(err.Problems) != 1 || err.Details.Strings("missing_files")[0] != "docs/plan.md" {
		t.Errorf("problems %v", err.Problems)
	}
	w.write("docs/plan.md", "plan")
	// The configuration has changed since: the order of phases no longer fits.
	order := w.cfg.Routing
	w.cfg.Routing = ojson.Map[*config.Route]{}
	for _, p := range []string{"planning", "ship", "build"} {
		r, _ := order.Get(p)
		w.cfg.Routing.Set(p, r)
	}
	w.failsPlain(wire.CodeGateFailed, w.approval())
	w.cfg.Routing = order
	w.must(w.approval())

	w.inPhase("ship")
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.cfg.Routing.Set("after", &config.Route{Phase: "after", EntryRole: "qa"})
	w.failsPlain(wire.CodeGateFailed, w.approval())
}

// failsPlain expects an unrecorded refusal and returns it.
func (w *opsWorld) failsPlain(code string, op Operation) *wire.Error {
	w.t.Helper()
	_, err := w.apply(op)
	if err == nil || err.Code != code {
		w.t.Fatalf("%s: %v, want %s", op.Name(), err, code)
	}
	return err
}

func TestGateActions(t *testing.T) {
	w := paused(t, sets("gates.plan_ok.gate_actions",
		arr(`[{"run":"make release","label":"release"},{"run":"make announce"}]`)))
	good := func() *ApprovePhase { return w.approval().(*ApprovePhase) }
	// They must have run: all, as configured, in order.
	op := good()
	op.Approval.Actions = []ActionRun{}
	w.fails(wire.CodeInvalidArgument, op)
	op = good()
	op.Approval.Actions = op.Approval.Actions[:1]
	w.fails(wire.CodeInvalidArgument, op)
	op = good()
	op.Approval.Actions[1].Command = "true"
	w.fails(wire.CodeInvalidArgument, op)
	op = good()
	op.Approval.Actions = append(op.Approval.Actions, op.Approval.Actions[1])
	w.fails(wire.CodeInvalidArgument, op)
	// Before they run, one can ask whether the gate would pass.
	if _, err := Apply(w.snapshot(), &ApprovePhase{Approval{Files: w.gateFiles(), Preview: true}},
		w.env()); err != nil {
		t.Fatal(err)
	}

	op = good()
	op.Approval.Actions[1].OK, op.Approval.Actions[1].ExitCode, op.Approval.Actions[1].StderrTail = false, new(2),
		new("boom")
	tr := w.fails(wire.CodeGateActionFailed, op)
	w.wantEvents(tr, "human_escalation_raised run_blocked")
	w.wantEntries(tr, "gate_action gate_action")
	w.wantStatus(wire.StatusBlocked, "gate_action:plan_ok")
	b := w.state.BlockedReason
	v, _ := b.Extra.Get("gate_action")
	if act, _ := v.(*ojson.Object); b.Category != "gate_action_failed" || w.state.PendingPhaseTransition == nil ||
		act.String("command") != "make announce" || w.state.Phase != "planning" {
		t.Errorf("state %s", w.state.Encode())
	}
	w.fails(wire.CodeAwaitingApproval, &Reactivate{})
	w.fails(wire.CodeRunBlocked, w.assignment("pm"))
	// A second failure does not ask anyone twice; a success closes the record.
	op.Approval.Actions[0].OK = false
	op.Approval.Actions = op.Approval.Actions[:1]
	tr = w.fails(wire.CodeGateActionFailed, op)
	w.wantEvents(tr, "run_blocked")
	tr = w.must(good())
	w.wantEvents(tr, "gate_approved human_escalation_resolved phase_entered phase_cleanup")
	w.wantEntries(tr, "gate_action gate_action human_approval")
	w.wantStatus(wire.StatusActive, "")
}

func TestApprovalOfABlockedRun(t *testing.T) {
	w := paused(t, nil)
	w.must(&Block{
		BlockedOn:   "dispatch:x",
		Category:    "dispatch_error",
		TypedReason: "dispatch_error",
		Owner:       "human",
		Action:      "x",
	})
	w.fails(wire.CodeRunBlocked, w.approval())
	// Lifting it goes back to waiting: nothing is passed on the way.
	tr := w.must(&Reactivate{})
	w.wantEvents(tr, "human_escalation_resolved")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	w.must(&Block{
		BlockedOn:   "hook:before_gate:h",
		Category:    "hook_block",
		TypedReason: "pending_phase_transition",
		Owner:       "human",
		Action:      "x",
	})
	w.must(&Block{
		BlockedOn:   "gate_action:plan_ok",
		Category:    "gate_action_failed",
		TypedReason: "gate_action_failed",
		Owner:       "human",
		Action:      "x",
	})
	tr = w.must(w.approval())
	w.wantStatus(wire.StatusActive, "")
	if n := len(added(tr, wire.LedgerEscalations)); n != 1 {
		t.Errorf("%d records closed", n)
	}
}

// A gate stopped by a hook or an action proceeds with an approval of the kind it needs, and the step names the
// gate, not what was said.
func TestNextStepOfAStoppedGate(t *testing.T) {
	w := paused(t, people(`{"approvers":{"team":{"principals":["a@x"],"threshold":1}},
		"gates":{"plan_ok":{"by":"team","signed":true}}}`))
	for _, b := range []*Block{
		{BlockedOn: "hook:before_gate:h", Category: "hook_block", TypedReason: "pending_phase_transition"},
		{BlockedOn: "gate_action:plan_ok", Category: "gate_action_failed", TypedReason: "gate_action_failed"},
	} {
		b.Owner, b.Action, b.Detail = "human", run.RecoveryAction(b.TypedReason, b.BlockedOn, ""), "not today"
		w.must(b)
		n := NextStep(w.state, w.cfg, "")
		if !strings.HasSuffix(n.Command, "git agentxchain approve --sign") ||
			!strings.HasPrefix(n.Reason, "Gate plan_ok is stopped: not today") ||
			strings.Contains(n.Reason, run.CmdAsIs) != (b.Category == "hook_block") {
			t.Errorf("%s: %s: %s", b.BlockedOn, n.Command, n.Reason)
		}
	}
}
