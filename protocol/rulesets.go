// Rule sets: what earlier ones did otherwise, so that an operation is applied again by the rules of its time.

package protocol

import (
	"cmp"
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/result"
)

// RuleSet numbers the engine's rule set. An operation is recorded with it and replayed by the rules it names; raise
// it when a change alters what an existing operation yields, and say in ruleSets what the one before did.
const RuleSet = 4

// earlier is what a rule set did otherwise than the present one, whose value is zero.
type Earlier struct {
	Result          result.Earlier
	RepairsUntold   bool // turn_accepted did not carry what was repaired in the result
	ReasonsUnkept   bool // why a person said no was not put into TALK.md, and of a rejection no decision was recorded
	KeepsNextRole   bool // a proposed role stayed proposed in the next phase where that routes to it
	BudgetUnblocked bool // a used up budget was lifted by unblock, not by config adopt, and a dear turn not told
	PhaseClockStays bool // a phase kept its clock when a person lifted its time limit
}

// ruleSets are the rule sets whose operations can be replayed. Rule set 1 is not among them: it was gone before any
// program was handed out.
var ruleSets = map[int]Earlier{
	2: {
		Result:          result.Earlier{InfersExitCodes: true, FreeExitCode: true},
		RepairsUntold:   true,
		ReasonsUnkept:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
	},
	3: {
		Result:          result.Earlier{FreeExitCode: true},
		RepairsUntold:   true,
		KeepsNextRole:   true,
		BudgetUnblocked: true,
		PhaseClockStays: true,
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
func (r *Record) HoldsToday(snap *Snapshot, then *Transition) bool {
	if r.Env.RuleSet() == RuleSet {
		return true
	}
	env := r.Env
	env.rules = RuleSet
	now, refusal := Apply(snap, r.Op, env)
	return refusal == nil && (now.Failure == nil || then.Failure != nil)
}

// ruleSet is the rule set an operation is applied by.
func (e *Env) RuleSet() int { return cmp.Or(e.rules, RuleSet) }
