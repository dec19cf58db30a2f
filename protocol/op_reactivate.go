// Reactivate: a person resolves a block and the run goes on (docs/spec/lifecycle.md#blocking-escalating-reactivating).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Reactivate clears a block. It never passes a gate: a pending approval stays
// pending, and a run that was blocked while it waited goes back to waiting
// (docs/compatibility.md#where-we-differ-on-purpose).
type Reactivate struct {
	EscalationID string `json:"escalation_id,omitempty"` // if given, must be the current blocker
	Via          string `json:"via,omitempty"`           // operator_unblock when ""
	Reason       string `json:"reason,omitempty"`        // why, in the person's words

	// AcceptAsIs takes what stopped the run as it is, once: what On names, said of Content (WorkDigest or
	// GateDigest).
	AcceptAsIs bool           `json:"accept_as_is,omitempty"`
	On         string         `json:"on,omitempty"` // blocked_on as shown to the person
	Content    string         `json:"content,omitempty"`
	StagedPath string         `json:"staged_path,omitempty"`
	Staged     *evidence.Blob `json:"staged,omitempty"` // the turn's result

	Consent *agreement.Consent `json:"consent,omitempty"` // who agrees, with the proof
}

func (*Reactivate) Name() string               { return "reactivate" }
func (op *Reactivate) Blobs() []*evidence.Blob { return append(op.Consent.Blobs(), op.Staged) }

// Asks returns what lifting the block asks people for, see Asks: consent where something is taken as it is.
func (op *Reactivate) Asks(cfg *config.Config, phase string) (*agreement.Decision, *agreement.Consent) {
	d := &agreement.Decision{Kind: attest.Unblock}
	if op.AcceptAsIs {
		d.Kind, d.Gate, d.GateType, d.Phase = attest.AcceptAsIs, op.On, run.ParseBlocker(op.On).OverruleKind(), phase
		if op.Staged != nil {
			d.Evidence = []evidence.FileBlob{{Path: op.StagedPath, Blob: op.Staged}}
		}
	}
	if cfg != nil {
		d.Rules = agreement.ActRules(cfg, op.Consent)
	}
	return d, op.Consent
}

// ReactivateResult is the outcome of Reactivate.
type ReactivateResult struct {
	Was          string
	EscalationID string       // the record that was resolved, "" when none was open
	Overruled    *Overrulable // what is taken as it is; nil for nothing
}

func (op *Reactivate) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if t.Env.Actor.InsideTurn != "" {
		return &wire.Error{Code: wire.CodeInsideTurn, Field: "actor",
			Message: t.Env.Actor.Place() + "; an agent cannot unblock its own run.",
			Hint:    "ask a person to run git agentxchain unblock in their own terminal"}
	}
	if s.Status != wire.StatusBlocked && s.Status != wire.StatusPaused {
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: fmt.Sprintf("Only a blocked run can be unblocked; this one is %s.", s.Status),
			Hint:    "git agentxchain status",
		}
	}
	if run.HasPending(s) && (s.Status == wire.StatusPaused || approvalBlock(s) && !op.AcceptAsIs) {
		return run.PendingError(s, "reactivate the run")
	}
	was := wire.OrEmpty(s.BlockedOn)
	open := run.CurrentEscalation(s, t.Index.OpenEscalations).String("escalation_id")
	if op.EscalationID != "" && op.EscalationID != open {
		return &wire.Error{Code: wire.CodeNotFound, Field: "escalation_id",
			Message: fmt.Sprintf("%s is not what blocks the run; it is blocked on %s.", op.EscalationID,
				was), Hint: "git agentxchain status",
			Details: ojson.NewObject("current", ojson.OrNull(open))}
	}
	if len(op.Reason) > change.MaxReason {
		return change.ReasonTooLong(op.Reason)
	}
	res := &ReactivateResult{Was: was, EscalationID: open}
	if op.AcceptAsIs {
		res.Overruled, _ = Overruled(s)
		if err := op.asIs(t); err != nil {
			return err
		}
	} else {
		if err := causeGone(t); err != nil {
			return err
		}
		if err := t.Agree(op.Asks(t.Config, t.State.Phase)); err != nil {
			return err
		}
		unblockedBy(t, op, was)
	}
	if was == "non_progress" {
		s.NonProgressSignature, s.NonProgressCount = nil, 0
	}
	via := op.Via
	if via == "" {
		via = "operator_unblock"
	}
	if was == "timeout:phase" && !t.Earlier.PhaseClockStays {
		s.PhaseClockAt = new(t.Env.Time())
	}
	t.ClearBlockFor(via, wire.TrimSpace(op.Reason))
	t.Session = "blocker_cleared"
	if gate := run.PendingGate(s); run.HasPending(s) {
		s.Status, s.BlockedOn = wire.StatusPaused, new("human_approval:"+gate)
	}
	t.Subject = "unblock: " + wire.OneLine(was)
	t.Result = res
	return nil
}

// unblockedBy records why a person lifted a block, where they gave a reason.
func unblockedBy(t *change.Draft, op *Reactivate, was string) {
	reason := wire.TrimSpace(op.Reason)
	if reason == "" {
		return
	}
	turn := any(nil)
	if r := t.State.BlockedReason; r != nil {
		turn = ojson.OrNull(wire.OrEmpty(r.TurnID))
	}
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "human_unblock",
		"run_id", t.State.Run(),
		"phase", t.State.Phase,
		"blocked_on", was,
		"turn_id", turn,
		"unblocked_by", t.Person(),
		"reason", reason,
		"votes", t.Voters(),
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("lifts a block", was, reason)
}

// causeGone refuses to clear a block whose cause visibly remains: the next assignment would only fail
// (docs/compatibility.md#where-we-differ-on-purpose row 16).
func causeGone(t *change.Draft) *wire.Error {
	s := t.State
	if s.BlockedReason == nil || s.BlockedReason.Category != "budget_exhausted" {
		return nil
	}
	limit := run.FreshBudget(t.Config).RemainingUSD
	if limit != nil && *limit <= s.BudgetStatus.SpentUSD && t.Config.Budget.OnExceed != "warn" {
		return &wire.Error{Code: wire.CodeBudgetExhausted, Field: "budget.per_run_max_usd",
			Message: fmt.Sprintf("The budget is still used up: $%.2f spent of $%.2f.", s.BudgetStatus.SpentUSD,
				*limit),
			Hint: "raise budget.per_run_max_usd in agentxchain.json, then: " + run.CmdAdopt}
	}
	s.BudgetStatus.RemainingUSD = nil
	if limit != nil {
		s.BudgetStatus.RemainingUSD = new(*limit - s.BudgetStatus.SpentUSD)
	}
	for _, k := range []string{"exhausted", "exhausted_at", "exhausted_after_turn", "warn_mode"} {
		s.BudgetStatus.Extra.Delete(k)
	}
	return nil
}
