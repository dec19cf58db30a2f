// LastApproval: what taking back the last approval restores.

package run

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// EventApprovalWithdrawn is the type of the row of an approval that was taken back. Its payload: gate_type,
// gate_id, from, to, reason, by {name, email}, dropped_turns[].
const EventApprovalWithdrawn = "approval_withdrawn"

// LastApproval is the state's member last_approval, an addition of ours: the wait for a person that the last
// approval ended, as it was. It exists until the next turn is accepted
// (docs/spec/gates.md#an-approval-is-taken-back).
type LastApproval struct {
	Transition     *PendingTransition `json:"pending_phase_transition,omitempty"`
	Completion     *PendingCompletion `json:"pending_run_completion,omitempty"`
	GateStatus     string             `json:"gate_status,omitempty"` // the gate's status; "" when it had none
	PhaseEnteredAt *string            `json:"phase_entered_at,omitempty"`
	NextRole       *string            `json:"next_recommended_role,omitempty"`
	LastTurn       *string            `json:"last_completed_turn_id,omitempty"` // the run's last accepted turn then
	At             string             `json:"approved_at"`
	By             *ojson.Object      `json:"approved_by"` // {name, email}
	Extra          ojson.Extra
}

// Gate returns the kind, the gate and the next phase of the approval; to is "" for a completion.
func (a *LastApproval) Gate() (kind, gate, to string) {
	switch {
	case a == nil:
	case a.Transition != nil:
		return GatePhase, a.Transition.Gate, a.Transition.To
	case a.Completion != nil:
		return GateCompletion, a.Completion.Gate, ""
	}
	return "", "", ""
}

func (a *LastApproval) copy(f objectCopy) *LastApproval {
	if a == nil {
		return nil
	}
	c := *a
	c.Transition, c.Completion = a.Transition.copy(f), a.Completion.copy(f)
	for _, p := range []**string{&c.PhaseEnteredAt, &c.NextRole, &c.LastTurn} {
		*p = copyPtr(*p)
	}
	c.By, c.Extra = f(a.By), f.extra(a.Extra)
	return &c
}

func (p *PendingTransition) copy(f objectCopy) *PendingTransition {
	c := copyPtr(p)
	if c != nil {
		c.Extra = f.extra(p.Extra)
	}
	return c
}

func (p *PendingCompletion) copy(f objectCopy) *PendingCompletion {
	c := copyPtr(p)
	if c != nil {
		c.Extra = f.extra(p.Extra)
	}
	return c
}
