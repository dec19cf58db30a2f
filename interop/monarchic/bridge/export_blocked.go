// What stops a run, and the outcome of the run (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// blocked returns the block, the awaited approval, and the gate that failed last: what stops the
// run now according to the state.
func (x *Export) blocked(bool) ([]Object, error) {
	s := x.facts.state
	var out []Object
	add := func(code string, scope strict.BlockedOutcomeScope, message string, details *ojson.Object) {
		out = append(out, object("client_boundary/blocked_outcome", &strict.BlockedOutcome{
			Code:              code,
			Scope:             scope,
			Message:           message,
			Details:           details,
			BlockingArtifacts: []strict.ArtifactDescriptor{},
		}))
	}
	if b := s.BlockedReason; b != nil && s.Status == wire.StatusBlocked {
		add(strings.ReplaceAll(cmp.Or(b.Category, "unknown"), "_", "-"), x.blockScope(b), cmp.Or(wire.OrEmpty(
			b.Recovery.Detail,
		), b.Recovery.RecoveryAction, wire.OrEmpty(s.BlockedOn), "the run is blocked"),
			ojson.NewObject("blocked_on", s.BlockedOn, "owner", b.Recovery.Owner,
				"typed_reason", b.Recovery.TypedReason, "recovery_action", b.Recovery.RecoveryAction,
				"turn_id", b.TurnID))
	}
	wait := func(gate string, scope strict.BlockedOutcomeScope, by, what string) {
		add("awaiting-approval", scope, "Gate "+cmp.Or(gate, noGate)+" waits for a person's approval.",
			ojson.NewObject("blocked_on", s.BlockedOn, "owner", run.Human, "typed_reason", what,
				"recovery_action", "git agentxchain approve", "turn_id", ojson.OrNull(by)))
	}
	if p := s.PendingPhaseTransition; p != nil {
		wait(p.Gate, strict.BlockedPlan, p.RequestedByTurn, "pending_phase_transition")
	}
	if p := s.PendingRunCompletion; p != nil {
		wait(p.Gate, strict.BlockedRelease, p.RequestedByTurn, "pending_run_completion")
	}
	if f := s.LastGateFailure; f != nil {
		scope := strict.BlockedPlan
		if f.GateType == gateTypeCompletion {
			scope = strict.BlockedRelease
		}
		add("gate-failed", scope,
			cmp.Or(strings.Join(f.Reasons, "; "), "gate "+cmp.Or(wire.OrEmpty(f.GateID), noGate)+" failed"),
			ojson.NewObject("blocked_on", ojson.OrNull(wire.OrEmpty(f.GateID)), "owner", nil,
				"typed_reason", "gate_failed", "recovery_action", nil, "turn_id", f.RequestedByTurn))
	}
	return out, nil
}

func (x *Export) blockScope(b *run.BlockedReason) strict.BlockedOutcomeScope {
	on, category := wire.OrEmpty(x.facts.state.BlockedOn), b.Category
	switch {
	case category == "gate_action_failed":
		return strict.BlockedRelease
	case strings.Contains(category, "conflict"):
		return strict.BlockedMerge
	case strings.Contains(category, "verification") || strings.Contains(b.Recovery.TypedReason, "verification"):
		return strict.BlockedVerification
	case strings.HasPrefix(on, "intent"):
		return strict.BlockedIntent
	case b.Recovery.TurnRetained:
		return strict.BlockedStep
	}
	return strict.BlockedRun
}

// outcome judges the run by its gates, its cost and people's objections.
func (x *Export) outcome(bool) ([]Object, error) {
	f := x.facts
	s := f.state
	o := &portable.RunOutcome{
		Version:           portable.Version,
		TaskID:            x.Run,
		RunID:             x.Run,
		ObjectiveDecision: portable.OutcomeAccept,
		CostDecision:      portable.OutcomeAccept,
		RiskDecision:      portable.OutcomeAccept,
	}
	for _, status := range s.PhaseGateStatus.All() {
		if status != wire.GatePassed {
			o.ObjectiveDecision = portable.OutcomeIterate
		}
	}
	if s.Status == wire.StatusFailed {
		o.ObjectiveDecision = portable.OutcomeReject
	}
	spent := s.BudgetStatus.SpentUSD
	o.EstimatedCostUSD = &spent
	if b := f.cfg.Budget; b != nil && b.PerRunMaxUSD != nil {
		o.BudgetLimitUSD = b.PerRunMaxUSD
		if left := s.BudgetStatus.RemainingUSD; left != nil && *left <= 0 || spent > *b.PerRunMaxUSD {
			o.CostDecision = portable.OutcomeEscalate
		}
	}
	if b := s.BlockedReason; b != nil && b.Category == "budget_exhausted" {
		o.CostDecision = portable.OutcomeEscalate
	}
	worst := 0
	var said []string
	for _, obj := range x.openObjections() {
		worst = max(worst, severity(obj.severity))
		if obj.severity == "blocking" {
			o.RiskDecision = portable.OutcomeEscalate
			said = append(said, obj.statement)
		}
	}
	o.RiskLevel, o.RiskSummary = []string{"", "low", "medium", "high", "critical"}[worst], strings.Join(said, "; ")
	o.FinalDecision = portable.OutcomeAccept
	for _, d := range []portable.OutcomeDecision{o.ObjectiveDecision, o.CostDecision, o.RiskDecision} {
		if weight(d) > weight(o.FinalDecision) {
			o.FinalDecision = d
		}
	}
	if n := len(f.history); n > 0 {
		o.Summary = f.history[n-1].String("summary")
	}
	o.Evidence = ojson.NewObject("status", string(s.Status), "phase", s.Phase, "accepted_turns", len(f.history),
		"gates", x.outcomeFacts().Object("gates"))
	return []Object{object("run_outcome", o)}, nil
}

func severity(s string) int {
	switch s {
	case "low":
		return 1
	case "medium":
		return 2
	case "high":
		return 3
	case "blocking":
		return 4
	}
	return 0
}

// weight orders decisions from good to bad.
func weight(d portable.OutcomeDecision) int {
	switch d {
	case portable.OutcomeIterate:
		return 1
	case portable.OutcomeReject:
		return 2
	case portable.OutcomeEscalate:
		return 3
	}
	return 0
}
