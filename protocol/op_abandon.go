// AbandonRun: a person ends a run for good (docs/spec/lifecycle.md#abandoning-a-run).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpAbandon is the wire name of AbandonRun.
const OpAbandon = "abandon_run"

// AbandonRun ends a run that is not over: its turns are dropped, what it waits for and what it asks of people is
// closed, and its status becomes failed. Its record stays. Only a new run can follow.
type AbandonRun struct {
	Reason string       `json:"reason"`
	Staged []StagedTurn `json:"staged,omitempty"` // what the dropped turns had staged; kept, and charged
}

// StagedTurn is the staged result of an active turn.
type StagedTurn struct {
	TurnID string         `json:"turn_id"`
	Result *evidence.Blob `json:"result"`
}

func (*AbandonRun) Name() string { return OpAbandon }

func (op *AbandonRun) Blobs() []*evidence.Blob { return stagedBlobs(op.Staged) }

func stagedBlobs(staged []StagedTurn) []*evidence.Blob {
	out := make([]*evidence.Blob, len(staged))
	for i, s := range staged {
		out[i] = s.Result
	}
	return out
}

// AbandonResult is the outcome of AbandonRun.
type AbandonResult struct {
	From    wire.Status
	Reason  string
	Gate    string   // the gate that waited, "" for none
	Dropped []string // ids of the turns that were active
}

// CheckAbandonable says whether a run may be abandoned. Codes: inside_dispatched_turn, invalid_state_transition.
func CheckAbandonable(s *run.State, actor evidence.Actor) *wire.Error {
	if actor.InsideTurn != "" {
		return &wire.Error{
			Code:    wire.CodeInsideTurn,
			Field:   "actor",
			Message: actor.Place() + "; an agent cannot end its own run.",
			Hint:    "ask a person to run git agentxchain abandon in their own terminal",
		}
	}
	switch s.Status {
	case wire.StatusActive, wire.StatusPaused, wire.StatusBlocked:
		if s.Run() != "" {
			return nil
		}
	case wire.StatusCompleted, wire.StatusFailed:
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Message: fmt.Sprintf("Run %s is over (%s); there is nothing left to abandon.",
				wire.OrNone(s.Run()), s.Status),
			Hint: "git agentxchain assign --new-run",
		}
	}
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: "No run has started; there is nothing to abandon.",
		Hint:    "git agentxchain status",
	}
}

// personsReason returns the trimmed reason for something that only a person decides. Codes: reason_required,
// invalid_argument.
func personsReason(reason, why, command string) (string, *wire.Error) {
	reason = wire.TrimSpace(reason)
	switch {
	case reason == "":
		return "", &wire.Error{
			Code:    wire.CodeReasonRequired,
			Field:   "reason",
			Message: why,
			Hint:    command,
		}
	case len(reason) > change.MaxReason:
		return "", change.ReasonTooLong(reason)
	}
	return reason, nil
}

func (op *AbandonRun) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := CheckAbandonable(s, t.Env.Actor); err != nil {
		return err
	}
	reason, err := personsReason(op.Reason, "A run is abandoned with a reason: the record says why it ended.",
		"git agentxchain abandon --reason TEXT")
	if err != nil {
		return err
	}
	res := &AbandonResult{From: s.Status, Reason: reason, Gate: run.PendingGate(s)}
	var dropped []*ojson.Object
	res.Dropped, dropped = giveUp(t, op.Staged, "failed")
	if s.Status == wire.StatusBlocked {
		t.ClearBlock("run_abandoned")
	}
	t.ResolveEscalations(func(*ojson.Object) bool { return true }, "run_abandoned")

	by := ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email)
	s.Status = wire.StatusFailed
	s.BlockedOn, s.BlockedReason, s.Escalation = nil, nil, nil
	s.PendingPhaseTransition, s.PendingRunCompletion = nil, nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	s.LastGateFailure, s.NextRecommendedRole = nil, nil
	s.NonProgressSignature, s.NonProgressCount = nil, 0
	s.Abandoned = &run.Abandonment{
		At:         t.Env.Time(),
		By:         by,
		Reason:     reason,
		FromStatus: res.From,
	}
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "run_abandoned",
		"run_id", s.Run(),
		"phase", s.Phase,
		"from_status", string(res.From),
		"gate_id", ojson.OrNull(res.Gate),
		"dropped_turns", dropped,
		"abandoned_by", by,
		"reason", reason,
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.LastEvent(run.EventAbandoned, nil, ojson.NewObject("reason", reason, "by", by, "from_status", string(res.From),
		"gate_id", ojson.OrNull(res.Gate), "dropped_turns", dropped))
	t.Talk("abandons the run", s.Run(), reason)
	t.RunHistory("")
	t.Session = "run_abandoned"
	t.Subject = "abandon " + s.Run()
	t.Result = res
	return nil
}

// giveUp removes the active turns and says what became of each. Their staged results are kept and charged; the
// delegations they worked on get the given status.
func giveUp(t *change.Draft, staged []StagedTurn, delegation string) (ids []string, rows []*ojson.Object) {
	s := t.State
	ids, rows = []string{}, []*ojson.Object{}
	for _, id := range s.ActiveTurns.Keys() {
		turn, _ := s.ActiveTurns.Get(id)
		row := ojson.NewObject("turn_id", id, "role", turn.AssignedRole,
			"status", turn.Status, "attempt", turn.Attempt)
		for _, r := range staged {
			if r.TurnID == id && r.Result != nil {
				row.Set("kept", preserve(t, turn, r.Result))
				charge(t, stagedCost(r.Result))
			}
		}
		for i, d := range s.DelegationQueue {
			if wire.OrEmpty(d.ChildTurnID) == id && d.Status == "active" {
				c := *d
				if c.Status = delegation; delegation == "pending" {
					c.ChildTurnID = nil
				}
				s.DelegationQueue[i] = &c
			}
		}
		t.DropTurn(id)
		ids, rows = append(ids, id), append(rows, row)
	}
	return ids, rows
}
