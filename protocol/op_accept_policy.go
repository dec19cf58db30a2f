// Policies at acceptance: refuse, warn, or stop the run for a person (docs/spec/gates.md#policies).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (a *acceptance) checkPolicies(*ojson.Object) *wire.Error {
	t := a.t
	inPhase, _ := t.x.PhaseAccepted.Get(t.s.Phase)
	streak := 0
	if t.x.StreakRole == a.turn.AssignedRole {
		streak = t.x.Streak
	}
	in := PolicyInput{Phase: t.s.Phase, Role: a.turn.AssignedRole, Status: a.res.Status, PhaseTurns: inPhase,
		TotalTurns: t.x.Accepted, Streak: streak, CostUSD: a.res.CostUSD, CostKnown: a.res.Cost.Len() > 0, Replay: a.op.Replay}
	vs := EvaluatePolicies(t.cfg, in)
	t.tracePolicies(in)
	var block, escalate []Violation
	for _, v := range vs {
		switch v.Action {
		case "warn":
			a.warnings = append(a.warnings, v.Message)
		case "escalate":
			escalate = append(escalate, v)
		default: // an unknown action must not let a violation through
			block = append(block, v)
		}
	}
	if len(block) > 0 {
		return &wire.Error{Code: wire.CodePolicyViolation, Stage: "policy", Class: "policy_error", Message: "Policy violation: " + joinViolations(block) + ".",
			Details: ojson.NewObject("violations", violationRows(block))}
	}
	if len(escalate) > 0 {
		a.escalatePolicy(escalate)
	}
	return nil
}

// escalatePolicy blocks the run; the turn keeps its status and its result.
func (a *acceptance) escalatePolicy(vs []Violation) {
	t := a.t
	t.events = nil
	msg := joinViolations(vs)
	t.append(wire.LedgerDecisions, NewPolicyEscalation(t.env.Time(), a.turn, t.s.Phase, violationRows(vs)))
	t.block(blockSpec{On: "policy:" + vs[0].PolicyID, Category: "policy_escalation", TypedReason: "policy_escalation", Owner: "human",
		Action: fmt.Sprintf("Resolve the condition of policy %q, then run: git agentxchain unblock && git agentxchain accept %s", vs[0].PolicyID, a.turn.TurnID),
		Detail: msg, Turn: a.turn, Retained: true})
	t.session = "blocked"
	t.subject = fmt.Sprintf("block on policy %s at %s", vs[0].PolicyID, a.turn.TurnID)
	t.failure = &wire.Error{Code: wire.CodePolicyEscalation, Stage: "policy", Class: "policy_error", Message: "Policy escalation: " + msg + ".",
		Hint: t.s.BlockedReason.Recovery.RecoveryAction, Details: ojson.NewObject("violations", violationRows(vs))}
	t.result = &AcceptResult{Turn: a.turn, Validation: a.v, Warnings: a.warnings}
}

func joinViolations(vs []Violation) string {
	out := ""
	for i, v := range vs {
		if i > 0 {
			out += "; "
		}
		out += v.Message
	}
	return out
}

func violationRows(vs []Violation) []*ojson.Object {
	out := make([]*ojson.Object, len(vs))
	for i, v := range vs {
		out[i] = ojson.NewObject("policy_id", v.PolicyID, "rule", v.Rule, "message", v.Message)
	}
	return out
}
