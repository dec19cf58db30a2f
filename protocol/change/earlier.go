// What earlier rule sets did otherwise.

package change

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
)

// Earlier is what a rule set did otherwise than the present one, whose value is zero.
type Earlier struct {
	Result          result.Earlier
	RepairsUntold   bool // turn_accepted did not carry what was repaired in the result
	ReasonsUnkept   bool // why a person said no was not put into TALK.md, and of a rejection no decision was recorded
	KeepsNextRole   bool // a proposed role stayed proposed in the next phase where that routes to it
	BudgetUnblocked bool // a used up budget was lifted by unblock, not by config adopt, and a dear turn not told
	PhaseClockStays bool // a phase kept its clock when a person lifted its time limit
	UnguardsUntold  bool // an adoption did not say that it leads a phase around a gate with approvers, nor ask them
}
