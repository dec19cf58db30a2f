// StageResult: writing a turn's result to the place where acceptance looks for it.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// StagedFile is the outcome of StageResult.
type StagedFile struct {
	Outcome
	TurnID string
	Path   string // project-relative
	Size   int
}

// StageResult writes the result of an active turn to its canonical path, durably and atomically, in
// place of an earlier one. data is one JSON object of at most 8 MiB; AcceptTurn decides whether it
// is a valid result. turnID may be "" for the only active turn. Refusals: turn_not_active,
// target_required, not_found, invalid_json (not a JSON object), invalid_argument (too large, or
// empty).
func (r *Runner) StageResult(ctx context.Context, turnID string, data []byte) (*StagedFile, error) {
	out := &StagedFile{TurnID: turnID}
	return out, out.settle(r.stage(ctx, out, data))
}

func resultTooLarge(size int) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidArgument,
		Field:   "turn_result",
		Details: ojson.NewObject("bytes", size, "limit", protocol.MaxStagedBytes),
		Message: fmt.Sprintf("A turn result of %d bytes is too large; the limit is %d.", size, protocol.MaxStagedBytes),
	}
}

func (r *Runner) stage(ctx context.Context, out *StagedFile, data []byte) error {
	if len(data) > protocol.MaxStagedBytes {
		return resultTooLarge(len(data))
	}
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	turn, refusal := run.ResolveTurn(v.State, out.TurnID, "stage")
	if refusal != nil {
		refusal.Hint = "git agentxchain status"
		return refusal
	}
	out.TurnID = turn.TurnID
	if err := r.Unleased(ctx, v, turn); err != nil {
		return err
	}
	path := wire.StagingPath(turn.TurnID)
	if clean, problem := wire.CleanPath(path); problem != "" || clean != path {
		return turnfiles.UnsafeID(turn.TurnID)
	}
	if _, refusal := protocol.DecodeStaged(path, data); refusal != nil {
		refusal.Hint = ""
		return refusal
	}
	if !protocol.StagedProof(data) {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "turn_result",
			Message: "An empty object is not a result.",
		}
	}
	if err := r.store.Replace(path, data); err != nil {
		return err
	}
	out.Path, out.Size = path, len(data)
	return nil
}
