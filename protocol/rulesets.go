// Rule sets: how earlier ones differed, so that an operation is applied again under the rules of its time.

package protocol

import (
	"cmp"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
)

// RuleSet numbers the engine's rule set. An operation is recorded with it and replayed under the rules it names.
// Raise it when a change alters what an existing operation yields, and describe the previous behaviour in ruleSets.
const RuleSet = 7

// ruleSets are the rule sets whose operations can be replayed. Rule set 1 is not among them: it ended before the
// program was first released.
var ruleSets = map[int]change.Earlier{
	2: {
		Result:          result.Earlier{InfersExitCodes: true, FreeExitCode: true},
		RepairsUntold:   true,
		ReasonsUnkept:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
		UnguardsUntold:  true,
		GateUnmatched:   true,
		LapsedCounts:    true,
	},
	3: {
		Result:          result.Earlier{FreeExitCode: true},
		RepairsUntold:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
		UnguardsUntold:  true,
		GateUnmatched:   true,
		LapsedCounts:    true,
	},
	4: {
		UnguardsUntold: true,
		GateUnmatched:  true,
		LapsedCounts:   true,
	},
	5: {
		GateUnmatched: true,
		LapsedCounts:  true,
	},
	6: {
		LapsedCounts: true,
	},
	RuleSet: {},
}

// Replays reports whether operations recorded under a rule set can be applied again.
func Replays(rules int) bool {
	_, ok := ruleSets[rules]
	return ok
}

// RuleSets returns the first and the last rule set whose operations can be applied again.
func RuleSets() (first, last int) {
	return slices.Min(slices.Collect(maps.Keys(ruleSets))), RuleSet
}

// HoldsToday reports whether the present rules yield for the operation what the rules of its time did. snap is what
// it was applied to, then is the result. An operation that the present rules refuse is still replayed, but counts
// for no more than another tool's: older, weaker rules must not become a way around the present ones.
func (r *Record) HoldsToday(snap *change.Snapshot, then *change.Transition) bool {
	if ruleSet(r.Env) == RuleSet {
		return true
	}
	now, refusal := Apply(snap, r.Op, r.Env.Under(RuleSet))
	return refusal == nil && (now.Failure == nil || then.Failure != nil)
}

// ruleSet returns the rule set under which an operation is applied.
func ruleSet(e change.Env) int { return cmp.Or(e.Rules(), RuleSet) }
