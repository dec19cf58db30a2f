// What an acceptance that was granted changes (spec/01 §6.3-6.10).

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// conflictLoopLimit is how many detections of one turn's conflict block the run.
const conflictLoopLimit = 3

func (a *acceptance) checkConflict(*ojson.Object) *Error {
	t := a.t
	found := DetectConflict(ConflictInput{Config: t.cfg, Turn: a.turn, Rows: t.x.Recent, Attributed: a.attr.Files,
		Declared: a.effective, Observed: a.op.Seen.FilesChanged})
	a.forward = found.ForwardRevision
	if found.Conflict == nil || a.op.Resolution == ResolutionHumanMerge {
		a.conflict = found.Conflict
		return nil
	}
	t.events = nil
	turn := *a.turn
	count, _ := a.turn.ConflictState.Int("detection_count")
	count++
	turn.Status = TurnConflicted
	turn.ConflictState = ojson.NewObject("detected_at", t.env.Time(), "detection_count", count, "status", "pending_operator", "conflict_error", found.Conflict)
	t.s.ActiveTurns.Set(turn.TurnID, &turn)
	summary := ConflictSummary(found.Conflict)
	t.append(LedgerDecisions, NewConflictEntry("conflict_detected", t.env.Time(), &turn, t.s.Phase, found.Conflict, nil))
	t.event("turn_conflicted", &turn, "error_code", CodeConflict, "detection_count", count,
		"conflicting_files", summary.Strings("conflicting_files"), "accepted_since_turn_ids", summary.Strings("accepted_since_turn_ids"),
		"overlap_ratio", value(summary, "overlap_ratio"))
	files := found.Conflict.Strings("conflicting_files")
	hint := fmt.Sprintf("git agentxchain reject %s --reassign --reason ..., or merge by hand and git agentxchain accept %s --resolution human_merge", turn.TurnID, turn.TurnID)
	if count >= conflictLoopLimit {
		t.block(blockSpec{On: "human:conflict_loop:" + turn.TurnID, Category: "conflict_loop", TypedReason: "conflict_loop", Owner: "human",
			Action: fmt.Sprintf("Serialize the conflicting work, then run: git agentxchain reject %s --reassign", turn.TurnID),
			Detail: "Conflicting files: " + strings.Join(files, ", "), Turn: &turn, Retained: true})
		t.session = "blocked"
	}
	t.subject = fmt.Sprintf("conflict at %s (%s)", turn.TurnID, turn.AssignedRole)
	t.failure = &Error{Code: CodeConflict, Field: "files_changed", Hint: hint, Details: ojson.NewObject("conflict", found.Conflict),
		Message: fmt.Sprintf("Turn %s changed files that turns accepted since its assignment changed too: %s.", turn.TurnID, listSome(files, 5))}
	t.result = &AcceptResult{Turn: &turn, Validation: a.v, Conflict: found.Conflict, Warnings: a.warnings}
	return nil
}

func value(o *ojson.Object, key string) any { v, _ := o.Get(key); return v }

func (a *acceptance) commit() {
	t, s, turn := a.t, a.t.s, a.turn
	if turn.DispatchedAt == "" {
		// Another runner assigned the turn without saying it was dispatched; the
		// event contract wants it said before the acceptance.
		t.events = append([]pendingEvent{{"turn_dispatched", turn, &ojson.Object{}}}, t.events...)
	}
	s.TurnSequence++
	accepted := s.TurnSequence
	entry := a.entry(accepted)
	a.files(entry)
	t.append(LedgerHistory, entry)
	a.recordDecisions()
	t.appendBytes(LedgerTalk, talkSection(a.turn, a.res, s.Phase))
	t.x.accept(entry, t.cfg)

	var took []any
	if turn.StartedAt != "" {
		ms, _ := DurationMS(turn.StartedAt, t.env.Time())
		took = []any{"started_at", turn.StartedAt, "duration_ms", ms}
	}
	t.event("turn_accepted", turn, took...)
	if a.op.Resolution == ResolutionHumanMerge && a.conflict != nil {
		a.recordMerge()
	}

	s.LastCompletedTurnID = ptr(turn.TurnID)
	t.dropTurn(turn.TurnID)
	s.AcceptedIntegrationRef = ptr(a.acceptedRef())
	s.NextRecommendedRole = a.nextRole()
	a.spend()
	a.unblock()
	a.delegations(entry)
	gate := a.lifecycle(entry)
	a.needsHuman()
	t.timeouts(turn, a.op.Files)
	t.reconcileGateFailure(a.op.Files, turn)
	a.nonProgress()
	t.exhaustBudget(turn)

	t.session = "turn_accepted"
	t.subject = fmt.Sprintf("accept %s (%s, %s): %s", turn.TurnID, turn.AssignedRole, entry.String("phase"), a.res.Status)
	t.result = &AcceptResult{Turn: turn, Entry: entry, Validation: a.v, Warnings: a.warnings, Gate: gate.result, GateType: gate.kind, Leftover: a.leftover}
}

func (a *acceptance) entry(accepted int) *ojson.Object {
	t := a.t
	return BuildHistoryEntry(HistoryEntry{Turn: a.turn, RunID: t.s.Run(), Phase: t.s.Phase, Result: a.res, FilesChanged: a.effective,
		Verification: a.verify.Object(), Observed: a.observedArtifact(), AcceptedSequence: accepted, AcceptedAt: t.env.Now,
		Replay: a.op.Replay.Summary(), ForwardRevision: a.forward, Conflict: a.mergeRecord()})
}

func (a *acceptance) observedArtifact() *ojson.Object {
	seen := &a.op.Seen
	baseline := any(nil)
	if b := a.turn.Baseline; b != nil && b.HeadRef != nil {
		baseline = "git:" + *b.HeadRef
	}
	markers := &ojson.Object{}
	for _, f := range a.attr.Files {
		if m, ok := seen.Markers.Get(f); ok {
			markers.Set(f, m)
		}
	}
	o := ojson.NewObject("derived_by", "orchestrator", "baseline_ref", baseline, "accepted_ref", a.acceptedRef(),
		"files_changed", a.attr.Files, "file_markers", markers, "diff_summary", seen.DiffSummary)
	if len(a.attr.Siblings) > 0 {
		o.Set("attributed_to_concurrent_siblings", a.attr.Siblings)
	}
	return o
}

// acceptedRef is derived from what git shows, never from what the actor says
// (spec/02 §9.3).
func (a *acceptance) acceptedRef() string {
	if a.t.env.Git.Head != "" {
		return "git:" + a.t.env.Git.Head
	}
	switch a.res.Artifact.Type {
	case "workspace", "review":
		return "workspace:dirty"
	}
	if r := strOr(a.t.before.AcceptedIntegrationRef); r != "" {
		return r
	}
	return "unknown"
}

func (a *acceptance) recordDecisions() {
	t := a.t
	if a.forward != nil {
		t.append(LedgerDecisions, NewForwardRevision(t.env.Time(), a.turn, t.s.Phase, a.forward))
	}
	for _, d := range a.res.Decisions {
		t.append(LedgerDecisions, NewDecisionEntry(d, a.turn, t.s.Phase, t.env.Time()))
	}
	rows, amends := PromoteDecisions(t.snap.RepoDecisions, a.res.Decisions, a.turn, t.s.Run(), t.s.Phase, t.env.Time())
	for _, r := range rows {
		t.append(LedgerRepoDecisions, r)
	}
	t.amends = append(t.amends, amends...)
}

func (a *acceptance) mergeRecord() *ojson.Object {
	if a.op.Resolution != ResolutionHumanMerge || a.conflict == nil {
		return nil
	}
	s := ConflictSummary(a.conflict)
	return ojson.NewObject("mode", ResolutionHumanMerge, "merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings("accepted_since_turn_ids"), "overlap_ratio", value(s, "overlap_ratio"))
}

func (a *acceptance) recordMerge() {
	t := a.t
	more := ojson.NewObject("resolution_chosen", ResolutionHumanMerge, "merge_strategy", "operator_authoritative_staged_result")
	for _, kind := range []string{"conflict_resolution_selected", "conflict_resolved"} {
		t.append(LedgerDecisions, NewConflictEntry(kind, t.env.Time(), a.turn, t.s.Phase, a.conflict, more))
	}
	s := ConflictSummary(a.conflict)
	t.event("conflict_resolved", a.turn, "resolution", ResolutionHumanMerge, "merge_strategy", "operator_authoritative_staged_result",
		"conflicting_files", s.Strings("conflicting_files"), "accepted_since_turn_ids", s.Strings("accepted_since_turn_ids"), "overlap_ratio", value(s, "overlap_ratio"))
}

// nextRole derives next_recommended_role (spec/02 §2.2).
func (a *acceptance) nextRole() *string {
	if a.res.Status == ResultNeedsHuman || a.res.Status == ResultBlocked || a.res.ProposedNextRole == "" || a.res.ProposedNextRole == "human" {
		return nil
	}
	route := a.t.cfg.Route(a.t.s.Phase)
	if route == nil {
		return nil
	}
	if contains(route.AllowedNextRoles, a.res.ProposedNextRole) {
		return ptr(a.res.ProposedNextRole)
	}
	if route.EntryRole == "" {
		return nil
	}
	return ptr(route.EntryRole)
}

func (a *acceptance) spend() {
	b := &a.t.s.BudgetStatus
	b.SpentUSD += a.res.CostUSD
	if b.RemainingUSD != nil {
		b.RemainingUSD = ptr(*b.RemainingUSD - a.res.CostUSD)
	}
	a.t.x.CostUSD += a.res.CostUSD
}

// exhaustBudget blocks or warns once the limit is reached (spec/01 §6.7). A run
// that completes or waits for approval with the same turn is left to that.
func (t *transition) exhaustBudget(turn *Turn) {
	s := t.s
	if s.BudgetStatus.RemainingUSD == nil || *s.BudgetStatus.RemainingUSD > 0 {
		return
	}
	limit := s.BudgetStatus.SpentUSD + *s.BudgetStatus.RemainingUSD
	s.BudgetStatus.Extra.Set("exhausted", true)
	s.BudgetStatus.Extra.Set("exhausted_at", t.env.Time())
	s.BudgetStatus.Extra.Set("exhausted_after_turn", turn.TurnID)
	detail := fmt.Sprintf("Run budget used up: $%.2f spent of $%.2f", s.BudgetStatus.SpentUSD, limit)
	if t.cfg.Budget != nil && t.cfg.Budget.OnExceed == "warn" {
		s.BudgetStatus.Extra.Set("warn_mode", true)
		t.lastEvent("budget_exceeded_warn", turn, ojson.NewObject("spent_usd", s.BudgetStatus.SpentUSD, "limit_usd", limit,
			"remaining_usd", *s.BudgetStatus.RemainingUSD, "warning", detail))
		return
	}
	if s.Status == StatusActive {
		t.block(blockSpec{On: "budget:exhausted", Category: "budget_exhausted", TypedReason: "budget_exhausted", Owner: "human",
			Action: "Raise budget.per_run_max_usd in agentxchain.json, then run: git agentxchain unblock", Detail: detail, Turn: turn})
	}
}

// unblock clears a block this acceptance resolves and keeps one that a sibling
// still causes: a blocked state never loses its reason (spec/01 §14 row 3).
func (a *acceptance) unblock() {
	s := a.t.s
	if s.Status != StatusBlocked {
		return
	}
	if r := s.BlockedReason; r != nil && r.TurnID != nil && *r.TurnID != a.turn.TurnID {
		return
	}
	for _, turn := range s.ActiveTurns.All() {
		if blocking(turn.Status) {
			return
		}
	}
	a.t.clearBlock("turn_accepted")
}

func blocking(status string) bool {
	switch status {
	case TurnFailed, TurnConflicted, TurnFailedStart, TurnStalled:
		return true
	}
	return false
}

func (a *acceptance) needsHuman() {
	if a.res.Status != ResultNeedsHuman || a.t.s.Status != StatusActive {
		return
	}
	reason := a.res.NeedsHumanReason
	if trimSpace(reason) == "" {
		reason = "unspecified"
	}
	a.t.block(blockSpec{On: "human:" + reason, Category: "needs_human", TypedReason: "needs_human", Owner: "human",
		Action: "Resolve the stated issue, then run: git agentxchain unblock", Detail: reason, Turn: a.turn})
}

// delegations queues what the turn delegates, closes what it fulfils and opens
// the parent's review when the last child is done (spec/01 §6.6).
func (a *acceptance) delegations(entry *ojson.Object) {
	t, s := a.t, a.t.s
	for _, d := range a.res.Delegations {
		s.DelegationQueue = append(s.DelegationQueue, &Delegation{DelegationID: d.ID, ParentTurnID: a.turn.TurnID, ParentRole: a.turn.AssignedRole,
			ToRole: d.ToRole, Charter: d.Charter, AcceptanceContract: d.AcceptanceContract, RequiredDecisionIDs: d.RequiredDecisionIDs,
			Status: "pending", CreatedAt: t.env.Time()})
	}
	if len(a.res.Delegations) > 0 {
		s.NextRecommendedRole = ptr(a.res.Delegations[0].ToRole)
	}
	if a.turn.DelegationReview != nil || s.PendingDelegation != nil && s.PendingDelegation.ParentRole == a.turn.AssignedRole && a.turn.DelegationContext == nil {
		s.PendingDelegation = nil
	}
	ctx := a.turn.DelegationContext
	if ctx == nil {
		return
	}
	parent, id := ctx.String("parent_turn_id"), ctx.String("delegation_id")
	t.x.DelegationRows.Set(a.turn.TurnID, entry)
	done := true
	var next *string
	for i, d := range s.DelegationQueue {
		if d.ParentTurnID != parent {
			continue
		}
		if d.DelegationID == id {
			c := *d
			c.Status = "failed"
			if a.res.Status == ResultCompleted {
				c.Status = "completed"
			}
			c.ChildTurnID = ptr(a.turn.TurnID)
			s.DelegationQueue[i], d = &c, &c
		}
		if d.Status == "pending" || d.Status == "active" {
			done = false
			if d.Status == "pending" && next == nil {
				next = ptr(d.ToRole)
			}
		}
	}
	if !done {
		if next != nil {
			s.NextRecommendedRole = next
		}
		return
	}
	review := &DelegationReview{ParentTurnID: parent, ParentRole: ctx.String("parent_role")}
	s.DelegationQueue = slices.DeleteFunc(slices.Clone(s.DelegationQueue), func(d *Delegation) bool {
		if d.ParentTurnID != parent {
			return false
		}
		row, _ := t.x.DelegationRows.Get(strOr(d.ChildTurnID))
		review.Results = append(review.Results, DelegationResult(d, row))
		t.x.DelegationRows.Delete(strOr(d.ChildTurnID))
		return true
	})
	s.PendingDelegation = review
	s.NextRecommendedRole = ptr(review.ParentRole)
}

// DelegationResult is one row of a pending delegation review (spec/01 §3.7); row
// is the child's history row, nil when there is none.
func DelegationResult(d *Delegation, row *ojson.Object) *ojson.Object {
	summary := "(no summary)"
	verification := ojson.NewObject("status", "skipped")
	files := []string{}
	made := map[string]bool{}
	if row != nil {
		summary = row.String("summary")
		files = append(files, row.Strings("files_changed")...)
		if v := row.Object("verification"); v != nil {
			verification = v
		}
		for _, dec := range row.Objects("decisions") {
			made[dec.String("id")] = true
		}
	}
	satisfied, missing := []string{}, []string{}
	for _, id := range d.RequiredDecisionIDs {
		if made[id] {
			satisfied = append(satisfied, id)
		} else {
			missing = append(missing, id)
		}
	}
	return ojson.NewObject("delegation_id", d.DelegationID, "child_turn_id", d.ChildTurnID, "to_role", d.ToRole, "charter", d.Charter,
		"acceptance_contract", d.AcceptanceContract, "required_decision_ids", append([]string{}, d.RequiredDecisionIDs...),
		"satisfied_decision_ids", satisfied, "missing_decision_ids", missing, "summary", summary, "status", d.Status,
		"files_changed", files, "verification", verification)
}

// nonProgress blocks a run whose gate fails in the same way turn after turn
// (spec/01 §6.10, with the probe of spec/01 §14 row 15 mended).
func (a *acceptance) nonProgress() {
	t, s := a.t, a.t.s
	if s.Status != StatusActive {
		return
	}
	in := t.gateInput(a.op.Files)
	in.VerificationStatus = a.res.Verification.Status
	in.VerificationReproducible = a.verify.Reproducible
	if s.Phase != a.t.before.Phase {
		// The phase just changed: the files of the new gate were not looked at.
		s.NonProgressSignature, s.NonProgressCount = nil, 0
		return
	}
	out := NonProgress(NonProgressInput{Gate: in, Signature: strOr(s.NonProgressSignature), Count: s.NonProgressCount, Declared: a.effective})
	if out.Count == 0 {
		s.NonProgressSignature, s.NonProgressCount = nil, 0
		return
	}
	s.NonProgressSignature, s.NonProgressCount = ptr(out.Signature), out.Count
	threshold := t.cfg.RunLoop.NonProgressThreshold
	if threshold <= 0 {
		threshold = 3
	}
	if out.Count < threshold {
		return
	}
	t.append(LedgerDecisions, NewNonProgressEntry(t.env.Time(), out.GateID, out.Signature, out.Count, threshold, out.FailingFiles))
	t.block(blockSpec{On: "non_progress", Category: "non_progress", TypedReason: "non_progress", Owner: "human",
		Action: "Change what the gate fails on, then run: git agentxchain unblock",
		Detail: fmt.Sprintf("%d accepted turns in a row left gate %q failing in the same way", out.Count, out.GateID), Turn: a.turn})
}

// talkSection is the human-readable record of an accepted turn in TALK.md
// (spec/01 §6.3). Text of the actor is kept to one line each, so that it
// cannot pose as another section.
func talkSection(turn *Turn, r *TurnResult, phase string) []byte {
	short := strings.TrimPrefix(turn.TurnID, "turn_")
	if len(short) > 8 {
		short = short[:8]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Turn %s — %s (%s)\n\n- **Status:** %s\n- **Summary:** %s\n", short, turn.AssignedRole, phase, r.Status, oneLine(r.Summary))
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "- **Decision %s:** %s\n", d.ID, oneLine(d.Statement))
	}
	for _, o := range r.Objections {
		fmt.Fprintf(&b, "- **Objection %s (%s):** %s\n", o.ID, o.Severity, oneLine(o.Statement))
	}
	fmt.Fprintf(&b, "- **Proposed next:** %s\n\n---\n", oneLine(r.ProposedNextRole))
	return []byte(b.String())
}

func oneLine(s string) string   { return strings.Join(strings.Fields(s), " ") }
func trimSpace(s string) string { return strings.TrimSpace(strings.Trim(s, "\ufeff")) }
