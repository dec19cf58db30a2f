// CloseObjection: a person answers an objection (docs/spec/results.md#objections).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpObjection is the wire name of CloseObjection.
const OpObjection = "close_objection"

// CloseObjection closes one open objection of the run for a reason, which the next turn reads. A turn closes an
// objection itself by naming it again with the status resolved.
type CloseObjection struct {
	ID     string `json:"id"`                // OBJ- and a number
	Turn   string `json:"turn_id,omitempty"` // the turn that raised it, where several turns used the id
	Reason string `json:"reason"`
}

func (*CloseObjection) Name() string            { return OpObjection }
func (*CloseObjection) Blobs() []*evidence.Blob { return nil }

// ObjectionResult is the outcome of CloseObjection.
type ObjectionResult struct {
	Closed *ojson.Object // turn_id, role, id, severity, statement
	Reason string
	Left   int // number of objections that remain open
}

func (op *CloseObjection) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := t.OutsideTurn("close an objection",
		"git agentxchain objection close "+wire.ShellWord(op.ID)); err != nil {
		return err
	}
	reason := wire.TrimSpace(op.Reason)
	switch {
	case s.Status != wire.StatusActive && s.Status != wire.StatusPaused && s.Status != wire.StatusBlocked:
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: fmt.Sprintf("The run is %s; its objections stand as they are.", s.Status),
			Hint:    "git agentxchain status",
		}
	case reason == "":
		return &wire.Error{Code: wire.CodeReasonRequired, Field: "reason",
			Message: "An objection is closed for a reason, which the next turn reads.",
			Hint:    "git agentxchain objection close " + wire.ShellWord(op.ID) + " --because TEXT"}
	case len(reason) > change.MaxReason:
		return change.ReasonTooLong(reason)
	}
	at, err := op.find(t.Index)
	if err != nil {
		return err
	}
	o := t.Index.OpenObjections[at]
	t.Index.CloseObjection(o.String("turn_id"), o.String("id"))
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", run.RowObjectionClosed,
		"run_id", s.Run(),
		"phase", s.Phase,
		"objection_id", o.String("id"),
		"turn_id", o.String("turn_id"),
		"severity", o.String("severity"),
		"statement", o.String("statement"),
		"closed_by", t.Person(),
		"reason", reason,
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("closes an objection", o.String("id")+" of "+o.String("turn_id")+": "+run.Clip(o.String("statement"), 200),
		reason)
	t.Subject = "close objection " + wire.OneLine(o.String("id"))
	t.Result = &ObjectionResult{Closed: o, Reason: reason, Left: len(t.Index.OpenObjections)}
	return nil
}

// Objection returns the open objection that the operation closes, nil where it is not exactly one.
func (op *CloseObjection) Objection(x *run.Index) *ojson.Object {
	at, err := op.find(x)
	if err != nil {
		return nil
	}
	return x.OpenObjections[at]
}

// find returns the index of the objection among the open ones.
func (op *CloseObjection) find(x *run.Index) (int, *wire.Error) {
	var at []int
	for i, o := range x.OpenObjections {
		if o.String("id") == op.ID && (op.Turn == "" || o.String("turn_id") == op.Turn) {
			at = append(at, i)
		}
	}
	switch len(at) {
	case 0:
		return 0, &wire.Error{
			Code:    wire.CodeNotFound,
			Field:   "id",
			Message: fmt.Sprintf("No open objection of this run is called %s.", wire.Shown(op.ID)),
			Hint:    "git agentxchain objection list",
		}
	case 1:
		return at[0], nil
	}
	turns := make([]string, len(at))
	for i, n := range at {
		turns[i] = x.OpenObjections[n].String("turn_id")
	}
	slices.Sort(turns)
	return 0, &wire.Error{Code: wire.CodeInvalidArgument, Field: "turn_id",
		Message: fmt.Sprintf("Several turns raised an objection %s: %s.", wire.Shown(op.ID), wire.List(turns)),
		Hint:    "name the turn with --turn"}
}
