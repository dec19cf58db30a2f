// Tests of acceptance policies (docs/spec/gates.md#policies).

package limits

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestEvaluatePolicies(t *testing.T) {
	in := PolicyInput{
		Phase:      "build",
		Role:       "dev",
		Status:     wire.ResultCompleted,
		PhaseTurns: 3,
		TotalTurns: 7,
		Streak:     2,
		CostUSD:    1.5,
		CostKnown:  true,
	}
	with := func(edit func(*PolicyInput)) PolicyInput { c := in; edit(&c); return c }
	tests := []struct {
		name   string
		policy config.Policy
		in     PolicyInput
		want   []string // fragments of the message; nil: no violation
	}{
		{"phase limit reached", config.Policy{
			Rule:  config.RuleMaxTurnsPerPhase,
			Limit: 3,
		}, in, []string{`"build"`, "3 of at most 3"}},
		{"phase limit not reached", config.Policy{Rule: config.RuleMaxTurnsPerPhase, Limit: 4}, in, nil},
		{"phase limit with a fraction", config.Policy{
			Rule:  config.RuleMaxTurnsPerPhase,
			Limit: 2.5,
		}, in, []string{"3 of at most 2.5"}},
		{"run limit reached", config.Policy{Rule: config.RuleMaxTotalTurns, Limit: 7}, in, []string{"7 of at most 7"}},
		{"run limit not reached", config.Policy{Rule: config.RuleMaxTotalTurns, Limit: 8}, in, nil},
		{"streak too long", config.Policy{
			Rule:  config.RuleMaxConsecutiveSameRole,
			Limit: 2,
		}, in, []string{"turn 3", `"dev"`, "at most 2"}},
		{"streak allowed", config.Policy{Rule: config.RuleMaxConsecutiveSameRole, Limit: 3}, in, nil},
		{"cost too high", config.Policy{Rule: config.RuleMaxCostPerTurn, LimitUSD: 1}, in, []string{"$1.50", "$1.00"}},
		{"cost at the limit", config.Policy{Rule: config.RuleMaxCostPerTurn, LimitUSD: 1.5}, in, nil},
		{"cost unknown", config.Policy{
			Rule:     config.RuleMaxCostPerTurn,
			LimitUSD: 1,
		}, with(func(p *PolicyInput) { p.CostKnown = false }), nil},
		{"status not allowed", config.Policy{
			Rule:    config.RuleRequireStatus,
			Allowed: []string{"blocked", "needs_human"},
		}, in, []string{`"completed"`, "blocked, needs_human"}},
		{"status allowed", config.Policy{Rule: config.RuleRequireStatus, Allowed: []string{"completed"}}, in, nil},
		{"no replay", config.Policy{Rule: config.RuleRequireReproducibleVerify}, in, []string{"not run again"}},
		{"replay matches", config.Policy{Rule: config.RuleRequireReproducibleVerify},
			with(func(p *PolicyInput) { p.Replay = &result.ReplayOutcome{Overall: result.ReplayMatch} }), nil},
		{"replay mismatch", config.Policy{Rule: config.RuleRequireReproducibleVerify}, with(func(p *PolicyInput) {
			p.Replay = &result.ReplayOutcome{
				Overall:          result.ReplayMismatch,
				MatchedCommands:  1,
				ReplayedCommands: 2,
				Reason:           "ignored",
			}
		}), []string{"1 of 2"}},
		{"replay impossible", config.Policy{Rule: config.RuleRequireReproducibleVerify}, with(func(p *PolicyInput) {
			p.Replay = &result.ReplayOutcome{Overall: result.ReplayNotReproducible}
		}), []string{"nothing that can be run again"}},
		{"replay reason", config.Policy{Rule: config.RuleRequireReproducibleVerify}, with(func(p *PolicyInput) {
			p.Replay = &result.ReplayOutcome{Overall: result.ReplayNotExecuted, Reason: "switched off"}
		}), []string{"switched off"}},
		{"replay without outcome", config.Policy{Rule: config.RuleRequireReproducibleVerify},
			with(func(p *PolicyInput) { p.Replay = &result.ReplayOutcome{} }), []string{"not run again"}},
		{"unknown rule", config.Policy{Rule: "max_lines"}, in, []string{`"max_lines"`}},
		{"scope of another phase", config.Policy{
			Rule:   config.RuleMaxTotalTurns,
			Limit:  1,
			Phases: []string{"plan"},
		}, in, nil},
		{"scope of this phase", config.Policy{
			Rule:   config.RuleMaxTotalTurns,
			Limit:  1,
			Phases: []string{"plan", "build"},
		}, in, []string{"7 of"}},
		{"scope of another role", config.Policy{
			Rule:  config.RuleMaxTotalTurns,
			Limit: 1,
			Roles: []string{"qa"},
		}, in, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.policy.ID, tt.policy.Action = "p-1", "warn"
			got := EvaluatePolicies(&config.Config{Policies: []config.Policy{tt.policy}}, tt.in)
			if tt.want == nil {
				if len(got) != 0 {
					t.Fatalf("got %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].PolicyID != "p-1" || got[0].Rule != tt.policy.Rule || got[0].Action != "warn" ||
				!strings.HasPrefix(got[0].Message, `Policy "p-1": `) {
				t.Fatalf("got %+v", got)
			}
			for _, w := range tt.want {
				if !strings.Contains(got[0].Message, w) {
					t.Errorf("%q lacks %q", got[0].Message, w)
				}
			}
		})
	}
}

func TestPoliciesAllEvaluated(t *testing.T) {
	c := &config.Config{Policies: []config.Policy{
		{ID: "a", Rule: config.RuleMaxTotalTurns, Limit: 1, Action: "block"},
		{
			ID:      "b",
			Rule:    config.RuleRequireStatus,
			Allowed: []string{"failed"},
			Action:  "escalate",
			Message: "Own words.",
		},
		{ID: "c", Rule: config.RuleMaxTotalTurns, Limit: 99, Action: "warn"},
	}}
	got := EvaluatePolicies(c, PolicyInput{TotalTurns: 1, Status: "completed"})
	if len(got) != 2 || got[0].PolicyID != "a" || got[1].PolicyID != "b" {
		t.Errorf("got %+v", got)
	}
	if got[1].Action != "escalate" || got[1].Message != "Own words." {
		t.Errorf("record %+v", got[1])
	}
}

func TestPoliciesNeedReplay(t *testing.T) {
	c := &config.Config{Policies: []config.Policy{{Rule: config.RuleMaxTotalTurns}, {
		Rule:   config.RuleRequireReproducibleVerify,
		Phases: []string{"ship"},
		Roles:  []string{"qa"},
	}}}
	for _, tt := range []struct {
		phase, role string
		want        bool
	}{{"ship", "qa", true}, {"ship", "dev", false}, {"build", "qa", false}} {
		if got := PoliciesNeedReplay(c, tt.phase, tt.role); got != tt.want {
			t.Errorf("%s %s: %v", tt.phase, tt.role, got)
		}
	}
	if PoliciesNeedReplay(&config.Config{}, "ship", "qa") {
		t.Error("no policy needs a replay")
	}
}
