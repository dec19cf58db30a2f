// Policies at acceptance: refuse, warn, or stop the run for a person (docs/spec/gates.md#policies).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (a *acceptance) checkPolicies(*ojson.Object) *wire.Error {
	t := a.t
	inPhase, _ := t.Index.PhaseAccepted.Get(t.State.Phase)
	streak := 0
	if t.Index.StreakRole == a.turn.AssignedRole {
		streak = t.Index.Streak
	}
	in := limits.PolicyInput{
		Phase:      t.State.Phase,
		Role:       a.turn.AssignedRole,
		Status:     a.res.Status,
		PhaseTurns: inPhase,
		TotalTurns: t.Index.Accepted,
		Streak:     streak,
		CostUSD:    a.res.CostUSD,
		CostKnown:  a.res.Cost.Len() > 0,
		Replay:     a.op.Replay,
	}
	vs := limits.EvaluatePolicies(t.Config, in)
	tracePolicies(t, in)
	var block, escalate []limits.Violation
	for _, v := range vs {
		// A person can take a turn as it is where a policy asks for a person. A policy that blocks by itself asks
		// none.
		if o := a.asIs("policy:"+v.PolicyID, v.Message); o != nil && v.Action == "escalate" {
			a.overrule("policy "+wire.Quoted(v.PolicyID), v.Message, o)
			continue
		}
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
		return &wire.Error{
			Code:    wire.CodePolicyViolation,
			Stage:   "policy",
			Class:   "policy_error",
			Message: "Policy violation: " + joinViolations(block) + ".",
			Details: ojson.NewObject("violations", violationRows(block)),
		}
	}
	if len(escalate) > 0 {
		a.escalatePolicy(escalate)
	}
	return nil
}

// escalatePolicy blocks the run; the turn keeps its status and its result.
func (a *acceptance) escalatePolicy(vs []limits.Violation) {
	t := a.t
	t.ForgetEvents()
	msg := joinViolations(vs)
	t.Append(wire.LedgerDecisions, ledger.NewPolicyEscalation(t.Env.Time(), a.turn, t.State.Phase, violationRows(vs)))
	t.Block(change.Block{
		On:          "policy:" + vs[0].PolicyID,
		Category:    "policy_escalation",
		TypedReason: "policy_escalation",
		Owner:       "human",
		Action:      run.RecoveryAction("policy_escalation", "policy:"+vs[0].PolicyID, a.turn.TurnID),
		Detail:      msg,
		Turn:        a.turn,
		Retained:    true,
		Violations:  violationRows(vs),
	})
	t.Session = "blocked"
	t.Subject = fmt.Sprintf("block on policy %s at %s", vs[0].PolicyID, a.turn.TurnID)
	t.Failure = &wire.Error{
		Code:    wire.CodePolicyEscalation,
		Stage:   "policy",
		Class:   "policy_error",
		Message: "Policy escalation: " + msg + ".",
		Hint:    t.State.BlockedReason.Recovery.RecoveryAction,
		Details: ojson.NewObject("violations", violationRows(vs)),
	}
	t.Result = &AcceptResult{Turn: a.turn, Validation: a.v, Warnings: a.warnings}
}

// asIs returns a person's consent to take this very result as it is, or nil.
func (a *acceptance) asIs(on, said string) *run.Overrule {
	if len(a.t.State.Overruled) == 0 {
		return nil
	}
	return overruled(a.t.State, a.turn.TurnID, on, said, WorkDigest(a.op.Staged, &a.op.Seen))
}

// overrule records with the acceptance that a person overruled what was said of it.
func (a *acceptance) overrule(who, said string, o *run.Overrule) {
	a.warnings = append(a.warnings, fmt.Sprintf("%s takes the turn as it is (%s), over %s: %s",
		wire.OneLine(wire.OrNone(o.By.String("name"))), run.Clip(wire.OneLine(o.Reason), 200), who, said))
	a.taken = append(a.taken, ojson.NewObject("on", o.On, "said", said, "by", o.By, "reason", o.Reason, "at", o.At))
}

func joinViolations(vs []limits.Violation) string {
	out := ""
	for i, v := range vs {
		if i > 0 {
			out += "; "
		}
		out += v.Message
	}
	return out
}

func violationRows(vs []limits.Violation) []*ojson.Object {
	return ojson.List(vs, func(v limits.Violation) *ojson.Object {
		return ojson.NewObject("policy_id", v.PolicyID, "rule", v.Rule, "message", v.Message)
	})
}
