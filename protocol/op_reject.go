// RejectTurn sends a turn back for another attempt, or escalates when its
// attempts are used up (spec/01 §7.1).

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// RejectTurn is a person's (or the run loop's) refusal of a staged result.
type RejectTurn struct {
	TurnID   string    `json:"turn_id,omitempty"`
	Reason   string    `json:"reason"`
	Stage    string    `json:"failed_stage,omitempty"` // human_review when ""
	Errors   []string  `json:"validation_errors"`
	Reassign bool      `json:"reassign,omitempty"` // resolve a conflict by redoing the turn on top of what was accepted
	Staged   *Blob     `json:"staged"`             // the refused result, kept; nil when none was staged
	Cost     float64   `json:"cost_usd,omitempty"` // what the attempt cost, US dollars
	Baseline *Baseline `json:"baseline"`           // work tree now: the baseline of the next attempt
}

func (*RejectTurn) Name() string      { return "reject_turn" }
func (op *RejectTurn) Blobs() []*Blob { return []*Blob{op.Staged} }

// RejectResult is the outcome of RejectTurn.
type RejectResult struct {
	Turn      *Turn
	Escalated bool
	Preserved string // where the refused result is kept, "" when none was staged
}

func (op *RejectTurn) apply(t *transition) *Error {
	old, err := t.target(op.TurnID, "reject")
	if err != nil {
		return err
	}
	s := t.s
	if s.Status != StatusActive && s.Status != StatusBlocked {
		return &Error{Code: CodeInvalidStateTransition, Field: "status",
			Message: fmt.Sprintf("A turn can be rejected only while the run is active or blocked; it is %s.", s.Status), Hint: "git agentxchain status"}
	}
	conflict := old.ConflictState
	if op.Reassign && conflict == nil {
		return &Error{Code: CodeInvalidArgument, Field: "reassign",
			Message: fmt.Sprintf("Turn %s is not in conflict, so there is nothing to reassign around.", old.TurnID),
			Hint:    "git agentxchain reject " + old.TurnID + " --reason ..."}
	}
	if trimSpace(op.Reason) == "" && conflict == nil {
		return &Error{Code: CodeReasonRequired, Field: "reason", Message: "A rejection needs a reason; the next attempt is told it.",
			Hint: "git agentxchain reject " + old.TurnID + " --reason TEXT"}
	}
	turn := *old
	preserved := op.preserve(t, &turn)
	op.charge(t)
	rejection := op.rejection(t, &turn, conflict)
	turn.LastRejection = rejection
	t.about(&turn)
	res := &RejectResult{Turn: &turn, Preserved: preserved}
	if turn.Attempt < t.cfg.Rules.MaxTurnRetries {
		op.retry(t, &turn, conflict, rejection)
	} else {
		op.escalate(t, &turn, rejection)
		res.Escalated = true
	}
	s.ActiveTurns.Set(turn.TurnID, &turn)
	t.result = res
	return nil
}

// preserve keeps the refused result beside the dispatch bundles.
func (op *RejectTurn) preserve(t *transition, turn *Turn) string {
	if op.Staged == nil {
		return ""
	}
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(t.env.Time())
	path := fmt.Sprintf("%s/%s-attempt-%d-%s.json", RejectedDir, turn.TurnID, turn.Attempt, stamp)
	t.files = append(t.files, FileWrite{path, op.Staged.Data})
	t.unstage = append(t.unstage, turn.TurnID)
	return path
}

// charge books the attempt: a refused result has cost as much as an accepted one.
func (op *RejectTurn) charge(t *transition) {
	if op.Cost <= 0 {
		return
	}
	b := &t.s.BudgetStatus
	b.SpentUSD += op.Cost
	t.x.CostUSD += op.Cost
	if b.RemainingUSD != nil {
		b.RemainingUSD = ptr(*b.RemainingUSD - op.Cost)
	}
}

func (op *RejectTurn) rejection(t *transition, turn *Turn, conflict *ojson.Object) *ojson.Object {
	reason, stage := op.Reason, op.Stage
	if stage == "" {
		stage = "human_review"
	}
	errs := op.Errors
	if conflict != nil {
		stage = "conflict"
		if trimSpace(reason) == "" {
			reason = "file_conflict"
		}
		detail := conflict.Object("conflict_error")
		more := ojson.NewObject("resolution_chosen", "reject_and_reassign", "operator_reason", nullable(op.Reason))
		t.append(LedgerDecisions, NewConflictEntry("conflict_rejected", t.env.Time(), turn, t.s.Phase, detail, more))
	}
	if len(errs) == 0 {
		errs = []string{reason}
	}
	r := ojson.NewObject("turn_id", turn.TurnID, "attempt", turn.Attempt, "rejected_at", t.env.Time(), "reason", reason,
		"validation_errors", errs, "failed_stage", stage)
	if conflict != nil {
		r.Set("conflict_context", conflict.Object("conflict_error"))
	}
	return r
}

func (op *RejectTurn) retry(t *transition, turn *Turn, conflict, rejection *ojson.Object) {
	s := t.s
	if conflict != nil {
		turn.ConflictContext = ConflictContext(turn, conflict.Object("conflict_error"))
		turn.AssignedSequence = max(s.TurnSequence, turn.AssignedSequence)
		turn.ConcurrentWith = slices.DeleteFunc(slices.Clone(s.ActiveTurns.Keys()), func(id string) bool { return id == turn.TurnID })
		if q := s.QueuedPhaseTransition; q != nil && q.RequestedByTurn == turn.TurnID {
			s.QueuedPhaseTransition = nil
		}
	} else {
		turn.ConflictContext = nil
	}
	turn.Attempt++
	turn.Status = TurnRetrying
	turn.ConflictState = nil
	turn.FailedAt, turn.FailureReason = "", ""
	turn.Baseline = op.Baseline
	turn.StartedAt = t.env.Time()
	turn.DeadlineAt = FormatTime(t.deadline(t.env.Now))
	t.event("turn_rejected", turn, "attempt", turn.Attempt-1, "retrying", true, "reason", rejection.String("reason"),
		"failed_stage", rejection.String("failed_stage"), "validation_errors", rejection.Array("validation_errors"))
	if s.Status == StatusBlocked && s.BlockedReason != nil && strOr(s.BlockedReason.TurnID) == turn.TurnID {
		switch s.BlockedReason.Category {
		case "conflict_loop", "hook_block", "hook_tamper", "validation_error", "policy_escalation":
			// Sending the turn back is the resolution of a block it caused.
			t.clearBlock("turn_rejected")
		}
	}
	t.dispatch(turn)
	t.subject = fmt.Sprintf("reject %s (%s), attempt %d follows", turn.TurnID, turn.AssignedRole, turn.Attempt)
}

func (op *RejectTurn) escalate(t *transition, turn *Turn, rejection *ojson.Object) {
	turn.Status = TurnFailed
	turn.ConflictState = nil
	t.s.ActiveTurns.Set(turn.TurnID, turn)
	t.event("turn_rejected", turn, "attempt", turn.Attempt, "retrying", false, "escalated", true, "reason", rejection.String("reason"),
		"failed_stage", rejection.String("failed_stage"), "validation_errors", rejection.Array("validation_errors"))
	detail := fmt.Sprintf("Turn rejected %d times; its attempts are used up.", turn.Attempt)
	t.block(blockSpec{On: "escalation:retries-exhausted:" + turn.AssignedRole, Category: "retries_exhausted", TypedReason: "retries_exhausted", Owner: "human",
		Action: fmt.Sprintf("Resolve the escalation, then run: git agentxchain unblock && git agentxchain reissue %s", turn.TurnID), Detail: detail, Turn: turn, Retained: true,
		Escalation: ojson.NewObject("from_role", turn.AssignedRole, "from_turn_id", turn.TurnID, "reason", detail,
			"validation_errors", rejection.Array("validation_errors"), "escalated_at", t.env.Time())})
	t.subject = fmt.Sprintf("reject %s (%s), attempts used up", turn.TurnID, turn.AssignedRole)
}

// ConflictContext is what the next attempt of a conflicted turn is told
// (spec/01 §3.2); conflict is the conflict object of spec/01 §6.8.
func ConflictContext(turn *Turn, conflict *ojson.Object) *ojson.Object {
	brief := func(rows []*ojson.Object) []*ojson.Object {
		out := []*ojson.Object{}
		for _, r := range rows {
			out = append(out, ojson.NewObject("turn_id", r.String("turn_id"), "role", r.String("role"), "files_changed", r.Strings("files_changed")))
		}
		return out
	}
	kind := conflict.String("type")
	if kind == "" {
		kind = "file_conflict"
	}
	files := conflict.Strings("conflicting_files")
	return ojson.NewObject("prior_attempt_turn_id", turn.TurnID, "prior_attempt_number", turn.Attempt, "conflict_type", kind,
		"conflicting_files", nonNil(files), "accepted_turns_since", brief(conflict.Objects("accepted_since")),
		"forward_revision_files", nonNil(conflict.Strings("forward_revision_files")), "forward_revision_turns_since", brief(conflict.Objects("forward_revision_turns")),
		"non_conflicting_files_preserved", nonNil(conflict.Strings("non_conflicting_files")),
		"guidance", fmt.Sprintf("Start from the work tree as it is now: other turns have changed %s since this turn was assigned. Keep their changes and fit yours in.", listSome(files, 5)))
}
