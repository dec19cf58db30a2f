// Tests of the delegation life cycle.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const twoDelegations = `[{"id":"del-001","to_role":"dev","charter":"build it","acceptance_contract":["it builds"],"required_decision_ids":["DEC-010"]},
	{"id":"del-002","to_role":"qa","charter":"check it","acceptance_contract":["it is checked"]}]`

// patient does not treat turns that leave the gate alone as an idle loop.
var patient = sets("run_loop.non_progress_threshold", 99)

func TestDelegationLifecycle(t *testing.T) {
	w := startedWorld(t, patient)
	parent := w.assign("pm")
	w.accept(parent.TurnID, "delegations", arr(twoDelegations))
	if q := w.state.DelegationQueue; len(q) != 2 || q[0].Status != "pending" || q[0].ParentTurnID != parent.TurnID ||
		wire.OrEmpty(w.state.NextRecommendedRole) != "dev" {
		t.Fatalf("queue %s", w.state.Encode())
	}
	if len(w.lastRow(wire.LedgerHistory).Objects("delegations_issued")) != 2 {
		t.Error("history does not name the delegations")
	}
	// Delegated work is due before anything else.
	dev := w.assign("")
	if dev.AssignedRole != "dev" || dev.DelegationContext.String("delegation_id") != "del-001" ||
		w.state.DelegationQueue[0].Status != "active" ||
		wire.OrEmpty(w.state.DelegationQueue[0].ChildTurnID) != dev.TurnID {
		t.Fatalf("turn %s", ojson.Compact(ojson.Marshal(dev)))
	}
	w.refuse(wire.CodeValidationFailed, dev.TurnID, "delegations", arr(twoDelegations))
	w.accept(dev.TurnID, "decisions", arr(`[{"id":"DEC-011","category":"scope","statement":"s","rationale":"r"}]`))
	if w.state.DelegationQueue[0].Status != "completed" || w.state.PendingDelegation != nil ||
		wire.OrEmpty(w.state.NextRecommendedRole) != "qa" {
		t.Fatalf("queue %s", w.state.Encode())
	}
	qa := w.assign("")
	w.accept(qa.TurnID, "status", "failed", "summary", "could not")
	r := w.state.PendingDelegation
	if r == nil || r.ParentRole != "pm" || len(r.Results) != 2 || len(w.state.DelegationQueue) != 0 ||
		wire.OrEmpty(w.state.NextRecommendedRole) != "pm" {
		t.Fatalf("review %s", w.state.Encode())
	}
	one, two := r.Results[0], r.Results[1]
	if one.String("status") != "completed" || one.Strings("missing_decision_ids")[0] != "DEC-010" ||
		one.String("child_turn_id") != dev.TurnID ||
		two.String("status") != "failed" || two.String("summary") != "could not" ||
		len(two.Strings("missing_decision_ids")) != 0 {
		t.Errorf("results %s", ojson.Compact(r.Results))
	}
	w.write("docs/plan.md", "plan")
	w.commit()
	review := w.assign("")
	if review.AssignedRole != "pm" || len(review.DelegationReview.Objects("results")) != 2 {
		t.Fatalf("turn %s", ojson.Compact(ojson.Marshal(review)))
	}
	w.refuse(wire.CodeValidationFailed, review.TurnID, "phase_transition_request", "build")
	w.accept(review.TurnID)
	if w.state.PendingDelegation != nil {
		t.Error("the review is still pending")
	}
}

func TestDelegationRequiredDecisionIsSatisfied(t *testing.T) {
	w := startedWorld(t, patient)
	w.accept(w.assign("pm").TurnID, "delegations", arr(twoDelegations))
	w.accept(w.assign("qa").TurnID)
	w.accept(w.assign("dev").TurnID, "decisions",
		arr(`[{"id":"DEC-010","category":"scope","statement":"s","rationale":"r"}]`))
	if got := w.state.PendingDelegation.Results[0]; got.Strings("satisfied_decision_ids")[0] != "DEC-010" ||
		len(got.Strings("missing_decision_ids")) != 0 {
		t.Errorf("result %s", ojson.Compact(got))
	}
	w.write("docs/plan.md", "plan")
	w.commit()
	w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
}

// A turn of the parent's role that never received the results has not reviewed them, and a second parent's review
// waits for the first.
func TestDelegationReviewIsNotLost(t *testing.T) {
	w := startedWorld(t, patient)
	one := `[{"id":"del-001","to_role":"dev","charter":"c","acceptance_contract":["a"]}]`
	two := `[{"id":"del-001","to_role":"ops","charter":"c","acceptance_contract":["a"]}]`
	w.accept(w.assign("pm").TurnID, "delegations", arr(one))
	w.accept(w.assign("qa").TurnID, "delegations", arr(two))
	early := w.assign("pm") // before there is anything to review
	dev, ops := w.assign("dev"), w.assign("ops")
	w.accept(dev.TurnID)
	if w.state.PendingDelegation == nil || w.state.PendingDelegation.ParentRole != "pm" {
		t.Fatal("no review")
	}
	w.accept(ops.TurnID)
	if w.state.PendingDelegation.ParentRole != "pm" || len(w.state.DelegationQueue) != 1 {
		t.Fatal("the first review was overwritten")
	}
	w.accept(early.TurnID)
	if w.state.PendingDelegation == nil {
		t.Fatal("a turn without the results counts as their review")
	}
	review := w.assign("pm")
	w.accept(review.TurnID)
	if w.state.PendingDelegation == nil || w.state.PendingDelegation.ParentRole != "qa" ||
		len(w.state.DelegationQueue) != 0 {
		t.Fatalf("state %s", w.state.Encode())
	}
	w.accept(w.assign("qa").TurnID)
	if w.state.PendingDelegation != nil {
		t.Error("review")
	}
}

// Open delegated work blocks every way on: requests of any turn, those that wait for siblings, the reviewer's
// silence, and time.
func TestDelegationHoldsTheRun(t *testing.T) {
	w := startedWorld(t, func(cfg *ojson.Object) {
		patient(cfg)
		set(cfg, "gates.plan_ok.requires_human_approval", false)
	})
	w.write("docs/plan.md", "plan")
	w.commit()
	one := `[{"id":"del-001","to_role":"dev","charter":"build it","acceptance_contract":["it builds"]}]`
	early, parent := w.assign("qa"), w.assign("pm")
	w.accept(early.TurnID, "phase_transition_request", "build")
	if w.state.QueuedPhaseTransition == nil {
		t.Fatal("the request does not wait for the sibling")
	}
	tr := w.accept(parent.TurnID, "delegations", arr(one), "phase_transition_request", "build")
	ws := tr.Result.(*AcceptResult).Warnings
	if w.state.Phase != "planning" || w.state.QueuedPhaseTransition != nil || len(ws) != 1 ||
		!strings.Contains(ws[0], "delegated work") {
		t.Fatalf("phase %s, warnings %q", w.state.Phase, ws)
	}
	if n := NextStep(w.state, w.cfg, ""); n.Reason != "pm delegated del-001 to dev: build it" ||
		n.Command != "git agentxchain assign dev" {
		t.Errorf("next %+v", n)
	}
	other := w.assign("qa")
	w.accept(other.TurnID, "phase_transition_request", "build")
	w.accept(w.assign("").TurnID, "phase_transition_request", "build")
	if w.state.Phase != "planning" || w.state.PendingDelegation == nil {
		t.Fatalf("phase %s over a review", w.state.Phase)
	}
	if n := NextStep(w.state, w.cfg, ""); !strings.HasPrefix(n.Reason, "pm reviews what came back") ||
		n.Command != "git agentxchain assign pm" {
		t.Errorf("next %+v", n)
	}
	w.accept(w.assign("").TurnID, "phase_transition_request", "build")
	if w.state.Phase != "build" {
		t.Errorf("phase %s after the review", w.state.Phase)
	}
}

// A turn of the last phase may delegate without mentioning completion.
func TestLastPhaseDelegates(t *testing.T) {
	w := startedWorld(t, func(cfg *ojson.Object) {
		patient(cfg)
		set(cfg, "gates.ship_ok.requires_human_approval", false)
	}).inPhase("ship")
	w.accept(w.assign("qa").TurnID, "delegations",
		arr(`[{"id":"del-001","to_role":"dev","charter":"c","acceptance_contract":["a"]}]`))
	w.accept(w.assign("pm").TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusActive, "")
	w.accept(w.assign("dev").TurnID)
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusCompleted, "")
}

func TestReissueKeepsObligations(t *testing.T) {
	w := startedWorld(t, nil)
	w.accept(w.assign("pm").TurnID, "delegations", arr(twoDelegations))
	dev := w.assign("dev")
	w.edit(func(s *run.State) {
		turn, _ := s.ActiveTurns.Get(dev.TurnID)
		turn.IntakeContext = obj(`{"intent_id":"intent_1_0000","acceptance_contract":["ship the thing"]}`)
		turn.Extra.Set("idle_expansion_context", obj(`{"expansion_iteration":2}`))
		turn.Extra.Set("worker_pid", ojson.Int(7))
	})
	tr := w.must(w.reissue(dev.TurnID, ""))
	w.wantEvents(tr, "turn_reissued turn_dispatched")
	w.wantEntries(tr, "turn_reissued")
	turn := tr.Result.(*ReissueResult).Turn
	if turn.Attempt != 2 || turn.ReissuedFrom != dev.TurnID || turn.RunID != w.state.Run() ||
		turn.IntakeContext == nil || turn.DelegationContext == nil {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(turn)))
	}
	if _, ok := turn.Extra.Get("idle_expansion_context"); !ok {
		t.Error("the expansion is lost")
	}
	if _, ok := turn.Extra.Get("worker_pid"); ok {
		t.Error("a worker that is gone came along")
	}
	if wire.OrEmpty(w.state.DelegationQueue[0].ChildTurnID) != turn.TurnID {
		t.Error("the delegation waits for the old turn")
	}
	row := w.lastRow(wire.LedgerHistory)
	if row.String("status") != run.HistoryReissued || row.Has("accepted_sequence") || w.index.Accepted != 1 ||
		w.index.LastRow.String("turn_id") == dev.TurnID {
		t.Errorf("row %s", ojson.Compact(row))
	}
	if e := added(tr, wire.LedgerEvents)[0]; e.String("intent_id") != "intent_1_0000" {
		t.Errorf("event %s", ojson.Compact(e))
	}
	w.refuse(wire.CodeIntentCoverage, turn.TurnID)
	w.accept(turn.TurnID, "summary", "we ship the thing")
	if w.state.DelegationQueue[0].Status != "completed" {
		t.Error("delegation")
	}
	if w.lastRow(wire.LedgerHistory).String("intent_id") != "intent_1_0000" {
		t.Error("intent")
	}
}

func TestIntentCoverage(t *testing.T) {
	items := obj(`{"intent_id":"intent_1_0000","acceptance_contract":["Refactor the parser module","Document every option"]}`)
	for name, tc := range map[string]struct {
		mode    string
		context *ojson.Object
		members []any
		code    string
		warns   bool
	}{
		"nothing said": {members: []any{"summary", "done"}, code: wire.CodeIntentCoverage},
		"half the words": {members: []any{"summary",
			"the parser was refactored (refactor) and each option has a document"}},
		"answers": {members: []any{"summary", "done", "intent_response",
			arr(`[{"item":"refactor the PARSER module ","status":"addressed"},{"item":"Document every option","status":"deferred"}]`)}},
		"quoted, not answered": {
			members: []any{"summary", "done", "intent_response",
				arr(`[{"item":"Refactor the parser module","status":"ignored"},{"item":"Document every option"}]`)},
			code: wire.CodeIntentCoverage,
		},
		"not completed": {members: []any{"summary", "could not", "status", "failed"}},
		"lenient":       {mode: "lenient", members: []any{"summary", "done"}, warns: true},
		"low priority": {
			context: obj(`{"priority":"p2","acceptance_contract":["Refactor the parser module"]}`),
			members: []any{"summary", "done"},
			warns:   true,
		},
		"top priority": {
			context: obj(`{"priority":"p0","acceptance_contract":["Refactor the parser module"]}`),
			members: []any{"summary", "done"},
			code:    wire.CodeIntentCoverage,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := startedWorld(t, func(cfg *ojson.Object) {
				if tc.mode != "" {
					cfg.Set("intent_coverage_mode", tc.mode)
				}
			})
			turn := w.assign("dev")
			w.edit(func(s *run.State) {
				turn, _ := s.ActiveTurns.Get(turn.TurnID)
				turn.IntakeContext = items
				if tc.context != nil {
					turn.IntakeContext = tc.context
				}
			})
			if tc.code != "" {
				tr := w.refuse(tc.code, turn.TurnID, tc.members...)
				if len(tr.Failure.Problems) == 0 {
					t.Error("no item named")
				}
				return
			}
			tr := w.accept(turn.TurnID, tc.members...)
			if got := len(tr.Result.(*AcceptResult).Warnings) > 0; got != tc.warns {
				t.Errorf("warnings %v", tr.Result.(*AcceptResult).Warnings)
			}
		})
	}
}
