// Checkpoint records the commit that holds an accepted turn's files (docs/spec/observation.md#checkpoint-commits).

package commits

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Checkpoint marks a history row with the commit the caller made of its files.
type Checkpoint struct {
	TurnID string         `json:"turn_id"`
	Row    *evidence.Blob `json:"row"` // the present history line, without newline
	Commit string         `json:"commit"`
}

func (*Checkpoint) Name() string               { return "checkpoint_turn" }
func (op *Checkpoint) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Row} }

func (op *Checkpoint) Apply(t *change.Draft) *wire.Error {
	if op.Row == nil {
		return &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: fmt.Sprintf("Turn %s is not in history.", op.TurnID),
			Hint:    "git agentxchain history",
		}
	}
	row, err := ojson.DecodeObject(op.Row.Data)
	if err != nil {
		return &wire.Error{
			Code:    wire.CodeInvalidJSON,
			Field:   "history",
			Message: fmt.Sprintf("The history row of turn %s cannot be read: %v.", op.TurnID, err),
			Hint:    "git agentxchain fsck",
		}
	}
	if row.String("turn_id") != op.TurnID || row.String("status") == "reissued" {
		return &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "turn_id",
			Message: fmt.Sprintf("Turn %s is not an accepted turn in history.", op.TurnID),
			Hint:    "git agentxchain history",
		}
	}
	if sha := row.String("checkpoint_sha"); sha != "" {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "turn_id",
			Message: fmt.Sprintf("Turn %s is already checkpointed at %.12s.", op.TurnID, sha),
			Hint:    "git agentxchain history",
		}
	}
	if !wire.IsCommit(op.Commit) {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "commit",
			Message: fmt.Sprintf("%q is not a commit id.", run.Clip(op.Commit, 80)),
		}
	}
	now := t.Env.Time()
	marked := row.Clone()
	marked.Set("checkpoint_sha", op.Commit)
	marked.Set("checkpointed_at", now)
	t.Amends = append(t.Amends, ledger.Amend{Ledger: wire.LedgerHistory, Old: op.Row.Data, New: ojson.Compact(marked)})

	s := t.State
	s.AcceptedIntegrationRef = new("git:" + op.Commit)
	if id := row.String("run_id"); id == "" || id == s.Run() {
		s.LastCompletedTurn = ojson.NewObject("turn_id", op.TurnID, "role", row.String("role"),
			"phase", row.String("phase"), "runtime_id", row.Value("runtime_id"),
			"checkpoint_sha", op.Commit, "checkpointed_at", now, "intent_id", row.Value("intent_id"))
		t.Index.Checkpointed(marked)
	}
	if s.Status != wire.StatusCompleted && s.Status != wire.StatusFailed {
		// After run_completed or run_abandoned nothing may follow in the event log; the row and the state still
		// record it.
		turn := &run.Turn{TurnID: op.TurnID, AssignedRole: row.String("role")}
		t.Event("turn_checkpointed", turn, "checkpoint_sha", op.Commit, "checkpointed_at", now)
	}
	t.Turn, t.Role = op.TurnID, row.String("role")
	t.Subject = fmt.Sprintf("checkpoint %s at %.12s", op.TurnID, op.Commit)
	t.Session = "turn_checkpointed"
	return nil
}
