// Tests of objections: who closes them, and what an open one blocks.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestObjectionsAreClosedByPeopleAndTurns(t *testing.T) {
	w := startedWorld(t, nil)
	object := func(text string) any { return obj(`{"o":` + text + `}`).Array("o") }
	first := w.assign("dev").TurnID
	w.accept(first, "objections", object(
		`[{"id":"OBJ-001","severity":"low","statement":"a"},{"id":"OBJ-002","severity":"blocking","statement":"b"}]`))
	second := w.assign("dev").TurnID
	w.accept(second, "objections", object(
		`[{"id":"OBJ-001","severity":"low","statement":"c"},{"id":"OBJ-003","severity":"low","statement":"d"}]`))
	w.fails(wire.CodeReasonRequired, &CloseObjection{ID: "OBJ-002"})
	w.fails(wire.CodeNotFound, &CloseObjection{ID: "OBJ-009", Reason: "x"})
	w.fails(wire.CodeInvalidArgument, &CloseObjection{ID: "OBJ-001", Reason: "x"})
	w.must(&CloseObjection{ID: "OBJ-001", Turn: first, Reason: "x"})
	if got := w.snapshot().Index.BlockingObjections(); len(got) != 1 || got[0] != "OBJ-002" {
		t.Fatalf("blocking: %v", got)
	}
	w.must(&CloseObjection{ID: "OBJ-002", Reason: "x"})
	// The id is free again: a later turn raises another objection under it.
	w.accept(w.assign("dev").TurnID, "objections",
		object(`[{"id":"OBJ-002","severity":"blocking","statement":"again"},{"id":"OBJ-003","severity":"low","statement":"d","status":"resolved"}]`))
	var ids []string
	for _, o := range w.snapshot().Index.OpenObjections {
		ids = append(ids, o.String("id"))
	}
	if got := strings.Join(ids, " "); got != "OBJ-001 OBJ-002" {
		t.Fatalf("open: %s", got)
	}
}

func TestBlockingObjectionsHoldTheCompletionUp(t *testing.T) {
	for _, block := range []bool{false, true} {
		w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false,
			"rules.objections_block", block)).inPhase("ship")
		tr := w.accept(w.assign("qa").TurnID, "run_completion_request", true,
			"objections", obj(`{"o":[{"id":"OBJ-077","severity":"blocking","statement":"it loses data"}]}`).Array("o"))
		warned := strings.Contains(strings.Join(tr.Result.(*AcceptResult).Warnings, "\n"), "OBJ-077")
		if block == (w.state.Status == wire.StatusCompleted) || block == warned {
			t.Fatalf("block %v: %s, warned %v", block, w.state.Status, warned)
		}
		if !block {
			continue
		}
		w.fails(wire.CodeGateFailed, &RetryGate{})
		w.must(&CloseObjection{ID: "OBJ-077", Reason: "it is synced"})
		w.must(&RetryGate{})
		w.wantStatus(wire.StatusCompleted, "")
	}
}
