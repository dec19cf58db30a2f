// RejectTurn sends a turn back for another attempt, or escalates when its
// attempts are used up (docs/spec/lifecycle.md#rejecting-a-turn).

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RejectTurn is a person's (or the run loop's) refusal of a staged result.
type RejectTurn struct {
	TurnID string   `json:"turn_id,omitempty"`
	Reason string   `json:"reason"`
	Stage  string   `json:"failed_stage,omitempty"` // human_review when ""
	Errors []string `json:"validation_errors"`
	// resolve a conflict by redoing the turn on top of what was accepted
	Reassign bool           `json:"reassign,omitempty"`
	Staged   *evidence.Blob `json:"staged"`                  // the refused result, kept; nil when none was staged
	Cost     float64        `json:"cost_usd,omitempty"`      // what the attempt cost, US dollars
	Keep     bool           `json:"keep_baseline,omitempty"` // the next attempt is judged by this one's baseline
	// the next attempt's baseline: nil with Keep; in older records the work tree of that time
	Baseline *run.Baseline `json:"baseline"`
	Lease    *run.Lease    `json:"lease,omitempty"`     // of the runner that made the attempt, as it is afterwards
	LateMail []string      `json:"late_mail,omitempty"` // messages that the next bundle lacks (mail.Deliver)
}

func (*RejectTurn) Name() string               { return "reject_turn" }
func (op *RejectTurn) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Staged} }

// RejectResult is the outcome of RejectTurn.
type RejectResult struct {
	Turn      *run.Turn
	Escalated bool
	// of the rejected turn: retrying or failed; a retry is dispatched in the same operation
	Status    string
	Preserved string // path of the kept result, "" when none was staged
}

func (op *RejectTurn) Apply(t *change.Draft) *wire.Error {
	old, err := t.Target(op.TurnID, "reject")
	if err != nil {
		return err
	}
	s := t.State
	if s.Status != wire.StatusActive && s.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Message: fmt.Sprintf("A turn can be rejected only while the run is active or blocked; it is %s.",
				s.Status),
			Hint: "git agentxchain status",
		}
	}
	if s.Status == wire.StatusBlocked {
		if err := rejectable(t, old); err != nil {
			return err
		}
	}
	conflict := old.ConflictState
	if op.Reassign && conflict == nil {
		return &wire.Error{Code: wire.CodeInvalidArgument, Field: "reassign",
			Message: fmt.Sprintf("Turn %s is not in conflict, so there is nothing to reassign around.", old.TurnID),
			Hint:    "git agentxchain reject " + old.TurnID + " --reason ..."}
	}
	if wire.TrimSpace(op.Reason) == "" && conflict == nil {
		return &wire.Error{
			Code:    wire.CodeReasonRequired,
			Field:   "reason",
			Message: "A rejection needs a reason; the next attempt reads it.",
			Hint:    "git agentxchain reject " + old.TurnID + " --reason TEXT",
		}
	}
	turn := *old
	preserved := preserve(t, &turn, op.Staged)
	charge(t, max(op.Cost, stagedCost(op.Staged)))
	rejection := op.rejection(t, &turn, conflict)
	turn.LastRejection = rejection
	op.rejectedBy(t, &turn, rejection)
	t.About(&turn)
	res := &RejectResult{Turn: &turn, Preserved: preserved}
	traceAttempts(t, &turn)
	if turn.Attempt < t.Config.Rules.MaxTurnRetries {
		op.retry(t, &turn, conflict, rejection)
		res.Status = turn.Status
		redispatch(t, &turn)
		mail.Deliver(t, &turn, op.LateMail)
	} else {
		op.escalate(t, &turn, rejection)
		res.Escalated, res.Status = true, turn.Status
	}
	s.ActiveTurns.Set(turn.TurnID, &turn)
	exhaustBudget(t, &turn)
	t.Result = res
	return nil
}

// rejectable says whether a turn can be sent back while the run is blocked: when the block is about its own result,
// or about another turn. A person's stop, a spent budget or a lost turn must be settled first.
func rejectable(t *change.Draft, turn *run.Turn) *wire.Error {
	r := t.State.BlockedReason
	policy := r != nil && r.Category == "policy_escalation" && wire.OrEmpty(r.TurnID) == turn.TurnID
	switch rel := blockOf(t, turn); {
	case policy || rel == blockOwn:
		return t.OutsideTurn("lift the block of its own run", "git agentxchain reject "+turn.TurnID)
	case rel == blockSibling:
		return nil
	}
	return run.BlockedError(t.State, "reject turn "+turn.TurnID)
}

// preserve keeps a given-up result beside the dispatch bundles.
func preserve(t *change.Draft, turn *run.Turn, staged *evidence.Blob) string {
	if staged == nil {
		return ""
	}
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(t.Env.Time())
	path := fmt.Sprintf("%s/%s-attempt-%d-%s.json", wire.RejectedDir, turn.TurnID, turn.Attempt, stamp)
	t.Write(path, staged.Data)
	t.Unstage = append(t.Unstage, turn.TurnID)
	return path
}

func (op *RejectTurn) rejection(t *change.Draft, turn *run.Turn, conflict *ojson.Object) *ojson.Object {
	reason, stage := op.Reason, op.Stage
	if stage == "" {
		stage = "human_review"
	}
	errs := op.Errors
	if conflict != nil {
		stage = "conflict"
		if wire.TrimSpace(reason) == "" {
			reason = "file_conflict"
		}
		detail := conflict.Object("conflict_error")
		more := ojson.NewObject("resolution_chosen", "reject_and_reassign", "operator_reason", ojson.OrNull(op.Reason))
		t.Append(wire.LedgerDecisions,
			ledger.NewConflictEntry("conflict_rejected", t.Env.Time(), turn, t.State.Phase, detail, more))
	}
	if len(errs) == 0 {
		errs = []string{reason}
	}
	r := ojson.NewObject("turn_id", turn.TurnID, "attempt", turn.Attempt, "rejected_at", t.Env.Time(),
		"reason", reason,
		"validation_errors", errs, "failed_stage", stage)
	if conflict != nil {
		r.Set("conflict_context", conflict.Object("conflict_error"))
	}
	return r
}

// rejectedBy records the person who sent a turn back; a turn that a run loop sends back failed one of its own
// stages.
func (op *RejectTurn) rejectedBy(t *change.Draft, turn *run.Turn, rejection *ojson.Object) {
	reason := wire.TrimSpace(op.Reason)
	if t.Earlier.ReasonsUnkept {
		return
	}
	if s := rejection.String("failed_stage"); s != "human_review" && s != "conflict" || reason == "" ||
		t.Env.Actor.InsideTurn != "" {
		return
	}
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "human_rejection",
		"run_id", t.State.Run(),
		"phase", t.State.Phase,
		"turn_id", turn.TurnID,
		"role", turn.AssignedRole,
		"attempt", turn.Attempt,
		"rejected_by", t.Person(),
		"reason", reason,
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Talk("sends a turn back", "turn "+turn.TurnID+" of "+turn.AssignedRole, reason)
}

func (op *RejectTurn) retry(t *change.Draft, turn *run.Turn, conflict, rejection *ojson.Object) {
	s := t.State
	baseline, carried := op.Baseline, turn.Carried
	if op.Keep {
		baseline = turn.Baseline
		if conflict != nil {
			baseline = keptBaseline(t, turn)
		}
	} else {
		carried = carry(t, turn, op.Baseline)
	}
	if conflict != nil {
		turn.ConflictContext = ConflictContext(turn, conflict.Object("conflict_error"))
		turn.AssignedSequence = max(s.TurnSequence, turn.AssignedSequence)
		turn.ConcurrentWith = slices.DeleteFunc(slices.Clone(s.ActiveTurns.Keys()), func(id string) bool {
			return id == turn.TurnID
		})
		if q := s.QueuedPhaseTransition; q != nil && q.RequestedByTurn == turn.TurnID {
			s.QueuedPhaseTransition = nil
		}
	} else {
		turn.ConflictContext = nil
	}
	turn.Attempt++
	turn.Status = wire.TurnRetrying
	turn.ConflictState = nil
	turn.FailedAt, turn.FailureReason = "", ""
	turn.Carried, turn.Baseline = carried, baseline
	turn.DeadlineAt = wire.FormatTime(limits.TurnDeadline(t.Config, t.Env.Now))
	t.Event("turn_rejected", turn, "attempt", turn.Attempt-1, "retrying", true, "reason", rejection.String("reason"),
		"failed_stage", rejection.String("failed_stage"), "validation_errors", rejection.Array("validation_errors"))
	leases.Ends(t, op.Lease, leases.ActRejected, turn)
	s.ActiveTurns.Set(turn.TurnID, turn)
	if s.Status == wire.StatusBlocked &&
		(s.BlockedReason.Category == "policy_escalation" || blockOf(t, turn) == blockOwn) {
		// Sending the turn back settles the block its result ran into.
		settleBlock(t, "turn_rejected")
	}
	t.Subject = fmt.Sprintf("reject %s (%s), attempt %d follows", turn.TurnID, turn.AssignedRole, turn.Attempt)
}

// redispatch dispatches the next attempt; its time limit runs from its own start.
func redispatch(t *change.Draft, turn *run.Turn) {
	attempt.Dispatch(t, turn)
	turn.StartedAt = t.Env.Time()
}

func (op *RejectTurn) escalate(t *change.Draft, turn *run.Turn, rejection *ojson.Object) {
	turn.Status = wire.TurnFailed
	turn.ConflictState = nil
	t.State.ActiveTurns.Set(turn.TurnID, turn)
	t.Event("turn_rejected", turn, "attempt", turn.Attempt, "retrying", false, "escalated", true,
		"reason", rejection.String("reason"),
		"failed_stage", rejection.String("failed_stage"), "validation_errors", rejection.Array("validation_errors"))
	leases.Ends(t, op.Lease, leases.ActRejected, turn)
	if !(t.State.Status == wire.StatusBlocked && blockOf(t, turn) == blockSibling) {
		// A sibling's block stays; this one follows once that is settled.
		t.Block(retriesBlock(t, turn, rejection.Array("validation_errors")))
	}
	t.Subject = fmt.Sprintf("reject %s (%s), attempts used up", turn.TurnID, turn.AssignedRole)
}

// ConflictContext returns what the next attempt of a conflicted turn is told (docs/spec/state.md#a-turn); conflict
// is the conflict object of docs/spec/observation.md#conflicts.
func ConflictContext(turn *run.Turn, conflict *ojson.Object) *ojson.Object {
	brief := func(rows []*ojson.Object) []*ojson.Object {
		return ojson.List(rows, func(r *ojson.Object) *ojson.Object {
			return ojson.NewObject("turn_id", r.String("turn_id"), "role", r.String("role"),
				"files_changed", r.Strings("files_changed"))
		})
	}
	kind := conflict.String("type")
	if kind == "" {
		kind = "file_conflict"
	}
	files := conflict.Strings("conflicting_files")
	return ojson.NewObject("prior_attempt_turn_id", turn.TurnID, "prior_attempt_number", turn.Attempt,
		"conflict_type", kind,
		"conflicting_files", wire.NonNil(files), "accepted_turns_since", brief(conflict.Objects("accepted_since")),
		"forward_revision_files", wire.NonNil(conflict.Strings("forward_revision_files")),
		"forward_revision_turns_since", brief(conflict.Objects("forward_revision_turns")),
		"non_conflicting_files_preserved", wire.NonNil(conflict.Strings("non_conflicting_files")),
		"guidance", fmt.Sprintf(
			"Start from the work tree as it is now: other turns have changed %s since this turn was assigned. Keep their changes and fit yours in.", wire.ListSome(files, 5)))
}
