// Tests of Checkpoint.

package protocol

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestCheckpoint(t *testing.T) {
	w := startedWorld(t, nil).inPhase("build")
	turn := w.assign("dev")
	w.write("src/a.go", "a")
	w.accept(turn.TurnID, "files_changed", []string{"src/a.go"})
	before := len(w.rows(wire.LedgerHistory))
	tr := w.must(w.checkpointOf(turn.TurnID))
	w.wantEvents(tr, "turn_checkpointed")
	row := w.lastRow(wire.LedgerHistory)
	if row.String("checkpoint_sha") != w.head() || row.String("checkpointed_at") == "" ||
		len(w.rows(wire.LedgerHistory)) != before {
		t.Errorf("row %s", ojson.Compact(row))
	}
	last := w.state.LastCompletedTurn
	if last.String("turn_id") != turn.TurnID || last.String("checkpoint_sha") != w.head() ||
		wire.OrEmpty(w.state.AcceptedIntegrationRef) != "git:"+w.head() || w.index.Uncheckpointed.Len() != 0 {
		t.Errorf("state %s", w.state.Encode())
	}
	w.fails(wire.CodeInvalidArgument, w.checkpointOf(turn.TurnID))
}

func TestCheckpointRefusals(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.fails(wire.CodeNotFound, &commits.Checkpoint{TurnID: turn.TurnID, Commit: w.head()})
	w.fails(wire.CodeInvalidJSON, &commits.Checkpoint{
		TurnID: turn.TurnID,
		Row:    evidence.NewBlob([]byte("x")),
		Commit: w.head(),
	})
	w.must(w.reissue(turn.TurnID, ""))
	reissued := bytes.TrimSuffix(w.ledgers[wire.LedgerHistory], []byte("\n"))
	w.fails(wire.CodeNotFound, &commits.Checkpoint{TurnID: turn.TurnID, Row: evidence.NewBlob(reissued), Commit: w.head()})
	turn = w.state.OnlyTurn()
	w.accept(turn.TurnID)
	op := w.checkpointOf(turn.TurnID)
	for _, commit := range []string{"", "HEAD", "abc", string(bytes.Repeat([]byte("G"), 40))} {
		op.Commit = commit
		w.fails(wire.CodeInvalidArgument, op)
	}
}

// Nothing follows run_completed in the event log.
func TestCheckpointAfterCompletion(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	turn := w.assign("dev")
	w.write("src/a.go", "a")
	w.accept(turn.TurnID, "files_changed", []string{"src/a.go"}, "run_completion_request", true)
	tr := w.must(w.checkpointOf(turn.TurnID))
	w.wantEvents(tr, "")
	w.wantStatus(wire.StatusCompleted, "")
}

// When two turns changed one file, the later checkpoint settles both claims; a checkpoint of the earlier turn
// leaves the later turn's claim.
func TestCheckpointOrder(t *testing.T) {
	for _, first := range []int{0, 1} {
		w := startedWorld(t, nil).inPhase("build")
		var ids []string
		for _, c := range []string{"1", "2"} {
			turn := w.assign("dev")
			w.write("src/a.go", c)
			w.accept(turn.TurnID, "files_changed", []string{"src/a.go"})
			ids = append(ids, turn.TurnID)
			if c == "1" {
				w.revs[len(w.revs)-1]["src/a.go"] = "1" // a person commits by hand
			}
		}
		w.must(w.checkpointOf(ids[first]))
		if n := w.index.Uncheckpointed.Len(); n != 1-first {
			t.Errorf("checkpoint of turn %d: %d claims left", first, n)
		}
	}
}

// A turn of an earlier run can still be checkpointed; it is not the present run's last turn.
func TestCheckpointOfAnEarlierRun(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.write(".planning/x.md", "x")
	w.accept(turn.TurnID, "files_changed", []string{".planning/x.md"})
	w.must(&Escalate{Reason: "x"})
	w.must(w.start(InitRun{Restart: true}))
	w.must(w.checkpointOf(turn.TurnID))
	if w.state.LastCompletedTurn != nil {
		t.Error("a turn of another run")
	}
}
