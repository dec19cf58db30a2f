// RetryGate: a failed gate is evaluated again, once a person has fixed its documents
// (docs/spec/gates.md#a-failed-gate-is-asked-again).

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpRetry is the wire name of RetryGate.
const OpRetry = "retry_gate"

// RetryGate repeats the request of the last accepted turn, which the gate refused, on the present documents. It
// costs no turn. A gate that still fails leaves no trace.
type RetryGate struct {
	Files []evidence.FileBlob `json:"files"` // files the gate reads
}

func (*RetryGate) Name() string { return OpRetry }

// Blobs lists the documents.
func (op *RetryGate) Blobs() []*evidence.Blob {
	out := make([]*evidence.Blob, len(op.Files))
	for i := range op.Files {
		out[i] = op.Files[i].Blob
	}
	return out
}

// RetryResult is the outcome of RetryGate.
type RetryResult struct {
	Gate     *gates.Result
	GateType string
	Turn     string // the turn that asked
}

// CheckRetry says whether a gate can be evaluated again: the newest accepted turn asked for it, and nothing has
// happened since. Codes: run_blocked, awaiting_approval, nothing_to_retry.
func CheckRetry(s *run.State, x *run.Index) *wire.Error {
	nothing := func(why, hint string) *wire.Error {
		return &wire.Error{
			Code:    wire.CodeNothingToRetry,
			Field:   "last_gate_failure",
			Message: "No gate can be asked again: " + why,
			Hint:    hint,
		}
	}
	f := s.LastGateFailure
	switch {
	case s.Status == wire.StatusBlocked:
		return run.BlockedError(s, "ask its gate again")
	case run.HasPending(s):
		return run.PendingError(s, "ask it again")
	case s.Status != wire.StatusActive, f == nil, f.Phase != s.Phase:
		return nothing("none has failed in this phase.", "git agentxchain gate show")
	case len(f.Reasons) > 0 && strings.HasPrefix(f.Reasons[0], deniedBy):
		return nothing("a person said no; the next turn reads why.", run.CmdAssign)
	case s.ActiveTurns.Len() > 0:
		return nothing("a turn is at work, which may ask itself.", "git agentxchain status")
	case s.DelegationOpen(), len(s.OpenCharters()) > 0:
		return nothing("delegated work has to come back first.", "git agentxchain status")
	case wire.OrEmpty(f.RequestedByTurn) == "", x.LastRow.String("turn_id") != wire.OrEmpty(f.RequestedByTurn):
		return nothing("another turn was accepted after the one that asked.", run.CmdAssign)
	}
	return nil
}

func (op *RetryGate) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := t.OutsideTurn("ask a gate again", "git agentxchain gate retry"); err != nil {
		return err
	}
	if err := CheckRetry(s, t.Index); err != nil {
		return err
	}
	f, row := s.LastGateFailure, t.Index.LastRow
	by := wire.OrEmpty(f.RequestedByTurn)
	in := gateInput(t, op.Files)
	verifiedBy(&in, row)
	charters.VerifyGate(t, &in)
	var g gates.Result
	if f.GateType == run.GateCompletion {
		in.CompletionRequest = true
		g = completionGate(t, in)
	} else {
		in.TransitionRequest = f.ToPhase
		g = phaseGate(t, in)
	}
	if g.Action != gates.ActionAdvance && g.Action != gates.ActionComplete && g.Action != gates.ActionAwaitHuman {
		return gateStillFails(&g)
	}
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "gate_retried",
		"gate_type", f.GateType,
		"gate_id", f.GateID,
		"phase", f.Phase,
		"to_phase", f.ToPhase,
		"requested_by_turn", by,
		"failed_at", f.FailedAt,
		"reasons", f.Reasons,
		"asked_by", t.Person(),
		"timestamp", t.Env.Time(),
	))
	if f.GateID != nil {
		s.PhaseGateStatus.Set(*f.GateID, wire.GatePending)
	}
	s.LastGateFailure = nil
	if f.GateType == run.GateCompletion {
		completion(t, &g, by, f.QueuedRequest)
	} else {
		phaseExit(t, &g, by, f.QueuedRequest)
	}
	t.Session = "gate_retried"
	t.Subject = fmt.Sprintf("ask gate %s again", wire.OneLine(wire.OrNone(wire.OrEmpty(f.GateID))))
	t.Result = &RetryResult{Gate: &g, GateType: f.GateType, Turn: by}
	return nil
}

// gateStillFails refuses with what the gate lacks.
func gateStillFails(g *gates.Result) *wire.Error {
	gate := wire.OrEmpty(g.GateID)
	return &wire.Error{
		Code:     wire.CodeGateFailed,
		Field:    "gates." + gate,
		Message:  fmt.Sprintf("Gate %q still fails: %s", gate, reasonProblems(g.Reasons).Join()),
		Problems: reasonProblems(g.Reasons),
		Hint:     "correct the documents and ask again, or give the work to a turn: " + run.CmdAssign,
		Details:  ojson.NewObject("gate_id", gate, "reasons", g.Reasons, "missing_files", g.MissingFiles),
	}
}
