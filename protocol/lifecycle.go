// Phase advance, completion and the pause for a person (docs/spec/lifecycle.md#the-next-state).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// evaluated is the gate that an acceptance led to, for the caller to show.
type evaluated struct {
	result *gates.Result
	kind   string
}

// lifecycle evaluates what the turn requested, or parks the request while siblings are still at work
// (docs/spec/observation.md#concurrent-turns). Only a completed turn moves the run
// (docs/compatibility.md#where-we-differ-on-purpose row 27).
func (a *acceptance) lifecycle() evaluated {
	s := a.t.State
	request, complete := a.planned()
	switch {
	case a.res.Status == wire.ResultNeedsHuman:
		return evaluated{}
	case s.DelegationOpen():
		a.setAside(request, complete)
		return evaluated{}
	case s.ActiveTurns.Len() > 0:
		a.queue(request, complete)
		return evaluated{}
	case s.Status != wire.StatusActive, len(s.OpenCharters()) > 0:
		return evaluated{}
	}
	out := a.tryCompletion(complete)
	if s.Status != wire.StatusActive {
		return out
	}
	if g := a.tryPhase(request); g.result != nil {
		return g
	}
	return out
}

// warn notes a warning, unless it is "".
func (a *acceptance) warn(text string) {
	if text != "" {
		a.warnings = append(a.warnings, text)
	}
}

// planned returns what the turn requests, as adjusted by the plan.
func (a *acceptance) planned() (phase *string, complete bool) {
	phase, complete = a.request()
	if a.res.Status != wire.ResultCompleted {
		return phase, complete
	}
	phase, complete, warning := charters.Planned(a.t, phase, complete)
	a.warn(warning)
	return phase, complete
}

// request returns what the turn is allowed to request.
func (a *acceptance) request() (phase *string, complete bool) {
	phase, complete = a.res.PhaseTransitionRequest, a.res.RunCompletionRequest
	if a.res.Status != wire.ResultCompleted && (phase != nil || complete) {
		a.warnings = append(a.warnings,
			fmt.Sprintf("The turn's status is %s, so its request to move the run on was not evaluated.", a.res.Status))
		return nil, false
	}
	return phase, complete
}

// queue parks requests; the first one of each kind stands. The index keeps the
// row: the gate will read its verification.
func (a *acceptance) queue(request *string, complete bool) {
	s, now := a.t.State, a.t.Env.Time()
	if complete && s.QueuedRunCompletion == nil {
		s.QueuedRunCompletion = &run.QueuedCompletion{RequestedByTurn: a.turn.TurnID, RequestedAt: now}
	}
	if request != nil && s.QueuedPhaseTransition == nil {
		s.QueuedPhaseTransition = &run.QueuedTransition{
			From:            s.Phase,
			To:              *request,
			RequestedByTurn: a.turn.TurnID,
			RequestedAt:     now,
		}
	}
}

// tryCompletion evaluates a completion request of the turn, else the queued one. Either way the queue is emptied: a
// request made in an earlier phase must not come back in the final one.
func (a *acceptance) tryCompletion(own bool) evaluated {
	t, s := a.t, a.t.State
	q := s.QueuedRunCompletion
	if !own && q == nil {
		return evaluated{}
	}
	in, by := a.gateInput(), a.turn.TurnID
	if !own {
		by = q.RequestedByTurn
		verifiedBy(&in, t.Index.QueuedDone)
	}
	s.QueuedRunCompletion = nil
	in.CompletionRequest = true
	g := completionGate(t, in)
	if n := len(in.Blocking); n > 0 && g.Action != gates.ActionGateFailed && g.Action != gates.ActionNotFinalPhase {
		a.warnings = append(a.warnings, "Blocking objections are open: "+wire.List(in.Blocking)+
			" (git agentxchain objection list). rules.objections_block would hold the completion up.")
	}
	completion(t, &g, by, !own)
	a.ignored(&g, gates.ActionNotFinalPhase)
	return evaluated{&g, run.GateCompletion}
}

// tryPhase is like tryCompletion, for phase requests.
func (a *acceptance) tryPhase(own *string) evaluated {
	t, s := a.t, a.t.State
	q := s.QueuedPhaseTransition
	if own == nil && (q == nil || q.From != "" && q.From != s.Phase) {
		s.QueuedPhaseTransition = nil
		return evaluated{}
	}
	in, by, want := a.gateInput(), a.turn.TurnID, own
	if own == nil {
		by, want = q.RequestedByTurn, new(q.To)
		verifiedBy(&in, t.Index.QueuedRow)
	}
	s.QueuedPhaseTransition = nil
	in.TransitionRequest = want
	g := phaseGate(t, in)
	phaseExit(t, &g, by, own == nil)
	a.ignored(&g, gates.ActionUnknownPhase)
	return evaluated{&g, run.GatePhase}
}

// ignored says that a request had no effect; the protocol does not record this.
func (a *acceptance) ignored(g *gates.Result, action string) {
	if g.Action == action {
		a.warnings = append(a.warnings,
			"A request to move the run on was ignored: "+reasonProblems(g.Reasons).Join()+".")
	}
}

// setAside drops requests made while delegated work is open, including those that waited for siblings: the
// delegated results may be a reason not to move on, so the role that reviews them asks again.
func (a *acceptance) setAside(request *string, complete bool) {
	s := a.t.State
	if request == nil && !complete && s.QueuedPhaseTransition == nil && s.QueuedRunCompletion == nil {
		return
	}
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	a.warnings = append(a.warnings,
		"The request to move the run on was set aside: delegated work has to come back and be reviewed first.")
}

// verifiedBy takes the verification of the turn whose request is evaluated.
func verifiedBy(in *gates.Input, row *ojson.Object) {
	in.VerificationStatus = row.Object("verification").String("status")
	in.VerificationReproducible = row.Object("normalized_verification").Bool("reproducible")
}

func phaseExit(t *change.Draft, g *gates.Result, by string, queued bool) {
	switch g.Action {
	case gates.ActionAdvance:
		advance(t, g, by, "auto")
	case gates.ActionAwaitHuman:
		said := gates.EvaluateApproval(t.Config, approvalInput(t, g, run.GatePhase))
		traceApproval(t, g, said)
		if said.Auto {
			t.Append(wire.LedgerDecisions, ledger.NewApprovalPolicyEntry(t.Env.Time(), run.GatePhase,
				wire.OrEmpty(g.GateID), t.State.Phase, g.NextPhase, said))
			advance(t, g, by, "auto_approved")
			return
		}
		t.State.PendingPhaseTransition = &run.PendingTransition{
			From:            t.State.Phase,
			To:              g.NextPhase,
			Gate:            wire.OrEmpty(g.GateID),
			RequestedByTurn: by,
			RequestedAt:     t.Env.Time(),
		}
		pause(t, wire.OrEmpty(g.GateID),
			ojson.NewObject("gate_type", run.GatePhase, "from", t.State.Phase, "to", g.NextPhase))
	case gates.ActionGateFailed:
		gateFailed(t, g, run.GatePhase, by, queued)
	}
}

func completion(t *change.Draft, g *gates.Result, by string, queued bool) {
	switch g.Action {
	case gates.ActionComplete:
		complete(t, g.GateID)
	case gates.ActionAwaitHuman:
		said := gates.EvaluateApproval(t.Config, approvalInput(t, g, run.GateCompletion))
		traceApproval(t, g, said)
		if said.Auto {
			t.Append(wire.LedgerDecisions, ledger.NewApprovalPolicyEntry(t.Env.Time(), run.GateCompletion,
				wire.OrEmpty(g.GateID), t.State.Phase, "", said))
			complete(t, g.GateID)
			return
		}
		t.State.PendingRunCompletion = &run.PendingCompletion{
			Gate:            wire.OrEmpty(g.GateID),
			RequestedByTurn: by,
			RequestedAt:     t.Env.Time(),
		}
		pause(t, wire.OrEmpty(g.GateID), ojson.NewObject("gate_type", run.GateCompletion))
	case gates.ActionGateFailed:
		gateFailed(t, g, run.GateCompletion, by, queued)
	}
}

func approvalInput(t *change.Draft, g *gates.Result, kind string) gates.ApprovalInput {
	return gates.ApprovalInput{GateType: kind, Gate: g, Phase: t.State.Phase, NextPhase: g.NextPhase,
		Participated: func(phase, role string) bool {
			return slices.Contains(t.Index.Participants.Value(phase), role)
		},
		Visited: func(phase string) bool { return phase == t.State.Phase || t.Index.PhaseAccepted.Has(phase) }}
}

// pause waits for a person at a gate.
func pause(t *change.Draft, gate string, payload *ojson.Object) {
	s := t.State
	s.Status = wire.StatusPaused
	s.BlockedOn = new("human_approval:" + gate)
	s.BlockedReason = nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	t.LastEvent("gate_pending", nil, payload)
}

// advance moves the run to the gate's next phase (docs/spec/lifecycle.md#the-next-state).
func advance(t *change.Draft, g *gates.Result, by, trigger string) {
	s := t.State
	from, to := s.Phase, g.NextPhase
	if g.GateID != nil {
		s.PhaseGateStatus.Set(*g.GateID, wire.GatePassed)
	}
	s.Phase, s.PhaseEnteredAt, s.PhaseClockAt = to, new(t.Env.Time()), nil
	s.LastGateFailure = nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	s.NonProgressSignature, s.NonProgressCount = nil, 0
	if !slices.Contains(t.Index.PhasesDone, from) {
		t.Index.PhasesDone = append(slices.Clip(t.Index.PhasesDone), from)
	}
	recommendEntry(t, to)
	payload := []any{"from", from, "to", to, "gate_id", g.GateID, "trigger", trigger}
	if by != "" {
		payload = append(payload, "requested_by_turn", by)
	}
	t.Event("phase_entered", nil, payload...)
	cleanup(t, from, to, g.GateID, trigger)
}

// recommendEntry recommends the entry role of a phase: a recommendation made in the previous phase does not apply
// to it.
func recommendEntry(t *change.Draft, phase string) {
	s := t.State
	if t.Earlier.KeepsNextRole &&
		(s.NextRecommendedRole == nil || slices.Contains(t.Config.PhaseRoles(phase), *s.NextRecommendedRole)) {
		return
	}
	s.NextRecommendedRole = nil
	if r := t.Config.Route(phase); r != nil && r.EntryRole != "" {
		s.NextRecommendedRole = new(r.EntryRole)
	}
}

// cleanup drops turns of the exited phase's roles that are still active.
func cleanup(t *change.Draft, from, to string, gate *string, trigger string) {
	roles := t.Config.PhaseRoles(from)
	removed, budget := []string{}, []string{}
	for _, id := range t.State.ActiveTurns.Keys() {
		if !slices.Contains(roles, t.State.ActiveTurns.Value(id).AssignedRole) {
			continue
		}
		removed = append(removed, id)
		if t.State.BudgetReservations.Has(id) {
			budget = append(budget, id)
		}
		t.DropTurn(id)
	}
	t.Event("phase_cleanup", nil, "from_phase", from, "removed_turn_ids", removed, "cleared_budget_turn_ids", budget,
		"removed_dispatch_turn_ids", removed, "to_phase", to, "gate_id", gate, "trigger", trigger)
}

// complete ends the run.
func complete(t *change.Draft, gate *string) {
	s := t.State
	if gate != nil {
		s.PhaseGateStatus.Set(*gate, wire.GatePassed)
	}
	s.Status, s.CompletedAt = wire.StatusCompleted, new(t.Env.Time())
	s.BlockedOn, s.BlockedReason, s.Escalation = nil, nil, nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	s.LastGateFailure = nil
	if !slices.Contains(t.Index.PhasesDone, s.Phase) {
		t.Index.PhasesDone = append(slices.Clip(t.Index.PhasesDone), s.Phase)
	}
	t.LastEvent("run_completed", nil, ojson.NewObject("completed_at", t.Env.Time()))
	t.RunHistory("")
}

func gateFailed(t *change.Draft, g *gates.Result, kind, by string, queued bool) {
	s := t.State
	f := &run.GateFailure{
		GateType:      kind,
		GateID:        g.GateID,
		Phase:         s.Phase,
		FailedAt:      t.Env.Time(),
		QueuedRequest: queued,
		Reasons:       wire.NonNil(g.Reasons),
		MissingFiles: wire.NonNil(
			g.MissingFiles),
		MissingVerification: g.MissingVerification,
	}
	if by != "" {
		f.RequestedByTurn = new(by)
	}
	if kind == run.GatePhase {
		f.FromPhase, f.ToPhase = new(s.Phase), new(g.TransitionRequest)
	}
	s.LastGateFailure, t.GateFell = f, true
	if kind == run.GatePhase {
		s.QueuedPhaseTransition = nil
	} else {
		s.QueuedRunCompletion = nil
	}
	if g.GateID != nil {
		s.PhaseGateStatus.Set(*g.GateID, wire.GateFailed)
	}
	t.Append(wire.LedgerDecisions, ledger.NewGateFailureEntry(f))
	t.Event("gate_failed", nil, "gate_id", g.GateID, "from_phase", f.FromPhase, "to_phase", f.ToPhase,
		"reasons", f.Reasons, "gate_type", kind)
}

// reconcileGateFailure clears a failure whose missing files have all appeared
// (docs/spec/lifecycle.md#lack-of-progress). It does not pass the gate.
func reconcileGateFailure(t *change.Draft, files []evidence.FileBlob, turn *run.Turn) {
	f := t.State.LastGateFailure
	if f == nil || len(f.MissingFiles) == 0 || f.MissingVerification || t.State.Status == wire.StatusCompleted ||
		t.State.Status == wire.StatusBlocked || t.GateFell {
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
	gate := wire.OrEmpty(f.GateID)
	t.State.LastGateFailure = nil
	if gate != "" {
		t.State.PhaseGateStatus.Set(gate, wire.GateReconciled)
	}
	t.Append(wire.LedgerDecisions,
		ledger.NewGateReconciliationEntry(t.Env.Time(), gate, f.GateType, f.Phase, turn.TurnID, f.MissingFiles))
}

// gateInput returns the gate evaluation's input as of this acceptance, including the turn.
func (a *acceptance) gateInput() gates.Input {
	in := gateInput(a.t, a.op.Files)
	base := in.Participated
	phase, role := a.t.State.Phase, a.turn.AssignedRole
	in.Participated = func(p, r string) bool { return p == phase && r == role || base(p, r) }
	in.VerificationStatus = a.res.Verification.Status
	in.VerificationReproducible = a.verify.Reproducible
	charters.VerifyGate(a.t, &in)
	return in
}

// gateInput fills what every gate evaluation needs from the state and the index.
func gateInput(t *change.Draft, files []evidence.FileBlob) gates.Input {
	facts := make([]evidence.FileFact, len(files))
	for i, f := range files {
		facts[i] = evidence.FileFact{Path: f.Path}
		if f.Blob != nil {
			facts[i].Exists, facts[i].Data, facts[i].Digest = true, f.Blob.Data, f.Blob.Digest
		}
	}
	return gates.Input{
		Config:   t.Config,
		Phase:    t.State.Phase,
		Blocking: t.Index.BlockingObjections(),
		Files:    evidence.NewFiles(facts),
		Marks:    DocumentMarks(t.Config, t.State),
		Participated: func(phase, role string) bool {
			return slices.Contains(t.Index.Participants.Value(phase), role)
		},
	}
}
