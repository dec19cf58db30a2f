// The approval policy says when a human gate may be passed without a person (docs/spec/gates.md#approval-policy).

package gates

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ApprovalInput is a gate that waits for approval. Participated and Visited include the turn being accepted and the
// current phase; a nil function knows no turn and no phase.
type ApprovalInput struct {
	GateType     string // phase_transition, run_completion
	Gate         *Result
	Phase        string
	NextPhase    string // of a phase transition
	Participated func(phase, role string) bool
	Visited      func(phase string) bool
}

// ApprovalVerdict is the policy's answer. Reason is part of the protocol: an automatic approval records it in the
// decision ledger.
type ApprovalVerdict struct {
	Auto        bool
	MatchedRule ojson.Value // the rule as the configuration spells it, nil when none matched
	Reason      string
}

// EvaluateApproval decides whether the gate may be passed without a person.
// Everything it does not understand needs a person: an unknown action, an
// unknown gate type, a gate that did not pass (docs/compatibility.md#where-we-differ-on-purpose).
func EvaluateApproval(cfg *config.Config, in ApprovalInput) ApprovalVerdict {
	policy := cfg.ApprovalPolicy
	if policy == nil {
		return ApprovalVerdict{Reason: "no approval_policy configured"}
	}
	if credentialedGate(cfg, in) {
		return ApprovalVerdict{Reason: "credentialed gate — policy auto-approval forbidden"}
	}
	if in.Gate != nil && in.Gate.NeedsPerson != "" {
		return ApprovalVerdict{Reason: in.Gate.NeedsPerson}
	}
	switch in.GateType {
	case run.GateCompletion:
		return approveCompletion(cfg, policy, in)
	case run.GatePhase:
		return approveTransition(cfg, policy, in)
	}
	return ApprovalVerdict{Reason: fmt.Sprintf("unknown gate type %s", wire.Quoted(in.GateType))}
}

// credentialedGate checks the result, the gate's definition and the exit gate of the phase: any one of them is
// enough to require a person.
func credentialedGate(cfg *config.Config, in ApprovalInput) bool {
	if in.Gate != nil {
		if in.Gate.Credentialed {
			return true
		}
		if in.Gate.GateID != nil {
			if g := cfg.Gate(*in.Gate.GateID); g != nil && g.Credentialed {
				return true
			}
		}
	}
	return CredentialedExitGate(cfg, in.Phase)
}

// CredentialedExitGate reports whether the phase's exit gate is credentialed:
// never passed without a person's explicit approval.
func CredentialedExitGate(cfg *config.Config, phase string) bool {
	route := cfg.Route(phase)
	if route == nil {
		return false
	}
	gate := cfg.Gate(route.ExitGate)
	return gate != nil && gate.Credentialed
}

func approveCompletion(cfg *config.Config, policy *config.ApprovalPolicy, in ApprovalInput) ApprovalVerdict {
	rule := policy.RunCompletion
	if rule == nil || rule.Action == "" {
		return ApprovalVerdict{Reason: "no run_completion policy"}
	}
	v := ApprovalVerdict{MatchedRule: ruleValue(rule)}
	switch rule.Action {
	case config.ActionRequireHuman:
		v.Reason = "run_completion policy requires human approval"
	case config.ActionAutoApprove:
		if v.Reason = unmet(cfg, rule.When, in); v.Reason == "" {
			v.Auto, v.Reason = true, "run_completion policy auto-approved"
		}
	default:
		v.Reason = fmt.Sprintf("run_completion policy has the unknown action %s", wire.Quoted(rule.Action))
	}
	return v
}

func approveTransition(cfg *config.Config, policy *config.ApprovalPolicy, in ApprovalInput) ApprovalVerdict {
	if !policy.HasPhaseTransitions {
		return ApprovalVerdict{Reason: "no phase_transitions policy"}
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if rule.From != "" && rule.From != in.Phase || rule.To != "" && rule.To != in.NextPhase {
			continue
		}
		// The first rule that names the transition decides; when its conditions are not met, neither later rules
		// nor the default are tried.
		v := ApprovalVerdict{MatchedRule: ruleValue(rule)}
		matched := "rule matched: " + in.Phase + " → " + in.NextPhase
		switch rule.Action {
		case config.ActionRequireHuman:
			v.Reason = matched + " requires human"
		case config.ActionAutoApprove:
			if v.Reason = unmet(cfg, rule.When, in); v.Reason == "" {
				v.Auto, v.Reason = true, matched+" auto-approved"
			}
		default:
			v.Reason = matched + fmt.Sprintf(" has the unknown action %s", wire.Quoted(rule.Action))
		}
		return v
	}
	switch policy.Default {
	case config.ActionAutoApprove:
		// Without a rule no condition can require it, so it is checked here.
		if in.Gate == nil || !in.Gate.Passed {
			return ApprovalVerdict{Reason: reasonGateNotPassed}
		}
		return ApprovalVerdict{Auto: true, Reason: "default: " + config.ActionAutoApprove}
	case "", config.ActionRequireHuman:
		return ApprovalVerdict{Reason: "default: " + config.ActionRequireHuman}
	}
	return ApprovalVerdict{Reason: fmt.Sprintf("default: unknown action %s", wire.Quoted(policy.Default))}
}

const reasonGateNotPassed = "condition gate_passed not met: gate did not pass structural predicates"

// unmet returns the first condition that does not hold, "" when all do. A policy never approves a gate that did not
// pass, whether or not a condition requires it.
func unmet(cfg *config.Config, when *config.ApprovalWhen, in ApprovalInput) string {
	if in.Gate == nil || !in.Gate.Passed {
		return reasonGateNotPassed
	}
	if when == nil {
		return ""
	}
	for _, role := range when.RolesParticipated {
		if in.Participated == nil || !in.Participated(in.Phase, role) {
			return fmt.Sprintf("condition roles_participated not met: role %s has no accepted turn in phase %s",
				wire.Quoted(role), wire.Quoted(in.Phase))
		}
	}
	if c := when.CredentialedGate; c != nil {
		if *c {
			return "condition credentialed_gate: true not supported — credentialed gates are hard-stopped upstream"
		}
		if credentialedGate(cfg, in) {
			return "condition credentialed_gate: false not met — gate is credentialed"
		}
	}
	if when.AllPhasesVisited {
		for _, phase := range cfg.Phases() {
			if phase != in.Phase && (in.Visited == nil || !in.Visited(phase)) {
				return fmt.Sprintf("condition all_phases_visited not met: phase %s never visited", wire.Quoted(phase))
			}
		}
	}
	return ""
}

// ruleValue returns the rule as it is recorded; nil stays null on the wire.
func ruleValue(rule *config.ApprovalRule) ojson.Value {
	if rule.Raw == nil {
		return nil
	}
	return rule.Raw.Clone()
}
