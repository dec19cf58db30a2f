// Tests of WithdrawApproval: back to exactly the wait that the approval ended, and no further.

package protocol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// waiting returns everything of a state that a withdrawal must restore.
func waiting(s *run.State) string {
	c := s.Clone()
	c.LastApproval, c.TurnSequence, c.BudgetStatus = nil, 0, run.BudgetStatus{}
	return string(c.Encode())
}

func TestWithdrawAPhase(t *testing.T) {
	w := paused(t, nil)
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
	before := waiting(w.state)
	w.must(w.approval())
	if kind, gate, to := w.state.LastApproval.Gate(); kind != run.GatePhase || gate != "plan_ok" || to != "build" {
		t.Fatalf("last approval %s", w.state.Encode())
	}
	w.actor.InsideTurn = "turn_agent"
	w.fails(wire.CodeInsideTurn, w.withdrawal("I want it back"))
	w.actor.InsideTurn = ""
	w.fails(wire.CodeInvalidArgument, w.withdrawal(strings.Repeat("x", change.MaxReason+1)))
	tr := w.must(w.withdrawal(" too early "))
	w.wantEvents(tr, "approval_withdrawn gate_pending")
	w.wantEntries(tr, "approval_withdrawn")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	if after := waiting(w.state); after != before || w.state.LastApproval != nil {
		t.Errorf("the wait is another:\n%s\n%s", before, after)
	}
	row := w.lastRow(wire.LedgerDecisions)
	if row.String("reason") != "too early" || row.Object("withdrawn_by").String("name") != "Ada" ||
		row.Object("approved_by").String("name") != "Ada" || !row.Bool("terminal") {
		t.Errorf("%s", ojson.Compact(row))
	}
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal("again"))
	// It can be given again, refused, and taken back again.
	w.must(w.approval())
	w.must(w.withdrawal(""))
	w.must(&DenyGate{Reason: "no"})
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
}

func TestWithdrawDropsTurns(t *testing.T) {
	w := paused(t, nil)
	before := waiting(w.state)
	w.must(w.approval())
	w.commit()
	dev := w.assign("dev")
	w.stage(dev.TurnID, "cost", ojson.NewObject("usd", 0.5))
	tr := w.must(w.withdrawal(""))
	if res := tr.Result.(*WithdrawResult); strings.Join(res.Dropped, " ") != dev.TurnID || res.From != "planning" ||
		res.To != "build" {
		t.Errorf("%+v", res)
	}
	if kept := w.lastRow(wire.LedgerDecisions).Objects("dropped_turns")[0].String("kept"); w.files[kept] == nil ||
		w.state.BudgetStatus.SpentUSD != 0.5 {
		t.Errorf("kept %q, spent %v", kept, w.state.BudgetStatus.SpentUSD)
	}
	if after := waiting(w.state); after != before {
		t.Errorf("the wait is another:\n%s\n%s", before, after)
	}
	// An accepted turn settles it.
	w.must(w.approval())
	dev = w.assign("dev")
	w.refuse(wire.CodeValidationFailed, dev.TurnID, "status", "splendid")
	if w.state.LastApproval == nil {
		t.Fatal("a refused result has settled the approval")
	}
	w.accept(dev.TurnID)
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
}

func TestWithdrawACompletion(t *testing.T) {
	w := startedWorld(t, nil).inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	before := waiting(w.state)
	w.must(w.approval())
	w.wantStatus(wire.StatusCompleted, "")
	tr := w.must(w.withdrawal("found a bug"))
	w.wantEvents(tr, "approval_withdrawn gate_pending")
	w.wantStatus(wire.StatusPaused, "human_approval:ship_ok")
	if after := waiting(w.state); after != before {
		t.Errorf("the wait is another:\n%s\n%s", before, after)
	}
	if row := w.lastRow(wire.LedgerRunHistory); row.String("status") != "paused" ||
		row.String("blocked_reason") != "human_approval:ship_ok" {
		t.Errorf("%s", ojson.Compact(row))
	}
	if _, err := run.Provenance("continuation", "", w.state.Run(), "", w.lastRow(wire.LedgerRunHistory)); err == nil {
		t.Error("a run that goes on again was continued")
	}
	w.must(w.approval())
	w.wantStatus(wire.StatusCompleted, "")
	if row := w.lastRow(wire.LedgerRunHistory); row.String("status") != "completed" {
		t.Errorf("%s", ojson.Compact(row))
	}
	// Not once another run was started.
	w.must(w.start(InitRun{Restart: true}))
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal("found a bug"))
}

func TestWithdrawWhatNoPersonGave(t *testing.T) {
	auto := sets("approval_policy", obj(`{"phase_transitions":{"default":"auto_approve"}}`),
		"gates.ship_ok.requires_human_approval", false)
	w := startedWorld(t, auto).inPhase("build")
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
	w = startedWorld(t, auto).inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusCompleted, "")
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
	// An approval recorded before withdrawals existed cannot be withdrawn.
	w = paused(t, nil)
	op := w.approval().(*ApprovePhase)
	op.Approval.Undoable = false
	w.must(op)
	if bytes.Contains(w.state.Encode(), []byte("last_approval")) {
		t.Error("an old record yields another state")
	}
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
	// A block is lifted first.
	w = paused(t, nil)
	w.must(w.approval())
	w.must(&Escalate{Reason: "stop"})
	w.fails(wire.CodeRunBlocked, w.withdrawal(""))
	w.must(&Reactivate{})
	w.must(w.withdrawal(""))
	// The reference accepts a turn and keeps the member it does not know.
	w.must(w.approval())
	w.edit(func(s *run.State) { s.LastCompletedTurnID = new("turn_of_theirs") })
	w.fails(wire.CodeNothingToWithdraw, w.withdrawal(""))
}

// Another tool that changes what a withdrawal restores claims a person's authority.
func TestLastApprovalClaims(t *testing.T) {
	w := paused(t, nil)
	w.must(w.approval())
	claims := func(change func(*run.State)) string {
		after := w.state.Clone()
		change(after)
		out := ""
		for _, c := range external.Claims(w.cfg, w.state, w.reread(after)) {
			out += c.Kind + " " + c.Gate
		}
		return out
	}
	for name, tc := range map[string]struct {
		change func(*run.State)
		want   string
	}{
		"untouched":    {func(*run.State) {}, ""},
		"taken out":    {func(s *run.State) { s.LastApproval = nil }, ""},
		"another gate": {func(s *run.State) { s.LastApproval.Transition.Gate = "ship_ok" }, "last_approval ship_ok"},
		"another way":  {func(s *run.State) { s.LastApproval.GateStatus = wire.GatePassed }, "last_approval plan_ok"},
	} {
		if got := claims(tc.change); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	w.edit(func(s *run.State) { s.LastApproval = nil })
	put := func(s *run.State) {
		s.LastApproval = &run.LastApproval{Transition: &run.PendingTransition{
			From: "planning",
			To:   "build",
			Gate: "plan_ok",
		}}
	}
	if got := claims(put); got != "last_approval plan_ok" {
		t.Errorf("put in: %q", got)
	}
}
