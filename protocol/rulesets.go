// Rule sets: what earlier ones did otherwise, so that an operation is applied again by the rules of its time.

package protocol

import (
	"cmp"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
)

// RuleSet numbers the engine's rule set. An operation is recorded with it and replayed by the rules it names; raise
// it when a change alters what an existing operation yields, and say in ruleSets what the one before did.
const RuleSet = 5

// ruleSets are the rule sets whose operations can be replayed. Rule set 1 is not among them: it was gone before any
// program was handed out.
var ruleSets = map[int]change.Earlier{
	2: {
		Result:          result.Earlier{InfersExitCodes: true, FreeExitCode: true},
		RepairsUntold:   true,
		ReasonsUnkept:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
		UnguardsUntold:  true,
	},
	3: {
		Result:          result.Earlier{FreeExitCode: true},
		RepairsUntold:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
		UnguardsUntold:  true,
	},
	4: {
		UnguardsUntold: true,
	},
	RuleSet: {},
}

// Replays reports whether operations recorded under a rule set can be applied again.
func Replays(rules int) bool {
	_, ok := ruleSets[rules]
	return ok
}

// RuleSets are the first and the last rule set whose operations can be applied again.
func RuleSets() (first, last int) {
	return slices.Min(slices.Collect(maps.Keys(ruleSets))), RuleSet
}

// HoldsToday reports whether the present rules accept what the operation was accepted as under the rules of its time.
// snap is what it was applied to, then what it led to. An operation that they refuse is replayed, and counts for no
// more than another tool's: rules that were too mild then are no way around those of today.
func (r *Record) HoldsToday(snap *change.Snapshot, then *change.Transition) bool {
	if ruleSet(r.Env) == RuleSet {
		return true
	}
	now, refusal := Apply(snap, r.Op, r.Env.Under(RuleSet))
	return refusal == nil && (now.Failure == nil || then.Failure != nil)
}

// ruleSet is the rule set an operation is applied by.
func ruleSet(e change.Env) int { return cmp.Or(e.Rules(), RuleSet) }
