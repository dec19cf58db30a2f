// Leaving a waiting gate for more work: a person assigns a role instead of answering
// (docs/spec/gates.md#a-waiting-gate-is-left).

package protocol

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// leaveGate takes back the pending request, so that the named role can go on working in the phase, and returns the
// gate. Without a role, with a role outside the phase, and unless the caller meant to leave the gate, it refuses as
// every assignment at a waiting gate is refused.
func (op *AssignTurn) leaveGate(t *change.Draft) (gate string, err *wire.Error) {
	s := t.State
	if !op.LeaveGate || op.Role == "" || !run.HasPending(s) ||
		!slices.Contains(t.Config.PhaseRoles(s.Phase), op.Role) {
		err = run.PendingError(s, "assign a turn")
		if roles := t.Config.PhaseRoles(s.Phase); op.LeaveGate && len(roles) > 0 {
			err.Message += " Only a role of the phase (" + wire.List(roles) + "), named, takes the request back."
		}
		return "", err
	}
	command := "git agentxchain assign " + wire.ShellWord(op.Role)
	if err := t.OutsideTurn("take a gate away from a person", command); err != nil {
		return "", err
	}
	w := s.Waiting()
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "gate_left",
		"gate_type", w.Type,
		"gate_id", ojson.OrNull(w.Gate),
		"from_phase", ojson.OrNull(s.Phase),
		"to_phase", ojson.OrNull(w.To),
		"requested_by_turn", ojson.OrNull(w.By),
		"role", op.Role,
		"left_by", ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email),
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Event(run.EventGateLeft, nil, "gate_type", w.Type, "gate_id", ojson.OrNull(w.Gate),
		"requested_by_turn", ojson.OrNull(w.By), "role", op.Role)
	settle(t, "gate_left")
	s.PendingPhaseTransition, s.PendingRunCompletion = nil, nil
	return w.Gate, nil
}
