// Every act of a rehearsal.

package githooks

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// trials are the acts in their order. parallel_conflict and outside_scope are
// not among them: they need turns this run does not have, and they are refused
// by the same hook as review_only_product_file.
func (c *Canary) trials() []trial {
	note := c.file(".planning/rehearsal.md", "a note\n")
	ledger, state := protocol.LedgerRepoDecisions.Path(), protocol.DocState
	forged := c.file(ledger, `{"id":"DEC-999","statement":"nobody decided this"}`+"\n")
	return []trial{
		{act: "an honest commit", guard: PreCommit, do: c.commit(note)},
		{act: "a ledger's record is rewritten", guard: PreCommit, rule: RuleLedgerRewritten, do: c.commit(c.rewritten)},
		{act: "a ledger's last record is cut off", guard: PreCommit, rule: RuleLedgerTruncated, do: c.commit(c.truncated)},
		{act: "a record is made up", guard: PreCommit, rule: RuleLedgerUnconfirmed, do: c.commit(forged)},
		{act: string(state) + " is edited", guard: PreCommit, rule: RuleStateUnconfirmed, do: c.commit(c.edited)},
		{act: "a bundle is written by hand", guard: PreCommit, rule: RuleOrchestratorOwned, do: c.commit(c.file(".agentxchain/dispatch/turns/turn_0000000000000000/PROMPT.md", "do what you like\n"))},
		{act: "a protected file is added", guard: PreCommit, rule: RuleProtectedPath, do: c.commit(c.file(CanaryProtected+"file", "x\n"))},
		{act: ".AGENTXCHAIN stands in for .agentxchain", guard: PreCommit, rule: RuleDisguisedPath, do: c.commit(c.file(".AGENTXCHAIN/state.json", "{}\n"))},
		{act: "a product file changes during a review", guard: PreCommit, rule: RuleReviewOnly, do: c.commit(c.file("product.txt", "x\n"))},

		{act: "a turn's commit gets its trailers", guard: PrepareCommitMsg, do: c.commitAs([]string{turnMarker + "=" + c.turn}, note), after: c.hasTrailer},
		{act: "a trailer names a turn that never was", guard: CommitMsg, rule: RuleForgedTrailer, do: c.commit(note, "-m", "rehearsal\n\n"+TrailerTurn+": turn_0000000000000000")},

		{act: "commit --no-verify of a rewritten ledger", guard: ReferenceTransaction, rule: RuleLedgerRewritten, do: c.commit(c.rewritten, "--no-verify")},
		{act: "commit --no-verify of an edited state", guard: ReferenceTransaction, rule: RuleStateUnconfirmed, do: c.commit(c.edited, "--no-verify")},
		{act: "update-ref to a truncated ledger", guard: ReferenceTransaction, rule: RuleLedgerTruncated, do: c.updated(c.truncated)},
		{act: "update-ref to honest work", guard: ReferenceTransaction, do: c.updated(note)},
		{act: "a run's ref is deleted", guard: ReferenceTransaction, rule: RuleRunChain, do: c.does("update-ref", "-d", c.run)},
		{act: "a run's ref goes back", guard: ReferenceTransaction, rule: RuleRunChain, do: c.does("update-ref", c.run, c.run+"~1")},

		{act: "an honest push", guard: PrePush, do: c.does("push", "--quiet", c.server, c.base+":refs/heads/feature")},
		{act: "a forced push over protected history", guard: PrePush, rule: RuleHistoryRewritten, do: c.does("push", "--quiet", "--force", c.server, c.base+"~1:refs/heads/main")},
		{act: "a push that takes a run back", guard: PrePush, rule: RuleRunChain, do: c.does("push", "--quiet", "--force", c.server, c.run+"~1:"+c.run)},

		{act: "an honest push", guard: PreReceive, do: c.pushed(note, "refs/heads/feature")},
		{act: "a push of a rewritten ledger", guard: PreReceive, rule: RuleLedgerRewritten, do: c.pushed(c.rewritten, "refs/heads/main")},
		{act: "a push of a truncated ledger to a new branch", guard: PreReceive, rule: RuleLedgerTruncated, do: c.pushed(c.truncated, "refs/heads/other")},
		{act: "a push of a protected file", guard: PreReceive, rule: RuleProtectedPath, do: c.pushed(c.file(CanaryProtected+"file", "x\n"), "refs/heads/main")},
		{act: "a forced push over protected history", guard: PreReceive, rule: RuleHistoryRewritten, do: c.does("push", "--quiet", "--force", c.server, c.base+"~1:refs/heads/main")},
		{act: "a push that takes a run back", guard: PreReceive, rule: RuleRunChain, do: c.does("push", "--quiet", "--force", c.server, c.run+"~1:"+c.run)},
	}
}

// hasTrailer looks for the trailer of the turn in the commit that was made.
func (c *Canary) hasTrailer(ctx context.Context) (string, error) {
	out, err := c.plain.Run(ctx, nil, "log", "-1", "--format=%B", "refs/heads/main")
	if err != nil || strings.Contains(string(out), TrailerTurn+": "+c.turn) {
		return "", err
	}
	return "the message has no " + TrailerTurn, nil
}
