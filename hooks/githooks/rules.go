// The purpose of each rule of the guards, for people (docs/git-hooks.md#rules).

package githooks

// Refuses says in a sentence what a rule refuses, "" for an unknown rule. The way out depends on the case: the
// refusal itself names it.
func Refuses(rule string) string {
	return map[string]string{
		RuleLedgerRewritten:   "A ledger has a changed record, records in another order, or a line that is not a record.",
		RuleLedgerTruncated:   "A ledger lacks records that a commit before had.",
		RuleLedgerUnconfirmed: "A ledger has a new record that no run holds.",
		RuleStateUnconfirmed:  "No operation of a run led to this .agentxchain/state.json.",
		RuleOrchestratorOwned: "Only this program writes the file, and no run holds this content.",
		RuleGovernedRemoved:   "A record would be moved away, or taken from every clone.",
		RuleDisguisedPath:     "Some file system opens a governed or protected file by this name.",
		RuleProtectedPath:     "git_hooks.protected of agentxchain.json names this file.",
		RuleConfigLost:        "A governed branch would be without a valid agentxchain.json.",
		RuleConfigWeakened:    "The rules of agentxchain.json would be weaker, and no run has adopted them.",
		RuleTurnMissing:       "A commit changes the product and names no turn, which git_hooks.require_turn wants on this branch.",
		RuleForgedTrailer:     "A trailer names a turn, run or role that did not make the commit, or continues over several lines.",
		RuleTooManyCommits:    "There are more new commits than can be judged at once.",
		RuleReviewOnly:        "A commit changes the product while only reviews are under way.",
		RuleOutsideScope:      "The turn under way may not write this file, or has not declared it.",
		RuleParallelConflict:  "Two turns are in conflict over this file.",
		RuleRunChain:          "The record of a run would be deleted, moved back, or joined with operations that do not fit.",
		RuleRunUnproven: "The operations of a run do not follow from each other, or make claims that no person has " +
			"confirmed.",
		RuleHistoryRewritten: "A protected branch would be deleted, or pushed over another history.",
		RuleRunsUnpushed:     "The remote did not take the runs that go with the push, and agentxchain.pushRuns requires it.",
	}[rule]
}
