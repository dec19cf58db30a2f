// Conflicts at acceptance: detection, the loop guard, the operator's merge
// (docs/spec/observation.md#conflicts).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// conflictLoopLimit is how often a conflict of one turn is detected before the run is blocked.
const conflictLoopLimit = 3

func (a *acceptance) checkConflict(*ojson.Object) *wire.Error {
	t := a.t
	found := result.DetectConflict(result.ConflictInput{
		Config:     t.Config,
		Turn:       a.turn,
		Rows:       t.Index.Recent,
		Attributed: a.attr.Files,
		Declared:   a.effective,
		Observed:   a.seen.FilesChanged,
	})
	a.forward = found.ForwardRevision
	if found.Conflict == nil || a.op.Resolution == ResolutionHumanMerge {
		a.conflict = found.Conflict
		return nil
	}
	t.ForgetEvents()
	turn := *a.turn
	count, _ := a.turn.ConflictState.Int("detection_count")
	count++
	turn.Status = wire.TurnConflicted
	turn.ConflictState = ojson.NewObject("detected_at", t.Env.Time(), "detection_count", count,
		"status", "pending_operator", "conflict_error", found.Conflict)
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	summary := result.ConflictSummary(found.Conflict)
	t.Append(wire.LedgerDecisions,
		ledger.NewConflictEntry("conflict_detected", t.Env.Time(), &turn, t.State.Phase, found.Conflict, nil))
	t.Event("turn_conflicted", &turn, "error_code", wire.CodeConflict, "detection_count", count,
		"conflicting_files", summary.Strings("conflicting_files"),
		"accepted_since_turn_ids", summary.Strings("accepted_since_turn_ids"),
		"overlap_ratio", summary.Value("overlap_ratio"))
	files := found.Conflict.Strings("conflicting_files")
	hint := fmt.Sprintf(
		"git agentxchain reject %s --reassign --reason ..., or merge by hand and git agentxchain accept %s --resolution human_merge", turn.TurnID, turn.TurnID)
	if a.commitsSince() {
		hint += "; where a person committed the changes: git agentxchain reconcile --show"
	}
	if count >= conflictLoopLimit && !(t.State.Status == wire.StatusBlocked && blockOf(t, a.turn) == blockSibling) {
		// A sibling's block stays; this one follows once that is settled.
		t.Block(conflictBlock(&turn, files))
		t.Session = "blocked"
	}
	t.Subject = fmt.Sprintf("conflict at %s (%s)", turn.TurnID, turn.AssignedRole)
	t.Failure = &wire.Error{
		Code:    wire.CodeConflict,
		Field:   "files_changed",
		Hint:    hint,
		Details: ojson.NewObject("conflict", found.Conflict),
		Message: fmt.Sprintf("Turn %s changed files that turns accepted since its assignment changed too: %s.",
			turn.TurnID, wire.ListSome(files, 5)),
	}
	t.Result = &AcceptResult{Turn: &turn, Validation: a.v, Conflict: found.Conflict, Warnings: a.warnings}
	return nil
}

func (a *acceptance) mergeRecord() *ojson.Object {
	if a.op.Resolution != ResolutionHumanMerge || a.conflict == nil {
		return nil
	}
	s := result.ConflictSummary(a.conflict)
	return ojson.NewObject("mode", ResolutionHumanMerge, "merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings(
			"accepted_since_turn_ids"), "overlap_ratio", s.Value("overlap_ratio"))
}

func (a *acceptance) recordMerge() {
	t := a.t
	more := ojson.NewObject("resolution_chosen", ResolutionHumanMerge,
		"merge_strategy", "operator_authoritative_staged_result")
	for _, kind := range []string{"conflict_resolution_selected", "conflict_resolved"} {
		t.Append(wire.LedgerDecisions,
			ledger.NewConflictEntry(kind, t.Env.Time(), a.turn, t.State.Phase, a.conflict, more))
	}
	s := result.ConflictSummary(a.conflict)
	t.Event("conflict_resolved", a.turn, "resolution", ResolutionHumanMerge,
		"merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings(
			"accepted_since_turn_ids"), "overlap_ratio", s.Value("overlap_ratio"))
}
