// Tests of Escalate, Block and Reactivate.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestEscalateAndUnblock(t *testing.T) {
	w := startedWorld(t, nil)
	w.fails(wire.CodeReasonRequired, &Escalate{Reason: " \n"})
	w.fails(wire.CodeTurnNotActive, &Escalate{Reason: "x", TurnID: "turn_none"})
	turn := w.assign("pm")
	w.assign("dev")
	w.fails(wire.CodeTargetRequired, &Escalate{Reason: "x"})
	tr := w.must(&Escalate{
		TurnID: turn.TurnID,
		Reason: "Scope creep!",
		Detail: "see <!-- here -->",
		Action: "ask Bob",
	})
	w.wantEvents(tr, "escalation_raised human_escalation_raised run_blocked")
	w.wantEntries(tr, "operator_escalated")
	w.wantStatus(wire.StatusBlocked, "escalation:operator:scope-creep")
	r := w.state.BlockedReason
	if r.Recovery.RecoveryAction != "ask Bob" || !r.Recovery.TurnRetained || wire.OrEmpty(r.TurnID) != turn.TurnID ||
		w.state.Escalation.String("source") != "operator" || w.state.Escalation.String("from_role") != "pm" {
		t.Errorf("state %s", w.state.Encode())
	}
	id := tr.Result.(*BlockResult).EscalationID
	if id == "" || strings.Contains(string(w.tasks), "see <!-- here") ||
		w.lastRow(wire.LedgerRunHistory).String("blocked_reason") != "escalation:operator:scope-creep" {
		t.Errorf("tasks %s", w.tasks)
	}
	w.fails(wire.CodeInvalidStateTransition, &Escalate{TurnID: turn.TurnID, Reason: "again"})
	w.fails(wire.CodeNotFound, &Reactivate{EscalationID: "hesc_other"})
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, &Reactivate{EscalationID: id})
	w.actor.InsideTurn = ""
	tr = w.must(&Reactivate{EscalationID: id})
	w.wantEvents(tr, "human_escalation_resolved escalation_resolved")
	w.wantEntries(tr, "escalation_resolved")
	w.wantStatus(wire.StatusActive, "")
	if res := tr.Result.(*ReactivateResult); res.EscalationID != id || w.state.Escalation != nil ||
		w.reason(tr) != "blocker_cleared" || !strings.Contains(string(w.tasks), "operator_unblock") {
		t.Errorf("result %+v", res)
	}
	w.fails(wire.CodeInvalidStateTransition, &Reactivate{})
}

func TestEscalateWithoutATurn(t *testing.T) {
	w := startedWorld(t, nil)
	w.must(&Escalate{Reason: "???"})
	w.wantStatus(wire.StatusBlocked, "escalation:operator:operator")
	if w.state.BlockedReason.Recovery.TurnRetained || w.state.BlockedReason.TurnID != nil {
		t.Error("no turn is concerned")
	}
}

func TestBlockNeedsItsWholeDescriptor(t *testing.T) {
	whole := Block{
		BlockedOn:   "dispatch:x",
		Category:    "dispatch_error",
		TypedReason: "dispatch_error",
		Owner:       "human",
		Action:      "mend it",
		Detail:      "d",
	}
	w := startedWorld(t, nil)
	for name, change := range map[string]func(*Block){
		"on": func(b *Block) {
			b.BlockedOn = " "
		}, "category": func(b *Block) { b.Category = "" }, "typed": func(b *Block) { b.TypedReason = "" },
		"owner": func(b *Block) {
			b.Owner = ""
		}, "other owner": func(b *Block) { b.Owner = "agent" }, "action": func(b *Block) { b.Action = "" },
		"gate": func(b *Block) { b.BlockedOn = "human_approval:ship_ok" },
	} {
		b := whole
		change(&b)
		if _, err := w.apply(&b); err == nil || err.Code != wire.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := whole
	b.TurnID = "turn_none"
	w.fails(wire.CodeTurnNotActive, &b)
	tr := w.must(&whole)
	w.wantEvents(tr, "human_escalation_raised run_blocked")
	// Another block may not replace one that a person has to answer.
	other := whole
	other.BlockedOn, other.Category, other.TypedReason = "hook:before_acceptance:x", "hook_block", "hook_block"
	w.fails(wire.CodeRunBlocked, &other)
	tr = w.must(&whole)
	w.wantEvents(tr, "run_blocked")
	idle := newOpsWorld(t, nil)
	idle.fails(wire.CodeInvalidStateTransition, &whole)
}
