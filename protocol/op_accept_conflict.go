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

// conflictLoopLimit is how many detections of one turn's conflict block the run.
const conflictLoopLimit = 3

func (a *acceptance) checkConflict(*ojson.Object) *wire.Error {
	t := a.t
	found := result.DetectConflict(result.ConflictInput{
		Config:     t.cfg,
		Turn:       a.turn,
		Rows:       t.x.Recent,
		Attributed: a.attr.Files,
		Declared:   a.effective,
		Observed:   a.seen.FilesChanged,
	})
	a.forward = found.ForwardRevision
	if found.Conflict == nil || a.op.Resolution == ResolutionHumanMerge {
		a.conflict = found.Conflict
		return nil
	}
	t.forgetEvents()
	turn := *a.turn
	count, _ := a.turn.ConflictState.Int("detection_count")
	count++
	turn.Status = wire.TurnConflicted
	turn.ConflictState = ojson.NewObject("detected_at", t.env.Time(), "detection_count", count,
		"status", "pending_operator", "conflict_error", found.Conflict)
	t.s.ActiveTurns.Set(turn.TurnID, &turn)
	summary := result.ConflictSummary(found.Conflict)
	t.append(wire.LedgerDecisions,
		ledger.NewConflictEntry("conflict_detected", t.env.Time(), &turn, t.s.Phase, found.Conflict, nil))
	t.event("turn_conflicted", &turn, "error_code", wire.CodeConflict, "detection_count", count,
		"conflicting_files", summary.Strings("conflicting_files"),
		"accepted_since_turn_ids", summary.Strings("accepted_since_turn_ids"),
		"overlap_ratio", wire.Member(summary, "overlap_ratio"))
	files := found.Conflict.Strings("conflicting_files")
	hint := fmt.Sprintf(
		"git agentxchain reject %s --reassign --reason ..., or merge by hand and git agentxchain accept %s --resolution human_merge", turn.TurnID, turn.TurnID)
	if a.commitsSince() {
		hint += "; where a person committed the changes: git agentxchain reconcile --show"
	}
	if count >= conflictLoopLimit && !(t.s.Status == wire.StatusBlocked && t.blockOf(a.turn) == blockSibling) {
		// A sibling's block stays; this one follows when it is settled.
		t.block(conflictBlock(&turn, files))
		t.session = "blocked"
	}
	t.subject = fmt.Sprintf("conflict at %s (%s)", turn.TurnID, turn.AssignedRole)
	t.failure = &wire.Error{
		Code:    wire.CodeConflict,
		Field:   "files_changed",
		Hint:    hint,
		Details: ojson.NewObject("conflict", found.Conflict),
		Message: fmt.Sprintf("Turn %s changed files that turns accepted since its assignment changed too: %s.",
			turn.TurnID, wire.ListSome(files, 5)),
	}
	t.result = &AcceptResult{Turn: &turn, Validation: a.v, Conflict: found.Conflict, Warnings: a.warnings}
	return nil
}

func (a *acceptance) mergeRecord() *ojson.Object {
	if a.op.Resolution != ResolutionHumanMerge || a.conflict == nil {
		return nil
	}
	s := result.ConflictSummary(a.conflict)
	return ojson.NewObject("mode", ResolutionHumanMerge, "merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings(
			"accepted_since_turn_ids"), "overlap_ratio", wire.Member(s, "overlap_ratio"))
}

func (a *acceptance) recordMerge() {
	t := a.t
	more := ojson.NewObject("resolution_chosen", ResolutionHumanMerge,
		"merge_strategy", "operator_authoritative_staged_result")
	for _, kind := range []string{"conflict_resolution_selected", "conflict_resolved"} {
		t.append(wire.LedgerDecisions,
			ledger.NewConflictEntry(kind, t.env.Time(), a.turn, t.s.Phase, a.conflict, more))
	}
	s := result.ConflictSummary(a.conflict)
	t.event("conflict_resolved", a.turn, "resolution", ResolutionHumanMerge,
		"merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings(
			"accepted_since_turn_ids"), "overlap_ratio", wire.Member(s, "overlap_ratio"))
}
