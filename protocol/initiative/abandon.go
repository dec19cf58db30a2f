// Ending an initiative early (docs/coordinator.md#ending-it-early).

package initiative

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// rowAbandoned is the type of the history row for a person's early end of an initiative.
const rowAbandoned = "run_abandoned"

// Over reports whether an initiative has ended: it is complete, or a person abandoned it.
func (s *State) Over() bool { return s.Status == StatusCompleted || s.Abandoned() }

// Abandoned reports whether a person ended an initiative early. The wire has no status for that, and another
// implementation goes on with every status but blocked and completed: so it is blocked, and abandoned_at is set.
func (s *State) Abandoned() bool { return s.Status == StatusBlocked && s.AbandonedAt != "" }

// block stops the initiative. It clears an earlier end, after which another implementation resumed the initiative.
func (s *State) block(reason string) {
	s.Status, s.BlockedReason, s.AbandonedAt = StatusBlocked, reason, ""
}

// Abandon ends an initiative early and for good: the waiting gate is taken back, and what the repositories did
// stays theirs. Errors: invalid_state_transition when it has ended already, reason_required.
func Abandon(w *Workspace, reason string, env protocol.Env) (*Change, *wire.Error) {
	s := w.State
	if s.Abandoned() {
		return nil, AbandonedError(s)
	}
	if s.Over() {
		return nil, notIn(s, "Only an initiative that has not ended can be abandoned", StatusActive)
	}
	if _, ok := textOf(reason); !ok {
		return nil, &wire.Error{
			Code:    wire.CodeReasonRequired,
			Field:   "reason",
			Message: "An initiative is abandoned for a reason; those who read its record need to know it.",
			Hint:    "git agentxchain multi abandon --reason TEXT",
		}
	}
	c := &Change{State: s.Clone()}
	c.State.block("abandoned: " + wire.OneLine(reason))
	c.State.AbandonedAt, c.State.UpdatedAt = env.Time(), env.Time()
	gate := ""
	if s.PendingGate != nil {
		gate, c.State.PendingGate = s.PendingGate.Gate, nil
	}
	c.Record(w, &env, rowAbandoned, "from", string(s.Status), "reason", reason, "abandoned_by", person(env.Actor))
	c.Decide(w, &env, s.Phase, decidedAbandoned, "Abandoned the initiative", "reason", reason, "gate", gate)
	return c, nil
}

// AbandonedError refuses what an abandoned initiative no longer does.
func AbandonedError(s *State) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: fmt.Sprintf("Initiative %s was ended early (%s).", s.SuperRunID, s.BlockedReason),
		Hint:    "git agentxchain multi init starts another one",
	}
}
