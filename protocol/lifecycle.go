// Phase advance, completion and the pause for a person (spec/01 §6.3, §8).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const (
	gatePhase      = "phase_transition"
	gateCompletion = "run_completion"
)

// evaluated is the gate an acceptance led to, for the caller to show.
type evaluated struct {
	result *GateResult
	kind   string
}

// lifecycle evaluates what the turn asked for, or parks it while siblings are
// still at work (spec/02 §11.4). Only a completed turn moves the run
// (spec/01 §14 row 27).
func (a *acceptance) lifecycle(entry *ojson.Object) evaluated {
	t, s := a.t, a.t.s
	if a.res.Status == ResultNeedsHuman || s.Status != StatusActive {
		return evaluated{}
	}
	request, complete := a.res.PhaseTransitionRequest, a.res.RunCompletionRequest
	if a.res.Status != ResultCompleted && (request != nil || complete) {
		a.warnings = append(a.warnings, fmt.Sprintf("The turn's status is %s, so its request to move the run on was not evaluated.", a.res.Status))
		request, complete = nil, false
	}
	if s.ActiveTurns.Len() > 0 {
		now := t.env.Time()
		if complete && s.QueuedRunCompletion == nil {
			s.QueuedRunCompletion = &QueuedCompletion{RequestedByTurn: a.turn.TurnID, RequestedAt: now}
			t.x.QueuedRow = entry
		}
		if request != nil && s.QueuedPhaseTransition == nil {
			s.QueuedPhaseTransition = &QueuedTransition{From: s.Phase, To: *request, RequestedByTurn: a.turn.TurnID, RequestedAt: now}
			t.x.QueuedRow = entry
		}
		return evaluated{}
	}

	in := a.gateInput()
	by, queued := a.turn.TurnID, false
	if !complete && s.QueuedRunCompletion != nil {
		complete, queued, by = true, true, s.QueuedRunCompletion.RequestedByTurn
		a.useQueued(&in)
	}
	if complete {
		in.CompletionRequest = true
		g := EvaluateRunCompletion(in)
		t.completion(&g, by, queued)
		if g.Action != ActionNotFinalPhase || request == nil {
			return evaluated{&g, gateCompletion}
		}
		in.CompletionRequest = false
	}
	if request == nil && s.QueuedPhaseTransition != nil {
		request, queued, by = ptr(s.QueuedPhaseTransition.To), true, s.QueuedPhaseTransition.RequestedByTurn
		a.useQueued(&in)
	}
	if request == nil {
		return evaluated{}
	}
	in.TransitionRequest = request
	g := EvaluatePhaseExit(in)
	t.phaseExit(&g, by, queued)
	return evaluated{&g, gatePhase}
}

// useQueued takes the verification of the turn that queued the request.
func (a *acceptance) useQueued(in *GateInput) {
	if row := a.t.x.QueuedRow; row != nil {
		in.VerificationStatus = row.Object("verification").String("status")
		in.VerificationReproducible = row.Object("normalized_verification").Bool("reproducible")
	}
}

func (t *transition) phaseExit(g *GateResult, by string, queued bool) {
	switch g.Action {
	case ActionAdvance:
		t.advance(g, by, "auto")
	case ActionAwaitHuman:
		verdict := EvaluateApproval(t.cfg, t.approvalInput(g, gatePhase))
		if verdict.Auto {
			t.append(LedgerDecisions, NewApprovalPolicyEntry(t.env.Time(), gatePhase, strOr(g.GateID), t.s.Phase, g.NextPhase, verdict))
			t.advance(g, by, "auto_approved")
			return
		}
		t.s.PendingPhaseTransition = &PendingTransition{From: t.s.Phase, To: g.NextPhase, Gate: strOr(g.GateID), RequestedByTurn: by, RequestedAt: t.env.Time()}
		t.pause(strOr(g.GateID), ojson.NewObject("gate_type", gatePhase, "from", t.s.Phase, "to", g.NextPhase))
	case ActionGateFailed:
		t.gateFailed(g, gatePhase, by, queued)
	}
}

func (t *transition) completion(g *GateResult, by string, queued bool) {
	switch g.Action {
	case ActionComplete:
		t.complete(g.GateID)
	case ActionAwaitHuman:
		verdict := EvaluateApproval(t.cfg, t.approvalInput(g, gateCompletion))
		if verdict.Auto {
			t.append(LedgerDecisions, NewApprovalPolicyEntry(t.env.Time(), gateCompletion, strOr(g.GateID), t.s.Phase, "", verdict))
			t.complete(g.GateID)
			return
		}
		t.s.PendingRunCompletion = &PendingCompletion{Gate: strOr(g.GateID), RequestedByTurn: by, RequestedAt: t.env.Time()}
		t.pause(strOr(g.GateID), ojson.NewObject("gate_type", gateCompletion))
	case ActionGateFailed:
		t.gateFailed(g, gateCompletion, by, queued)
	}
}

func (t *transition) approvalInput(g *GateResult, kind string) ApprovalInput {
	return ApprovalInput{GateType: kind, Gate: g, Phase: t.s.Phase, NextPhase: g.NextPhase,
		Participated: func(phase, role string) bool { roles, _ := t.x.Participants.Get(phase); return contains(roles, role) },
		Visited:      func(phase string) bool { return phase == t.s.Phase || t.x.PhaseAccepted.Has(phase) }}
}

// pause waits for a person at a gate.
func (t *transition) pause(gate string, payload *ojson.Object) {
	s := t.s
	s.Status = StatusPaused
	s.BlockedOn = ptr("human_approval:" + gate)
	s.BlockedReason = nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	t.x.QueuedRow = nil
	t.lastEvent("gate_pending", nil, payload)
}

// advance moves the run to the gate's next phase (spec/02 §13.5).
func (t *transition) advance(g *GateResult, by, trigger string) {
	s := t.s
	from, to := s.Phase, g.NextPhase
	if g.GateID != nil {
		s.PhaseGateStatus.Set(*g.GateID, GatePassed)
	}
	s.Phase, s.PhaseEnteredAt = to, ptr(t.env.Time())
	s.LastGateFailure = nil
	s.QueuedPhaseTransition = nil
	t.x.QueuedRow = nil
	s.NonProgressSignature, s.NonProgressCount = nil, 0
	if !contains(t.x.PhasesDone, from) {
		t.x.PhasesDone = append(slices.Clip(t.x.PhasesDone), from)
	}
	if s.NextRecommendedRole != nil && !contains(t.cfg.PhaseRoles(to), *s.NextRecommendedRole) {
		// A recommendation made in the old phase does not bind the new one.
		s.NextRecommendedRole = nil
		if r := t.cfg.Route(to); r != nil && r.EntryRole != "" {
			s.NextRecommendedRole = ptr(r.EntryRole)
		}
	}
	payload := ojson.NewObject("from", from, "to", to, "gate_id", g.GateID, "trigger", trigger)
	if by != "" {
		payload.Set("requested_by_turn", by)
	}
	t.events = append(t.events, pendingEvent{"phase_entered", nil, payload})
	t.cleanup(from, to, g.GateID, trigger)
}

// cleanup drops turns of the exited phase's roles that are still active.
func (t *transition) cleanup(from, to string, gate *string, trigger string) {
	roles := t.cfg.PhaseRoles(from)
	removed, budget := []string{}, []string{}
	for _, id := range t.s.ActiveTurns.Keys() {
		turn, _ := t.s.ActiveTurns.Get(id)
		if !contains(roles, turn.AssignedRole) {
			continue
		}
		removed = append(removed, id)
		if t.s.BudgetReservations.Has(id) {
			budget = append(budget, id)
		}
		t.dropTurn(id)
	}
	t.event("phase_cleanup", nil, "from_phase", from, "removed_turn_ids", removed, "cleared_budget_turn_ids", budget,
		"removed_dispatch_turn_ids", removed, "to_phase", to, "gate_id", gate, "trigger", trigger)
}

// complete ends the run.
func (t *transition) complete(gate *string) {
	s := t.s
	if gate != nil {
		s.PhaseGateStatus.Set(*gate, GatePassed)
	}
	s.Status, s.CompletedAt = StatusCompleted, ptr(t.env.Time())
	s.BlockedOn, s.BlockedReason, s.Escalation = nil, nil, nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	s.LastGateFailure = nil
	t.x.QueuedRow = nil
	if !contains(t.x.PhasesDone, s.Phase) {
		t.x.PhasesDone = append(slices.Clip(t.x.PhasesDone), s.Phase)
	}
	t.lastEvent("run_completed", nil, ojson.NewObject("completed_at", t.env.Time()))
	t.runHistory("")
}

func (t *transition) gateFailed(g *GateResult, kind, by string, queued bool) {
	s := t.s
	f := &GateFailure{GateType: kind, GateID: g.GateID, Phase: s.Phase, FailedAt: t.env.Time(), QueuedRequest: queued,
		Reasons: nonNil(g.Reasons), MissingFiles: nonNil(g.MissingFiles), MissingVerification: g.MissingVerification}
	if by != "" {
		f.RequestedByTurn = ptr(by)
	}
	if kind == gatePhase {
		f.FromPhase, f.ToPhase = ptr(s.Phase), ptr(g.TransitionRequest)
	}
	s.LastGateFailure = f
	if kind == gatePhase {
		s.QueuedPhaseTransition = nil
	} else {
		s.QueuedRunCompletion = nil
	}
	t.x.QueuedRow = nil
	if g.GateID != nil {
		s.PhaseGateStatus.Set(*g.GateID, GateFailed)
	}
	t.append(LedgerDecisions, NewGateFailureEntry(f))
	t.event("gate_failed", nil, "gate_id", g.GateID, "from_phase", f.FromPhase, "to_phase", f.ToPhase, "reasons", f.Reasons, "gate_type", kind)
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// reconcileGateFailure forgets a failure whose missing files have all appeared
// (spec/01 §6.10). It does not pass the gate.
func (t *transition) reconcileGateFailure(files []FileBlob, turn *Turn) {
	f := t.s.LastGateFailure
	if f == nil || len(f.MissingFiles) == 0 || f.MissingVerification || t.s.Status == StatusCompleted || t.s.Status == StatusBlocked || f.FailedAt == t.env.Time() {
		return
	}
	have := make(map[string]bool, len(files))
	for _, fb := range files {
		have[fb.Path] = fb.Blob != nil
	}
	for _, p := range f.MissingFiles {
		if !have[p] {
			return
		}
	}
	gate := strOr(f.GateID)
	t.s.LastGateFailure = nil
	if gate != "" {
		t.s.PhaseGateStatus.Set(gate, GateReconciled)
	}
	t.append(LedgerDecisions, NewGateReconciliationEntry(t.env.Time(), gate, f.GateType, f.Phase, turn.TurnID, f.MissingFiles))
}

// timeouts applies the time limits after an acceptance (spec/02 §17). A phase is
// never skipped over a person's gate.
func (t *transition) timeouts(turn *Turn, files []FileBlob) {
	hits := EvaluateTimeouts(t.cfg, t.s, turn, t.env.Now)
	entry := func(kind string, h TimeoutHit) *ojson.Object {
		return NewTimeoutEntry(kind, t.env.Time(), turn.TurnID, t.s.Phase, h)
	}
	acted := false
	for _, h := range hits {
		if h.Action == "warn" {
			t.append(LedgerDecisions, entry("timeout_warning", h))
			continue
		}
		if acted || t.s.Status != StatusActive {
			continue
		}
		acted = true
		if h.Action == "skip_phase" && h.Scope == "phase" && t.skipPhase(h, files, entry) {
			continue
		}
		t.append(LedgerDecisions, entry("timeout", h))
		t.block(blockSpec{On: "timeout:" + h.Scope, Category: "timeout", TypedReason: "timeout", Owner: "operator",
			Action: "git agentxchain unblock", Turn: turn, Retained: t.s.ActiveTurns.Len() > 0,
			Detail: h.Detail()})
	}
}

// skipPhase tries to leave an overdue phase; the gate's own predicates decide.
func (t *transition) skipPhase(h TimeoutHit, files []FileBlob, entry func(string, TimeoutHit) *ojson.Object) bool {
	next := t.cfg.NextPhase(t.s.Phase)
	if next == "" || t.s.ActiveTurns.Len() > 0 {
		return false
	}
	in := t.gateInput(files)
	in.TransitionRequest = ptr(next)
	if row := t.x.LastRow; row != nil {
		in.VerificationStatus = row.Object("verification").String("status")
	}
	g := EvaluatePhaseExit(in)
	from := t.s.Phase
	if g.Action == ActionAdvance {
		row := entry("timeout_skip", h)
		row.Set("from_phase", from)
		row.Set("to_phase", next)
		row.Set("gate_id", g.GateID)
		t.append(LedgerDecisions, row)
		t.advance(&g, "", "auto")
		return true
	}
	reasons := nonNil(g.Reasons)
	if g.Action == ActionAwaitHuman {
		reasons = []string{fmt.Sprintf("gate %q needs a person's approval; a timeout cannot pass it", strOr(g.GateID))}
	} else {
		t.gateFailed(&g, gatePhase, "", false)
	}
	row := entry("timeout_skip_failed", h)
	row.Set("from_phase", from)
	row.Set("to_phase", next)
	row.Set("gate_id", g.GateID)
	row.Set("reasons", reasons)
	t.append(LedgerDecisions, row)
	return false
}
