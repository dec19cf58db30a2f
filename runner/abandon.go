// Abandon: a person ends the run for good.

package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeTurnAtWork means that the process of a dispatched turn is still running and has to end first.
const CodeTurnAtWork = "turn_at_work"

// Abandoned is the outcome of Abandon.
type Abandoned struct {
	Done
	Result *protocol.AbandonResult
}

// Abandon ends the run for good: it drops active turns, keeps what they had staged, and closes a
// waiting gate and the requests to people. The record stays
// (docs/spec/lifecycle.md#abandoning-a-run).
//
// Errors: inside_dispatched_turn, invalid_state_transition without a run or for one that is over,
// reason_required, invalid_argument, turn_at_work while the process of a turn runs, lease_held
// while a runner holds a lease, and those of every change.
func (r *Runner) Abandon(ctx context.Context, reason string) (*Abandoned, error) {
	out := &Abandoned{}
	if in := r.inside(); in.InsideTurn != "" {
		// An isolated agent cannot even take the lock, so the reason for the refusal comes first.
		refusal := protocol.CheckAbandonable(&run.State{}, in)
		out.Outcome = OutcomeOf(refusal)
		return out, refusal
	}
	done, err := r.do(ctx, "abandon", func(ctx context.Context, c *change) (*plan, error) {
		if refusal := protocol.CheckAbandonable(c.view.State, c.env.Actor); refusal != nil {
			return nil, refusal
		}
		op := &protocol.AbandonRun{Reason: reason}
		if wire.TrimSpace(reason) == "" {
			return &plan{op: op}, nil
		}
		var err error
		op.Staged, err = c.givenUp(ctx, "git agentxchain abandon --reason TEXT")
		if err != nil {
			return nil, err
		}
		return &plan{op: op}, nil
	})
	out.Done, out.Result = *done, resultOf[*protocol.AbandonResult](done, err)
	return out, err
}

// givenUp returns what the active turns have staged, for an operation that drops all of them. then
// is the command to try again once a running process has ended. Codes: turn_at_work, and those of a
// lease.
func (c *change) givenUp(ctx context.Context, then string) ([]protocol.StagedTurn, error) {
	var out []protocol.StagedTurn
	held := c.r.atWork().Held
	for id, turn := range c.view.State.ActiveTurns.All() {
		if slices.Contains(held, id) {
			return nil, &wire.Error{
				Code:  CodeTurnAtWork,
				Field: "active_turns." + id,
				Message: fmt.Sprintf("The process of turn %s (%s) is still at work; it has to end first.",
					id, turn.AssignedRole),
				Hint: "end it (Ctrl-C where git agentxchain run or step drives it), then: " + then,
			}
		}
		if err := c.admitted(ctx, turn, nil, nil); err != nil {
			return nil, err
		}
		s, err := c.refused(id)
		if err != nil {
			return nil, err
		}
		if s.Path != wire.FlatStagingPath && s.Counts() {
			out = append(out, protocol.StagedTurn{TurnID: id, Result: evidence.NewBlob(s.Data)})
		}
	}
	return out, nil
}

// anotherRun refuses to begin another run that was not asked for.
func anotherRun(s *run.State, hint string) *wire.Error {
	what := "complete"
	if s.Status == wire.StatusFailed {
		what = "over"
		if text := s.Abandoned.Text(); text != "" {
			what = "over (" + run.Clip(text, 200) + ")"
		}
	}
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: "Run " + s.Run() + " is " + what + "; another one starts only on purpose.",
		Hint:    hint,
	}
}
