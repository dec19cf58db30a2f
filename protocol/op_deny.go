// DenyGate: a person refuses the gate that waits (docs/spec/gates.md#a-person-says-no).

package protocol

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpDeny is the wire name of DenyGate.
const OpDeny = "deny_gate"

// DenyGate sends the run back into the phase whose gate waits for a person: the request is gone, the gate has
// failed with the person's reason, and the run is active. The next turn is told the reason.
type DenyGate struct {
	Reason string `json:"reason"`
}

func (*DenyGate) Name() string               { return OpDeny }
func (op *DenyGate) Blobs() []*evidence.Blob { return nil }

// DenyResult is the outcome of DenyGate.
type DenyResult struct {
	GateType string
	Gate     string
	From, To string // phases; To is "" for a completion
	Reason   string
}

func (op *DenyGate) Apply(t *change.Draft) *wire.Error {
	w := t.State.Waiting()
	if err := CheckApprovable(t.State, w != nil && w.Type == run.GateCompletion, t.Env.Actor); err != nil {
		if err.Code == wire.CodeInsideTurn {
			err.Message = t.Env.Actor.Place() + "; an agent cannot refuse a gate."
			err.Hint = "ask a person to run git agentxchain approve --deny in their own terminal"
		}
		return err
	}
	reason, err := personsReason(op.Reason, "A gate is denied with a reason: the next turn works by it.",
		cmdDeny)
	if err != nil {
		return err
	}
	res := &DenyResult{GateType: w.Type, Gate: w.Gate, From: t.State.Phase, To: w.To, Reason: reason}
	g := gates.Result{
		Reasons:           []string{deniedBy + t.Env.Actor.Name + ": " + reason},
		TransitionRequest: w.To,
	}
	if res.Gate != "" {
		g.GateID = new(res.Gate)
	}
	t.Append(wire.LedgerDecisions, newHumanDenialEntry(res, w.By, t.Env.Actor, t.Env.Time()))
	t.Talk("says no", "gate "+res.Gate, reason)
	settle(t, "gate_denied")
	t.State.PendingPhaseTransition, t.State.PendingRunCompletion = nil, nil
	gateFailed(t, &g, res.GateType, w.By, false)
	t.Subject = "deny " + res.Gate
	t.Result = res
	return nil
}

// deniedBy begins the reason of a gate that a person refused; no rule's reason begins so.
const deniedBy = "denied by "

// newHumanDenialEntry returns the ledger row of a refusal by a person. Like the row of an approval it is our
// addition; other readers skip unknown types.
func newHumanDenialEntry(d *DenyResult, by string, actor evidence.Actor, at string) *ojson.Object {
	return ojson.NewObject(
		"type", "human_denial",
		"gate_type", d.GateType,
		"gate_id", ojson.OrNull(d.Gate),
		"from_phase", ojson.OrNull(d.From),
		"to_phase", ojson.OrNull(d.To),
		"requested_by_turn", ojson.OrNull(by),
		"denied_by", ojson.NewObject("name", actor.Name, "email", actor.Email),
		"reason", d.Reason,
		"terminal", actor.Terminal,
		"timestamp", at,
	)
}
