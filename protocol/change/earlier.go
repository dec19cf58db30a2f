// How earlier rule sets differed.

package change

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
)

// Earlier is how a rule set differed from the present one, whose value is zero.
type Earlier struct {
	Result          result.Earlier
	RepairsUntold   bool // turn_accepted did not list what was repaired in the result
	ReasonsUnkept   bool // TALK.md did not get a person's reason to refuse, and a rejection recorded no decision
	KeepsNextRole   bool // a proposed role stayed proposed in a next phase that routes to it
	BudgetUnblocked bool // unblock, not config adopt, lifted a used-up budget; a too dear turn was not reported
	PhaseClockStays bool // a phase kept its clock when a person lifted its time limit
	UnguardsUntold  bool // an adoption that leads a phase around a gate with approvers did not say so, nor ask them
	GateUnmatched   bool // an approval of a gate counted although the phase ended at another by then
	LapsedCounts    bool // a gate opened with an earlier yes whose key was revoked, or whose person is no longer named
}
