// Escalate and Block: stopping a run until a person has decided
// (docs/spec/lifecycle.md#blocking-escalating-reactivating).

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Escalate is an operator's stop.
type Escalate struct {
	TurnID string `json:"turn_id,omitempty"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Action string `json:"action,omitempty"` // the operator's own words for the way out
}

func (*Escalate) Name() string               { return "escalate" }
func (op *Escalate) Blobs() []*evidence.Blob { return nil }

func (op *Escalate) Apply(t *change.Draft) *wire.Error {
	reason := wire.TrimSpace(op.Reason)
	if reason == "" {
		return &wire.Error{
			Code:    wire.CodeReasonRequired,
			Field:   "reason",
			Message: "An escalation needs a reason.",
			Hint:    "git agentxchain escalate --reason TEXT",
		}
	}
	s := t.State
	if s.Status != wire.StatusActive && s.Status != wire.StatusPaused {
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Message: fmt.Sprintf("A run can be escalated only while it is active or waits at a gate; it is %s.",
				s.Status),
			Hint: "git agentxchain status",
		}
	}
	var turn *run.Turn
	if op.TurnID != "" || s.ActiveTurns.Len() > 0 {
		var err *wire.Error
		if turn, err = t.Target(op.TurnID, "escalate"); err != nil {
			return err
		}
	}
	action := op.Action
	if action == "" {
		action = "Resolve the escalation, then run: git agentxchain unblock"
	}
	detail := op.Detail
	if detail == "" {
		detail = reason
	}
	esc := ojson.NewObject("source", "operator", "raised_by", "human", "from_role", nil, "from_turn_id", nil,
		"reason", reason, "detail", detail,
		"recovery_action", action, "escalated_at", t.Env.Time())
	if turn != nil {
		esc.Set("from_role", turn.AssignedRole)
		esc.Set("from_turn_id", turn.TurnID)
		t.About(turn)
	}
	on := "escalation:operator:" + run.OperatorSlug(reason)
	t.Append(wire.LedgerDecisions, ledger.NewOperatorEscalatedEntry(t.Env.Time(), s.Run(), s.Phase, on, esc))
	t.Event("escalation_raised", turn, "source", "operator", "reason", reason)
	t.Block(change.Block{
		On:          on,
		Category:    "operator_escalation",
		TypedReason: "operator_escalation",
		Owner:       "human",
		Action:      action,
		Detail:      detail,
		Turn:        turn,
		Retained:    turn != nil,
		Escalation:  esc,
	})
	t.Subject = "escalate: " + wire.OneLine(reason)
	t.Result = t.Blocked()
	return nil
}

// Block stops the run with a complete descriptor, on behalf of a runner (a
// failed dispatch, a hook). It replaces the reference's markRunBlocked, which
// accepted half a descriptor (docs/compatibility.md#where-we-differ-on-purpose row 23).
type Block struct {
	BlockedOn   string `json:"blocked_on"`
	Category    string `json:"category"`
	TypedReason string `json:"typed_reason"`
	Owner       string `json:"owner"`
	Action      string `json:"recovery_action"`
	Detail      string `json:"detail,omitempty"`
	TurnID      string `json:"turn_id,omitempty"`
}

func (*Block) Name() string               { return "block" }
func (op *Block) Blobs() []*evidence.Blob { return nil }

func (op *Block) Apply(t *change.Draft) *wire.Error {
	for _, m := range []struct{ field, Member string }{{"blocked_on", op.BlockedOn}, {"category", op.Category},
		{"typed_reason", op.TypedReason}, {"owner", op.Owner}, {"recovery_action", op.Action}} {
		if wire.TrimSpace(m.Member) == "" {
			return &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   m.field,
				Message: fmt.Sprintf("A block needs %s; without it the block cannot be resolved.", m.field),
			}
		}
	}
	if op.Owner != run.OwnerHuman && op.Owner != run.OwnerOperator {
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "owner",
			Message: fmt.Sprintf("A block is owned by human or operator, not %q.", run.Clip(op.Owner, 80)),
		}
	}
	if strings.HasPrefix(op.BlockedOn, "human_approval:") {
		// It would be read back as a pause at a gate that was never evaluated.
		return &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "blocked_on",
			Message: "A gate is waited for only after it was evaluated; a block cannot ask for its approval.",
		}
	}
	s := t.State
	if s.Status == wire.StatusBlocked && !(run.HasPending(s) && approvalBlock(s)) && !op.repeats(s) && !op.retried(t) {
		// The present block says what a person has to do; another block would replace it.
		return run.BlockedError(s, "block it on "+run.Clip(wire.OneLine(op.BlockedOn), 80))
	}
	if s.Status != wire.StatusActive && s.Status != wire.StatusPaused && s.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: fmt.Sprintf("A run that is %s cannot be blocked.", s.Status),
			Hint:    "git agentxchain status",
		}
	}
	var turn *run.Turn
	if op.TurnID != "" {
		var err *wire.Error
		if turn, err = t.Target(op.TurnID, "block"); err != nil {
			return err
		}
		t.About(turn)
	}
	t.Block(change.Block{
		On:          op.BlockedOn,
		Category:    op.Category,
		TypedReason: op.TypedReason,
		Owner:       op.Owner,
		Action:      op.Action,
		Detail:      op.Detail,
		Turn:        turn,
		Retained:    s.ActiveTurns.Len() > 0,
	})
	t.Subject = "block on " + wire.OneLine(op.BlockedOn)
	t.Result = t.Blocked()
	return nil
}

// repeats reports whether the run is already blocked on the same thing.
func (op *Block) repeats(s *run.State) bool {
	r := s.BlockedReason
	return wire.OrEmpty(s.BlockedOn) == op.BlockedOn && r != nil && r.Category == op.Category &&
		(op.TurnID == "" || wire.OrEmpty(r.TurnID) == op.TurnID)
}

// retried reports whether a hook stops a turn on its retry: the run is blocked on that turn's own earlier
// acceptance, and the newer answer counts.
func (op *Block) retried(t *change.Draft) bool {
	if op.Category != "hook_block" && op.Category != "hook_tamper" {
		return false
	}
	turn, ok := t.State.ActiveTurns.Get(op.TurnID)
	return ok && blockOf(t, turn) == blockOwn
}
