// Tests of RejectTurn and ReissueTurn.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestRejectRetryAndExhaustion(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.fails(wire.CodeReasonRequired, w.rejection(turn.TurnID, "  "))
	op := w.rejection(turn.TurnID, "x")
	op.Reassign = true
	w.fails(wire.CodeInvalidArgument, op)
	w.fails(wire.CodeTurnNotActive, w.rejection("turn_none", "x"))

	w.stage(turn.TurnID, "summary", "first try")
	staged := string(ojson.Pretty(w.staged[turn.TurnID]))
	w.fails(wire.CodeValidationFailed, func() Operation {
		a := w.acceptance(turn.TurnID)
		a.Staged = evidence.NewBlob([]byte(`{"x":1}`))
		return a
	}())
	op = w.rejection(turn.TurnID, "tests missing")
	op.Errors = []string{"no test", "no docs"}
	tr := w.must(op)
	w.wantEvents(tr, "turn_rejected turn_dispatched")
	w.wantEntries(tr, "human_rejection")
	if r := w.lastRow(wire.LedgerDecisions); r.String("reason") != "tests missing" ||
		r.Object("rejected_by").String("name") == "" {
		t.Errorf("row %s", ojson.Compact(r))
	}
	now := w.turn(turn.TurnID)
	if now.Status != wire.TurnDispatched || now.Attempt != 2 || now.FailedAt != "" || now.StartedAt == "" ||
		now.DeadlineAt <= turn.DeadlineAt {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(now)))
	}
	if r := now.LastRejection; r.String("reason") != "tests missing" || r.String("failed_stage") != "human_review" ||
		len(r.Strings("validation_errors")) != 2 {
		t.Errorf("rejection %s", ojson.Compact(r))
	}
	res := tr.Result.(*RejectResult)
	if res.Escalated || !strings.HasPrefix(res.Preserved, wire.RejectedDir+"/"+turn.TurnID+"-attempt-1-2026-") ||
		string(w.files[res.Preserved]) != staged || len(tr.Unstage) != 1 {
		t.Errorf("preserved %q", res.Preserved)
	}

	tr = w.must(w.rejection(turn.TurnID, "still missing"))
	w.wantEvents(tr, "turn_rejected human_escalation_raised run_blocked")
	w.wantStatus(wire.StatusBlocked, "escalation:retries-exhausted:pm")
	now = w.turn(turn.TurnID)
	if now.Status != wire.TurnFailed || !tr.Result.(*RejectResult).Escalated ||
		w.state.Escalation.String("from_turn_id") != turn.TurnID || w.lastRow(wire.LedgerRunHistory) == nil {
		t.Errorf("state %s", w.state.Encode())
	}
	// Neither its own result, nor another rejection, nor an agent can undo that.
	w.refuse(wire.CodeRunBlocked, turn.TurnID)
	w.fails(wire.CodeRunBlocked, w.rejection(turn.TurnID, "x"))
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, w.reissue(turn.TurnID, ""))
	w.fails(wire.CodeInsideTurn, &Reactivate{})
	w.actor.InsideTurn = ""
	tr = w.must(w.reissue(turn.TurnID, ""))
	w.wantEvents(tr, "turn_reissued human_escalation_resolved escalation_resolved turn_dispatched")
	w.wantEntries(tr, "turn_reissued escalation_resolved")
	w.wantStatus(wire.StatusActive, "")
	w.accept(w.state.OnlyTurn().TurnID)
}

func TestRejectPolicyEscalation(t *testing.T) {
	w := startedWorld(t, sets("policies",
		arr(`[{"id":"cheap","rule":"max_cost_per_turn","params":{"limit_usd":1},"action":"escalate"}]`)))
	turn := w.assign("pm")
	tr := w.refuse(wire.CodePolicyEscalation, turn.TurnID, cost(2)...)
	w.wantEvents(tr, "human_escalation_raised run_blocked")
	w.wantEntries(tr, "policy_escalation")
	w.wantStatus(wire.StatusBlocked, "policy:cheap")
	if w.turn(turn.TurnID).Status != wire.TurnDispatched || w.reason(tr) != "blocked" {
		t.Error("the turn keeps its status")
	}
	w.fails(wire.CodeRunBlocked, w.acceptance(turn.TurnID))
	w.actor.InsideTurn = turn.TurnID
	w.fails(wire.CodeInsideTurn, w.rejection(turn.TurnID, "x"))
	w.actor.InsideTurn = ""
	tr = w.must(w.rejection(turn.TurnID, "cheaper"))
	w.wantEvents(tr, "turn_rejected human_escalation_resolved turn_dispatched")
	w.wantStatus(wire.StatusActive, "")
	w.accept(turn.TurnID, cost(1)...)

	turn = w.assign("pm")
	w.refuse(wire.CodePolicyEscalation, turn.TurnID, cost(2)...)
	w.must(&Reactivate{})
	w.fails(wire.CodePolicyEscalation, w.acceptance(turn.TurnID))
}

func TestPolicyBlockAndWarn(t *testing.T) {
	w := startedWorld(t, sets("policies",
		arr(`[{"id":"few","rule":"max_total_turns","params":{"limit":1},"action":"block"},
		{"id":"streak","rule":"max_consecutive_same_role","params":{"limit":1},"action":"warn"}]`)))
	w.accept(w.assign("pm").TurnID)
	turn := w.assign("pm")
	tr := w.refuse(wire.CodePolicyViolation, turn.TurnID)
	w.wantEvents(tr, "acceptance_failed")
	w.wantStatus(wire.StatusActive, "")
	// Reissued turns and other runs do not count.
	w.must(w.reissue(turn.TurnID, "dev"))
	w.refuse(wire.CodePolicyViolation, w.state.OnlyTurn().TurnID)
	w.must(&Escalate{Reason: "restart"})
	w.must(w.start(InitRun{Restart: true}))
	w.accept(w.assign("pm").TurnID)
}

func TestRejectWhilePaused(t *testing.T) {
	w := paused(t, nil)
	op := AcceptTurn{}.withTurn(w)
	w.fails(wire.CodeInvalidStateTransition, w.rejection(op.TurnID, "x"))
	w.fails(wire.CodeInvalidStateTransition, w.reissue(op.TurnID, ""))
}

func TestReissueGuards(t *testing.T) {
	w := startedWorld(t, sets("rules.enforce_routing", true,
		"routing.planning.allowed_next_roles", []string{"pm", "qa", "dev", "human"}))
	w.fails(wire.CodeNotFound, &ReissueTurn{})
	pm, qa := w.assign("pm"), w.assign("qa")
	w.fails(wire.CodeTargetRequired, &ReissueTurn{})
	w.fails(wire.CodeUnknownRole, w.reissue(pm.TurnID, "nobody"))
	w.fails(wire.CodeRoleNotRouted, w.reissue(pm.TurnID, "ops"))
	w.fails(wire.CodeRoleActive, w.reissue(pm.TurnID, "qa"))
	// A reviewer's turn does not avoid the clean tree that a writer needs.
	w.write("notes.txt", "x")
	w.fails(wire.CodeDirtyTree, w.reissue(pm.TurnID, "dev"))
	w.commit()
	tr := w.must(w.reissue(pm.TurnID, "dev"))
	turn := tr.Result.(*ReissueResult).Turn
	if turn.AssignedRole != "dev" || len(turn.ConcurrentWith) != 1 || turn.ConcurrentWith[0] != qa.TurnID {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(turn)))
	}
	d := tr.Result.(*ReissueResult).Delta
	if !d.Bool("head_changed") || d.Bool("runtime_changed") {
		t.Errorf("delta %s", ojson.Compact(d))
	}
	w.must(&Escalate{TurnID: qa.TurnID, Reason: "stop"})
	w.fails(wire.CodeRunBlocked, w.reissue(qa.TurnID, ""))
}

// The turn still answers for what a refused attempt changed.
func TestRetryAnswersForEarlierAttempts(t *testing.T) {
	for _, again := range []string{"reject", "reissue"} {
		w := startedWorld(t, sets("rules.max_turn_retries", 9)).inPhase("build")
		turn := w.assign("dev")
		w.write("src/a.go", "a")
		w.write("src/secret.go", "s")
		w.refuse(wire.CodeDirtyTreeMismatch, turn.TurnID, "files_changed", []string{"src/a.go"})
		next := func() *run.Turn {
			if again == "reject" {
				w.must(w.rejection(turn.TurnID, "declare everything"))
			} else {
				w.must(w.reissue(turn.TurnID, ""))
			}
			turn = w.state.OnlyTurn()
			return turn
		}
		next()
		w.refuse(wire.CodeDirtyTreeMismatch, turn.TurnID, "files_changed", []string{"src/a.go"})
		next() // carried over another attempt
		w.refuse(wire.CodeDirtyTreeMismatch, turn.TurnID, "files_changed", []string{"src/a.go"})
		// Once undone, it is no longer a change; the other file counts although this attempt has not touched it.
		delete(w.work, "src/secret.go")
		w.accept(turn.TurnID, "files_changed", []string{"src/a.go"})
		row := w.lastRow(wire.LedgerHistory)
		if got := row.Strings("files_changed"); len(got) != 1 || got[0] != "src/a.go" {
			t.Errorf("%s: files %v", again, got)
		}
		if row.Object("observed_artifact").Object("file_markers").String("src/a.go") != w.mark("src/a.go") ||
			!w.index.Uncheckpointed.Has("src/a.go") {
			t.Errorf("%s: row %s", again, ojson.Compact(row))
		}
		w.must(w.checkpointOf(turn.TurnID))
		w.assign("dev")
	}
}

// A reviewer's document from the first attempt counts in the second.
func TestReviewRetry(t *testing.T) {
	w := startedWorld(t, nil)
	w.write(".planning/old.md", "the operator's, dirty before the turn")
	turn := w.assign("pm")
	w.write(".planning/new.md", "x")
	w.must(w.rejection(turn.TurnID, "explain"))
	w.accept(turn.TurnID, "files_changed", []string{".planning/new.md"})
	turn = w.assign("pm")
	w.refuse(wire.CodeArtifactMismatch, turn.TurnID, "files_changed", []string{".planning/old.md"})
}

// In a conflict the files that others changed since are theirs, and are not carried over.
func TestConflictRetryDoesNotCarryOthers(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	dev, ops := w.assign("dev"), w.assign("ops")
	w.write("src/a.go", "dev's")
	w.accept(dev.TurnID, "files_changed", []string{"src/a.go"})
	w.must(w.rejection(ops.TurnID, "later"))
	if c := w.turn(ops.TurnID).Carried; len(c) != 0 {
		t.Errorf("carried %v", c)
	}
	w.write("src/o.go", "o")
	w.accept(ops.TurnID, "files_changed", []string{"src/o.go"})
}
