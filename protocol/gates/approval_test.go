// Tests of the approval policy (docs/spec/gates.md#approval-policy).

package gates

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestEvaluateApproval(t *testing.T) {
	no, yes := false, true
	raw := ojson.NewObject("action", "as read")
	transitions := func(def string, rules ...config.ApprovalRule) *config.ApprovalPolicy {
		return &config.ApprovalPolicy{HasPhaseTransitions: true, Default: def, Rules: rules}
	}
	completion := func(action string, when *config.ApprovalWhen) *config.ApprovalPolicy {
		return &config.ApprovalPolicy{RunCompletion: &config.ApprovalRule{Action: action, When: when, Raw: raw}}
	}
	auto := func(when *config.ApprovalWhen) config.ApprovalRule {
		return config.ApprovalRule{Action: config.ActionAutoApprove, When: when, Raw: raw}
	}
	tests := []struct {
		name         string
		policy       *config.ApprovalPolicy
		kind         string
		credentialed bool
		failed       bool
		auto         bool
		matched      bool
		reason       string
	}{
		{name: "no policy", kind: run.GatePhase, reason: "no approval_policy configured"},
		{
			name:         "credentialed gate",
			policy:       transitions(config.ActionAutoApprove),
			kind:         run.GatePhase,
			credentialed: true,
			reason:       "credentialed gate — policy auto-approval forbidden",
		},
		{
			name:   "no completion policy",
			policy: transitions(config.ActionAutoApprove),
			kind:   run.GateCompletion,
			reason: "no run_completion policy",
		},
		{
			name:   "completion without action",
			policy: completion("", nil),
			kind:   run.GateCompletion,
			reason: "no run_completion policy",
		},
		{
			name:    "completion by a person",
			policy:  completion(config.ActionRequireHuman, nil),
			kind:    run.GateCompletion,
			matched: true,
			reason:  "run_completion policy requires human approval",
		},
		{
			name:    "completion",
			policy:  completion(config.ActionAutoApprove, nil),
			kind:    run.GateCompletion,
			matched: true,
			auto:    true,
			reason:  "run_completion policy auto-approved",
		},
		{
			name:    "completion action unknown",
			policy:  completion("approve", nil),
			kind:    run.GateCompletion,
			matched: true,
			reason:  `run_completion policy has the unknown action "approve"`,
		},
		{
			name:    "completion gate failed",
			policy:  completion(config.ActionAutoApprove, &config.ApprovalWhen{GatePassed: true}),
			kind:    run.GateCompletion,
			failed:  true,
			matched: true,
			reason:  "condition gate_passed not met: gate did not pass structural predicates",
		},
		{
			name:   "no transition policy",
			policy: completion(config.ActionAutoApprove, nil),
			kind:   run.GatePhase,
			reason: "no phase_transitions policy",
		},
		{name: "default absent", policy: transitions(""), kind: run.GatePhase, reason: "default: require_human"},
		{
			name:   "default human",
			policy: transitions(config.ActionRequireHuman),
			kind:   run.GatePhase,
			reason: "default: require_human",
		},
		{
			name:   "default auto",
			policy: transitions(config.ActionAutoApprove),
			kind:   run.GatePhase,
			auto:   true,
			reason: "default: auto_approve",
		},
		{
			name:   "default unknown",
			policy: transitions("always"),
			kind:   run.GatePhase,
			reason: `default: unknown action "always"`,
		},
		{
			name:    "rule for all",
			policy:  transitions("", auto(nil)),
			kind:    run.GatePhase,
			auto:    true,
			matched: true,
			reason:  "rule matched: plan → build auto-approved",
		},
		{
			name: "rule for others",
			policy: transitions("", config.ApprovalRule{
				From:   "build",
				Action: config.ActionAutoApprove,
			}, config.ApprovalRule{To: "ship", Action: config.ActionAutoApprove}),
			kind:   run.GatePhase,
			reason: "default: require_human",
		},
		{
			name: "rule by a person",
			policy: transitions(config.ActionAutoApprove, config.ApprovalRule{
				From:   "plan",
				To:     "build",
				Action: config.ActionRequireHuman,
				Raw:    raw,
			}),
			kind:    run.GatePhase,
			matched: true,
			reason:  "rule matched: plan → build requires human",
		},
		{
			name:    "rule action unknown",
			policy:  transitions(config.ActionAutoApprove, config.ApprovalRule{Action: "yes", Raw: raw}),
			kind:    run.GatePhase,
			matched: true,
			reason:  `rule matched: plan → build has the unknown action "yes"`,
		},
		{
			name: "first match decides",
			policy: transitions(config.ActionAutoApprove,
				auto(&config.ApprovalWhen{RolesParticipated: []string{"dev"}}), auto(nil)),
			kind:    run.GatePhase,
			matched: true,
			reason:  `condition roles_participated not met: role "dev" has no accepted turn in phase "plan"`,
		},
		{
			name:    "role took part",
			policy:  transitions("", auto(&config.ApprovalWhen{RolesParticipated: []string{"pm"}})),
			kind:    run.GatePhase,
			matched: true,
			auto:    true,
			reason:  "rule matched: plan → build auto-approved",
		},
		{
			name:    "phase not visited",
			policy:  transitions("", auto(&config.ApprovalWhen{AllPhasesVisited: true})),
			kind:    run.GatePhase,
			matched: true,
			reason:  `condition all_phases_visited not met: phase "ship" never visited`,
		},
		{
			name:    "not credentialed",
			policy:  transitions("", auto(&config.ApprovalWhen{CredentialedGate: &no})),
			kind:    run.GatePhase,
			matched: true,
			auto:    true,
			reason:  "rule matched: plan → build auto-approved",
		},
		{
			name:    "credentialed asked for",
			policy:  transitions("", auto(&config.ApprovalWhen{CredentialedGate: &yes})),
			kind:    run.GatePhase,
			matched: true,
			reason:  "condition credentialed_gate: true not supported — credentialed gates are hard-stopped upstream",
		},
		{
			name:   "gate type unknown",
			policy: transitions(config.ActionAutoApprove),
			kind:   "merge",
			reason: `unknown gate type "merge"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := gateConfig(func(c *config.Config) { c.ApprovalPolicy = tt.policy })
			v := EvaluateApproval(c, ApprovalInput{GateType: tt.kind, Phase: "plan", NextPhase: "build",
				Gate:         &Result{GateID: new("plan_gate"), Passed: !tt.failed, Credentialed: tt.credentialed},
				Participated: func(phase, role string) bool { return phase == "plan" && role == "pm" },
				Visited:      func(phase string) bool { return phase == "build" }})
			if v.Auto != tt.auto || v.Reason != tt.reason || (v.MatchedRule != nil) != tt.matched {
				t.Errorf("got %+v", v)
			}
			if tt.matched && !ojson.Equal(v.MatchedRule, raw) {
				t.Errorf("matched rule %v", v.MatchedRule)
			}
		})
	}
}

// TestApprovalFailsClosed: no policy, however written, passes a credentialed
// gate or a gate that did not pass.
func TestApprovalFailsClosed(t *testing.T) {
	actions := rapid.SampledFrom([]string{"", config.ActionAutoApprove, config.ActionRequireHuman, "bogus"})
	rapid.Check(t, func(t *rapid.T) {
		p := &config.ApprovalPolicy{HasPhaseTransitions: true, Default: actions.Draw(t, "default")}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			p.Rules = append(p.Rules, config.ApprovalRule{
				Action: actions.Draw(t, "action"),
				From:   rapid.SampledFrom([]string{"", "plan", "build"}).Draw(t, "from"),
			})
		}
		p.RunCompletion = &config.ApprovalRule{Action: actions.Draw(t, "completion")}
		c := gateConfig(func(c *config.Config) {
			c.ApprovalPolicy = p
			c.Gate("plan_gate").Credentialed = rapid.Bool().Draw(t, "credentialed gate")
		})
		in := ApprovalInput{
			GateType:  rapid.SampledFrom([]string{run.GatePhase, run.GateCompletion, "other"}).Draw(t, "kind"),
			Phase:     "plan",
			NextPhase: "build",
			Gate: &Result{
				Passed:       rapid.Bool().Draw(t, "passed"),
				Credentialed: rapid.Bool().Draw(t, "credentialed result"),
			},
		}
		if v := EvaluateApproval(c, in); v.Auto &&
			(!in.Gate.Passed || in.Gate.Credentialed || c.Gate("plan_gate").Credentialed) {
			t.Fatalf("approved %+v: %+v", *in.Gate, v)
		}
		in.Gate = nil
		if v := EvaluateApproval(c, in); v.Auto {
			t.Fatalf("approved without a gate result: %+v", v)
		}
	})
}
