// AdvanceTurn records how far the dispatch of a turn has come (docs/spec/lifecycle.md#the-life-of-a-dispatch).

package attempt

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AdvanceTurn moves an active turn along its dispatch: dispatched, starting, running. Going back to dispatched is a
// new dispatch of the same attempt, by a run loop that took over from another: its time limit starts again.
type AdvanceTurn struct {
	TurnID string `json:"turn_id"`
	Status string `json:"status"`           // dispatched, starting, running
	PID    int    `json:"pid,omitempty"`    // process that works on the turn
	Stream string `json:"stream,omitempty"` // stream of the first output; stderr proves nothing
}

func (*AdvanceTurn) Name() string               { return "advance_turn" }
func (op *AdvanceTurn) Blobs() []*evidence.Blob { return nil }

// AdvanceResult is the outcome of AdvanceTurn.
type AdvanceResult struct{ Turn *run.Turn }

// ProofStream reports whether output on the stream proves that an agent works
// (docs/runtimes.md#what-is-written-while-an-agent-works).
func ProofStream(stream string) bool {
	switch stream {
	case "stdout", "request", "staged_result":
		return true
	}
	return false
}

func (op *AdvanceTurn) Apply(t *change.Draft) *wire.Error {
	old, err := t.Target(op.TurnID, "advance")
	if err != nil {
		return err
	}
	if op.PID < 0 {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "pid",
			Message: fmt.Sprintf("%d is not the id of a process.", op.PID),
		}
	}
	if !old.Dispatching() || t.State.Status != wire.StatusActive && t.State.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Hint:  "git agentxchain status",
			Message: fmt.Sprintf("Turn %s is %s in a run that is %s; nothing of its dispatch can be recorded.",
				old.TurnID, old.Status, t.State.Status),
		}
	}
	turn := *old
	now := t.Env.Time()
	attach := func() {
		if turn.StartedAt == "" {
			turn.StartedAt = now
		}
		if op.PID > 0 {
			if _, ok := turn.Extra.Get("worker_attached_at"); !ok {
				turn.Extra.Set("worker_attached_at", now)
			}
			turn.Extra.Set("worker_pid", op.PID)
		}
	}
	switch op.Status {
	case wire.TurnDispatched:
		again := turn.Status != wire.TurnAssigned && turn.DispatchedAt != ""
		if t.State.Status != wire.StatusActive {
			return run.BlockedError(t.State, "dispatch turn "+turn.TurnID)
		}
		if again {
			// One event per attempt (docs/compatibility.md#where-we-differ-on-purpose row 8).
			turn.Dispatch(now)
			turn.StartedAt = now
			turn.DeadlineAt = wire.FormatTime(limits.TurnDeadline(t.Config, t.Env.Now))
		} else {
			Dispatch(t, &turn)
		}
	case wire.TurnStarting:
		if turn.Status == wire.TurnRunning {
			return &wire.Error{
				Code:    wire.CodeInvalidStateTransition,
				Field:   "status",
				Message: fmt.Sprintf("Turn %s is running already.", turn.TurnID),
			}
		}
		turn.Status = wire.TurnStarting
		attach()
	case wire.TurnRunning:
		turn.Status = wire.TurnRunning
		attach()
		if _, ok := turn.Extra.Get("first_output_at"); !ok && (op.Stream == "" || ProofStream(op.Stream)) {
			turn.Extra.Set("first_output_at", now)
			if op.Stream != "" {
				turn.Extra.Set("first_output_stream", op.Stream)
			}
		}
	default:
		return &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "status",
			Message: fmt.Sprintf("A dispatch is dispatched, starting or running, not %q.",
				run.Clip(wire.OneLine(op.Status), 40)),
		}
	}
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.About(&turn)
	t.Subject = fmt.Sprintf("%s is %s (%s)", turn.TurnID, turn.Status, turn.AssignedRole)
	t.Result = &AdvanceResult{Turn: &turn}
	return nil
}
