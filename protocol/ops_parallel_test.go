// Tests of parallel turns: queued requests, attribution, blocked siblings, conflicts.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestParallelTurnsQueueRequests(t *testing.T) {
	for n := 2; n <= 4; n++ {
		w := startedWorld(t, nil)
		w.write("docs/plan.md", "plan")
		w.commit()
		var ids []string
		for _, role := range []string{"pm", "dev", "qa", "ops"}[:n] {
			ids = append(ids, w.assign(role).TurnID)
		}
		for i, id := range ids[:n-1] {
			members := []any{"proposed_next_role", "human"}
			if i == 0 {
				members = append(members, "phase_transition_request", "build")
			}
			tr := w.accept(id, members...)
			w.wantEvents(tr, "turn_accepted")
			w.wantStatus(wire.StatusActive, "")
			if q := w.state.QueuedPhaseTransition; q == nil || q.RequestedByTurn != ids[0] ||
				w.index.QueuedRow.String("turn_id") != ids[0] {
				t.Fatalf("%d turns: queued %v", n, q)
			}
		}
		tr := w.accept(ids[n-1])
		w.wantEvents(tr, "turn_accepted gate_pending")
		if p := w.state.PendingPhaseTransition; p == nil || p.RequestedByTurn != ids[0] ||
			w.state.QueuedPhaseTransition != nil {
			t.Errorf("%d turns: pending %v", n, p)
		}
	}
}

// The gate reads the verification of the turn that asked, when it is queued and
// when a person approves.
func TestQueuedRequestKeepsItsVerification(t *testing.T) {
	w := startedWorld(t, sets("gates.plan_ok.requires_verification_pass", true))
	w.write("docs/plan.md", "plan")
	w.commit()
	pm, dev := w.assign("pm"), w.assign("dev")
	w.accept(pm.TurnID, "phase_transition_request", "build")
	w.accept(dev.TurnID, "verification", obj(`{"status":"skipped"}`))
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	w.must(w.approval())
	if w.state.Phase != "build" {
		t.Errorf("phase %s", w.state.Phase)
	}

	w = startedWorld(t, sets("gates.plan_ok.requires_verification_pass", true))
	w.write("docs/plan.md", "plan")
	w.commit()
	pm, dev = w.assign("pm"), w.assign("dev")
	w.accept(pm.TurnID, "phase_transition_request", "build", "verification", obj(`{"status":"skipped"}`))
	tr := w.accept(dev.TurnID)
	w.wantEntries(tr, "gate_failure")
	if !w.state.LastGateFailure.QueuedRequest || wire.OrEmpty(w.state.LastGateFailure.RequestedByTurn) != pm.TurnID {
		t.Errorf("failure %s", ojson.Compact(ojson.Marshal(w.state.LastGateFailure)))
	}
}

func TestOwnRequestBeatsTheQueue(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false,
		"gates.ship_ok.requires_verification_pass", true)).inPhase("ship")
	qa, dev := w.assign("qa"), w.assign("dev")
	w.accept(qa.TurnID, "run_completion_request", true, "verification", obj(`{"status":"skipped"}`))
	w.accept(dev.TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusCompleted, "")

	// Each of two kinds of request is judged by its own row.
	w = startedWorld(t, sets("gates.plan_ok.requires_verification_pass", true,
		"gates.plan_ok.requires_human_approval", false))
	w.write("docs/plan.md", "plan")
	w.commit()
	pm, dev, qa := w.assign("pm"), w.assign("dev"), w.assign("qa")
	w.accept(pm.TurnID, "phase_transition_request", "build")
	w.accept(dev.TurnID, "run_completion_request", true, "verification", obj(`{"status":"skipped"}`))
	w.accept(qa.TurnID, "verification", obj(`{"status":"skipped"}`))
	if w.state.Phase != "build" || w.state.QueuedRunCompletion != nil {
		t.Errorf("phase %s queued %v", w.state.Phase, w.state.QueuedRunCompletion)
	}
}

func TestSiblingChangesAreAttributed(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	dev, ops := w.assign("dev"), w.assign("ops")
	w.write("src/dev.go", "d")
	w.write("src/ops.go", "o")
	// Nothing says whose src/ops.go is.
	w.refuse(wire.CodeDirtyTreeMismatch, dev.TurnID, "files_changed", []string{"src/dev.go"})
	w.stage(ops.TurnID, "files_changed", []string{"src/ops.go"})
	w.accept(dev.TurnID, "files_changed", []string{"src/dev.go"})
	seen := w.lastRow(wire.LedgerHistory).Object("observed_artifact")
	if got := seen.Strings("files_changed"); len(got) != 1 || got[0] != "src/dev.go" ||
		seen.Strings("attributed_to_concurrent_siblings")[0] != "src/ops.go" {
		t.Errorf("observed %s", ojson.Compact(seen))
	}
	w.accept(ops.TurnID, "files_changed", []string{"src/ops.go"})
	if got := w.lastRow(wire.LedgerHistory).Strings("files_changed"); len(got) != 1 || got[0] != "src/ops.go" {
		t.Errorf("files %v", got)
	}
	if n := w.index.Uncheckpointed.Len(); n != 2 {
		t.Errorf("%d uncheckpointed", n)
	}
}

// blockedSibling returns a run whose dev turn has used up its attempts while ops works.
func blockedSibling(t testingT, edit func(*ojson.Object)) (w *opsWorld, failed, other *run.Turn) {
	t.Helper()
	w = startedWorld(t, edit).inPhase("build")
	failed, other = w.assign("dev"), w.assign("ops")
	w.must(w.rejection(failed.TurnID, "no"))
	w.must(w.rejection(failed.TurnID, "no again"))
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:dev")
	return w, failed, other
}

func TestAcceptBesideABlockedSibling(t *testing.T) {
	w, failed, other := blockedSibling(t, nil)
	before := *w.state.BlockedReason
	w.write("src/ops.go", "o")
	tr := w.accept(other.TurnID, "files_changed", []string{"src/ops.go"}, "phase_transition_request", "ship")
	w.wantEvents(tr, "turn_accepted")
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:dev")
	if w.state.BlockedReason.BlockedAt != before.BlockedAt ||
		wire.OrEmpty(w.state.BlockedReason.TurnID) != failed.TurnID || w.state.Escalation == nil {
		t.Errorf("block %s", ojson.Compact(ojson.Marshal(w.state.BlockedReason)))
	}
	// The request is not lost: it waits for the turn that failed.
	if w.state.QueuedPhaseTransition == nil {
		t.Fatal("the request is lost")
	}
	w.must(w.reissue(failed.TurnID, ""))
	w.wantStatus(wire.StatusActive, "")
	w.commit()
	w.accept(w.state.OnlyTurn().TurnID)
	if w.state.Phase != "ship" {
		t.Errorf("phase %s", w.state.Phase)
	}
}

func TestNeedsHumanBesideABlockedSibling(t *testing.T) {
	w, _, other := blockedSibling(t, nil)
	if tr := w.refuse(wire.CodeRunBlocked, other.TurnID, "status", "needs_human", "needs_human_reason",
		"which one?"); tr != nil {
		t.Error("a result that is not at fault was marked as refused")
	}
	if w.turn(other.TurnID).Status != wire.TurnDispatched {
		t.Error("the turn changed")
	}
}

func TestTwoFailedTurnsNeedTwoAnswers(t *testing.T) {
	w, dev, ops := blockedSibling(t, nil)
	w.must(w.rejection(ops.TurnID, "no"))
	w.must(w.rejection(ops.TurnID, "no"))
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:dev")
	w.fails(wire.CodeRunBlocked, w.reissue(ops.TurnID, ""))
	tr := w.must(w.reissue(dev.TurnID, ""))
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:ops")
	w.wantEvents(tr,
		"turn_reissued human_escalation_resolved escalation_resolved human_escalation_raised turn_dispatched run_blocked")
	w.must(w.reissue(ops.TurnID, ""))
	w.wantStatus(wire.StatusActive, "")
}

// Accepting a turn does not unblock a run that is blocked for a reason of its own
// (docs/compatibility.md#where-we-differ-on-purpose row 4).
func TestAcceptWhileBlocked(t *testing.T) {
	for name, block := range map[string]Operation{
		"operator": &Escalate{Reason: "stop"},
		"dispatch": &Block{
			BlockedOn:   "dispatch:timeout",
			Category:    "dispatch_error",
			TypedReason: "dispatch_error",
			Owner:       "human",
			Action:      "x",
		},
		"tamper": &Block{
			BlockedOn:   "hook:before_acceptance:h",
			Category:    "hook_tamper",
			TypedReason: "hook_tamper",
			Owner:       "human",
			Action:      "x",
		},
		"assign": &Block{
			BlockedOn:   "hook:before_assignment:h",
			Category:    "hook_block",
			TypedReason: "hook_block",
			Owner:       "human",
			Action:      "x",
		},
		"timeout": &Block{
			BlockedOn:   "timeout:run",
			Category:    "timeout",
			TypedReason: "timeout",
			Owner:       "operator",
			Action:      "x",
		},
		"own ghost": &Block{
			BlockedOn:   "turn:failed_start:x",
			Category:    "ghost_turn",
			TypedReason: "ghost_turn",
			Owner:       "human",
			Action:      "x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := startedWorld(t, nil)
			turn := w.assign("pm")
			w.must(block)
			w.refuse(wire.CodeRunBlocked, turn.TurnID)
			w.fails(wire.CodeRunBlocked, w.rejection(turn.TurnID, "x"))
			if w.state.Status != wire.StatusBlocked || len(w.index.OpenEscalations) == 0 && name != "timeout" {
				t.Error("the block is gone")
			}
		})
	}
	// A block that the acceptance itself ran into is settled by another acceptance.
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.must(&Block{
		BlockedOn:   "hook:before_validation:lint",
		Category:    "hook_block",
		TypedReason: "hook_block",
		Owner:       "human",
		Action:      "x",
		TurnID:      turn.TurnID,
	})
	tr := w.accept(turn.TurnID)
	w.wantEvents(tr, "turn_accepted human_escalation_resolved")
	w.wantStatus(wire.StatusActive, "")
}

// conflicted returns a run with ops' turn in conflict with an accepted one of dev.
func conflicted(t testingT, edit func(*ojson.Object)) (w *opsWorld, turn *run.Turn) {
	t.Helper()
	w = startedWorld(t, edit).inPhase("build")
	dev, ops := w.assign("dev"), w.assign("ops")
	w.write("src/a.go", "dev's")
	w.accept(dev.TurnID, "files_changed", []string{"src/a.go"})
	w.write("src/a.go", "ops'")
	tr := w.refuse(wire.CodeConflict, ops.TurnID, "files_changed", []string{"src/a.go"})
	w.wantEvents(tr, "turn_conflicted")
	w.wantEntries(tr, "conflict_detected")
	w.wantStatus(wire.StatusActive, "")
	return w, w.turn(ops.TurnID)
}

func TestConflictLoop(t *testing.T) {
	w, turn := conflicted(t, nil)
	if n, _ := turn.ConflictState.Int("detection_count"); turn.Status != wire.TurnConflicted || n != 1 ||
		turn.ConflictState.String("status") != "pending_operator" {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(turn)))
	}
	w.fails(wire.CodeConflict, w.acceptance(turn.TurnID))
	tr := w.fails(wire.CodeConflict, w.acceptance(turn.TurnID))
	w.wantEvents(tr, "turn_conflicted human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "human:conflict_loop:"+turn.TurnID)
	// Again: still the same block, and no second question.
	tr = w.fails(wire.CodeConflict, w.acceptance(turn.TurnID))
	w.wantEvents(tr, "turn_conflicted run_blocked")
	// An agent cannot declare its own work the winner.
	op := w.acceptance(turn.TurnID)
	op.Resolution = ResolutionHumanMerge
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, op)
	w.fails(wire.CodeInsideTurn, w.rejection(turn.TurnID, "x"))
	w.actor.InsideTurn = ""
	tr = w.must(op)
	w.wantEvents(tr, "turn_accepted conflict_resolved human_escalation_resolved")
	w.wantEntries(tr, "conflict_resolution_selected conflict_resolved")
	w.wantStatus(wire.StatusActive, "")
	if r := w.lastRow(wire.LedgerHistory).Object("conflict_resolution"); r.String("mode") != ResolutionHumanMerge ||
		r.String("merge_strategy") != "operator_authoritative_staged_result" {
		t.Errorf("row %s", ojson.Compact(r))
	}
}

func TestConflictReassign(t *testing.T) {
	w, turn := conflicted(t, nil)
	w.fails(wire.CodeConflict, w.acceptance(turn.TurnID))
	w.fails(wire.CodeConflict, w.acceptance(turn.TurnID))
	op := w.rejection(turn.TurnID, "")
	op.Reassign = true
	tr := w.must(op)
	w.wantEntries(tr, "conflict_rejected")
	w.wantEvents(tr, "turn_rejected human_escalation_resolved turn_dispatched")
	w.wantStatus(wire.StatusActive, "")
	now := w.turn(turn.TurnID)
	if now.Attempt != 2 || now.ConflictState != nil || now.ConflictContext.Strings(
		"conflicting_files")[0] != "src/a.go" || now.AssignedSequence != w.state.TurnSequence ||
		now.LastRejection.String("failed_stage") != "conflict" || len(now.ConcurrentWith) != 0 {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(now)))
	}
	w.write("src/a.go", "both")
	w.accept(turn.TurnID, "files_changed", []string{"src/a.go"})
}

// A conflict loop beside a failed sibling waits until the sibling is settled.
func TestConflictLoopBesideABlockedSibling(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	dev, ops, qa := w.assign("dev"), w.assign("ops"), w.assign("qa")
	w.must(w.rejection(qa.TurnID, "no"))
	w.must(w.rejection(qa.TurnID, "no"))
	w.write("src/a.go", "dev's")
	w.accept(dev.TurnID, "files_changed", []string{"src/a.go"})
	w.write("src/a.go", "ops'")
	for range 3 {
		w.refuse(wire.CodeConflict, ops.TurnID, "files_changed", []string{"src/a.go"})
	}
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:qa")
	w.must(w.reissue(qa.TurnID, ""))
	w.wantStatus(wire.StatusBlocked, "human:conflict_loop:"+ops.TurnID)
}

// With two turns at work a hint that names none ends in target_required.
func TestHintsNameTheTurn(t *testing.T) {
	w := startedWorld(t, nil)
	first := w.assign("pm").TurnID
	w.assign("qa")
	for _, staged := range []string{"", "{", "[]"} {
		op := w.acceptance(first)
		if staged != "" {
			op.Staged = evidence.NewBlob([]byte(staged))
		}
		tr, err := w.apply(op)
		if err == nil && tr != nil {
			err = tr.Failure
		}
		if err == nil || !strings.HasSuffix(err.Hint, "git agentxchain accept "+first) {
			t.Errorf("%q: %+v", staged, err)
		}
	}
}
