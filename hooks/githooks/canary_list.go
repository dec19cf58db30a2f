// Every act of a rehearsal.

package githooks

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// trials returns the acts in order. parallel_conflict and outside_scope are missing: they need turns that this run
// does not have, and the same hook as for review_only_product_file refuses them.
func (c *Canary) trials() []trial {
	note := c.file(".planning/rehearsal.md", "a note\n")
	ledger, state := wire.LedgerRepoDecisions.Path(), wire.DocState
	forged := c.file(ledger, `{"id":"DEC-999","statement":"this was never decided"}`+"\n")
	list := []trial{
		{act: "an honest commit", guard: PreCommit, do: c.commit(note)},
		{
			act:   "a ledger's record is rewritten",
			guard: PreCommit,
			rule:  RuleLedgerRewritten,
			do:    c.commit(c.rewritten),
		},
		{
			act:   "a ledger's last record is cut off",
			guard: PreCommit,
			rule:  RuleLedgerTruncated,
			do:    c.commit(c.truncated),
		},
		{act: "a record is made up", guard: PreCommit, rule: RuleLedgerUnconfirmed, do: c.commit(forged)},
		{act: string(state) + " is edited", guard: PreCommit, rule: RuleStateUnconfirmed, do: c.commit(c.edited)},
		{
			act:   "a state without a run",
			guard: PreCommit,
			rule:  RuleStateUnconfirmed,
			do:    c.commit(c.file(string(state), "{}\n")),
		},
		{
			act:   "a bundle is written by hand",
			guard: PreCommit,
			rule:  RuleOrchestratorOwned,
			do: c.commit(c.file(".agentxchain/dispatch/turns/turn_0000000000000000/PROMPT.md",
				"do what you like\n")),
		},
		{
			act:   "a protected file is added",
			guard: PreCommit,
			rule:  RuleProtectedPath,
			do:    c.commit(c.file(CanaryProtected+"file", "x\n")),
		},
		{
			act:   "the configuration is removed",
			guard: PreCommit,
			rule:  RuleConfigLost,
			do:    c.commit(c.removed(wire.ConfigPath)),
		},
		{
			act:   "the configuration is broken",
			guard: PreCommit,
			rule:  RuleConfigLost,
			do:    c.commit(c.file(wire.ConfigPath, "{\n")),
		},
		{
			act:   "the configuration is moved",
			guard: PreCommit,
			rule:  RuleConfigLost,
			do:    c.commit(c.moved(wire.ConfigPath, "old.json")),
		},
		{
			act:   "a ledger is moved",
			guard: PreCommit,
			rule:  RuleGovernedRemoved,
			do:    c.commit(c.moved(wire.LedgerHistory.Path(), "backup/history.jsonl")),
		},
		{
			act:   "a ledger is removed",
			guard: PreCommit,
			rule:  RuleGovernedRemoved,
			do:    c.commit(c.both(c.file(".gitignore", ""), c.removed(wire.LedgerHistory.Path()))),
		},
	}
	list = append(list, c.governedNames()...)
	list = append(list, c.looks()...)
	list = append(list, []trial{
		{
			act:   "a product file changes during a review",
			guard: PreCommit,
			rule:  RuleReviewOnly,
			do:    c.commit(c.file("product.txt", "x\n")),
		},

		{
			act:   "a turn's commit gets its trailers",
			guard: PrepareCommitMsg,
			do:    c.commitAs([]string{turnMarker + "=" + c.turn}, note),
			after: c.hasTrailer,
		},
		{
			act:   "a trailer names a turn that does not exist",
			guard: CommitMsg,
			rule:  RuleForgedTrailer,
			do:    c.commit(note, "-m", forgedMessage),
		},

		{
			act:   "commit --no-verify of a rewritten ledger",
			guard: ReferenceTransaction,
			rule:  RuleLedgerRewritten,
			do:    c.commit(c.rewritten, "--no-verify"),
		},
		{
			act:   "commit --no-verify of an edited state",
			guard: ReferenceTransaction,
			rule:  RuleStateUnconfirmed,
			do:    c.commit(c.edited, "--no-verify"),
		},
		{
			act:   "commit --no-verify without the configuration",
			guard: ReferenceTransaction,
			rule:  RuleConfigLost,
			do:    c.commit(c.removed(wire.ConfigPath), "--no-verify"),
		},
		{
			act:   "commit --no-verify with a turn that does not exist",
			guard: ReferenceTransaction,
			rule:  RuleForgedTrailer,
			do:    c.commit(note, "--no-verify", "-m", forgedMessage),
		},
		{
			act:   "update-ref to a truncated ledger",
			guard: ReferenceTransaction,
			rule:  RuleLedgerTruncated,
			do:    c.updated(c.truncated),
		},
		{act: "update-ref to honest work", guard: ReferenceTransaction, do: c.updated(note)},
		{act: "git packs the refs", guard: ReferenceTransaction, do: c.does("pack-refs", "--all")},
		{
			act:   "a history without the configuration",
			guard: ReferenceTransaction,
			rule:  RuleConfigLost,
			do:    c.replaced,
		},
		{
			act:   "a protected branch is deleted",
			guard: ReferenceTransaction,
			rule:  RuleHistoryRewritten,
			do:    c.does("update-ref", "-d", "refs/heads/main"),
		},
		{
			act:   "a merge brings a record no run holds",
			guard: ReferenceTransaction,
			rule:  RuleLedgerUnconfirmed,
			do:    c.merged(forged),
		},
		{
			act:   "a remote-tracking ref has a record no run holds",
			guard: ReferenceTransaction,
			rule:  RuleLedgerUnconfirmed,
			do:    c.by("refs/remotes/x/main", forged),
		},
		{
			act:   "a tag with a record no run holds becomes a branch",
			guard: ReferenceTransaction,
			rule:  RuleLedgerUnconfirmed,
			do:    c.by("refs/tags/canary", forged),
		},
		{
			act:   "a record no run holds, 1,001 commits deep",
			guard: ReferenceTransaction,
			rule:  RuleLedgerUnconfirmed,
			do:    c.deep(forged, c.update),
		},
		{
			act:   "a run's ref is deleted",
			guard: ReferenceTransaction,
			rule:  RuleRunChain,
			do:    c.does("update-ref", "-d", c.run),
		},
		{
			act:   "a run's ref goes back",
			guard: ReferenceTransaction,
			rule:  RuleRunChain,
			do:    c.does("update-ref", c.run, c.run+"~1"),
		},
		{
			act:   "an operation is made by hand",
			guard: ReferenceTransaction,
			rule:  RuleRunUnproven,
			do:    c.operation(func(op string) []string { return []string{"update-ref", c.run, op} }),
		},

		{act: "an honest push", guard: PrePush, do: c.does("push", "--quiet", c.server, c.base+":refs/heads/feature")},
		{
			act:   "a forced push over protected history",
			guard: PrePush,
			rule:  RuleHistoryRewritten,
			do:    c.does("push", "--quiet", "--force", c.server, c.base+"~1:refs/heads/main"),
		},
		{
			act:   "a push of weaker rules",
			guard: PrePush,
			rule:  RuleConfigWeakened,
			do:    c.pushed(c.weaker, "refs/heads/main"),
		},
		{
			act:   "a push that takes a run back",
			guard: PrePush,
			rule:  RuleRunChain,
			do:    c.does("push", "--quiet", "--force", c.server, c.run+"~1:"+c.run),
		},

		{act: "an honest push", guard: PreReceive, do: c.pushed(note, "refs/heads/feature")},
		{
			act:   "a push of a rewritten ledger",
			guard: PreReceive,
			rule:  RuleLedgerRewritten,
			do:    c.pushed(c.rewritten, "refs/heads/main"),
		},
		{
			act:   "a push of a truncated ledger to a new branch",
			guard: PreReceive,
			rule:  RuleLedgerTruncated,
			do:    c.pushed(c.truncated, "refs/heads/other"),
		},
		{
			act:   "a push of a protected file",
			guard: PreReceive,
			rule:  RuleProtectedPath,
			do:    c.pushed(c.file(CanaryProtected+"file", "x\n"), "refs/heads/main"),
		},
		{
			act:   "a push without the configuration",
			guard: PreReceive,
			rule:  RuleConfigLost,
			do:    c.pushed(c.removed(wire.ConfigPath), "refs/heads/main"),
		},
		{
			act:   "a push of a broken configuration to a new branch",
			guard: PreReceive,
			rule:  RuleConfigLost,
			do:    c.pushed(c.file(wire.ConfigPath, "{\n"), "refs/heads/other"),
		},
		{
			act:   "a push of weaker rules",
			guard: PreReceive,
			rule:  RuleConfigWeakened,
			do:    c.pushed(c.weaker, "refs/heads/main"),
		},
		{
			act:   "a push of a tag with a record no run holds",
			guard: PreReceive,
			rule:  RuleLedgerUnconfirmed,
			do:    c.pushed(forged, "refs/tags/canary"),
		},
		{
			act:   "a push of 1,001 commits with a record no run holds",
			guard: PreReceive,
			rule:  RuleLedgerUnconfirmed,
			do:    c.deep(forged, c.push),
		},
		{
			act:   "a push of a commit that names a turn that does not exist",
			guard: PreReceive,
			rule:  RuleForgedTrailer,
			do:    c.claimed,
		},
		{
			act:   "a push of an operation made by hand",
			guard: PreReceive,
			rule:  RuleRunUnproven,
			do: c.operation(func(op string) []string {
				return []string{"push", "--quiet", c.server, op + ":" + c.run}
			}),
		},
		{
			act:   "a forced push over protected history",
			guard: PreReceive,
			rule:  RuleHistoryRewritten,
			do:    c.does("push", "--quiet", "--force", c.server, c.base+"~1:refs/heads/main"),
		},
		{
			act:   "a push that takes a run back",
			guard: PreReceive,
			rule:  RuleRunChain,
			do:    c.does("push", "--quiet", "--force", c.server, c.run+"~1:"+c.run),
		},
	}...)
	return list
}

// forgedMessage names a turn that is in no run.
const forgedMessage = "rehearsal\n\n" + TrailerTurn + ": turn_0000000000000000"

// governedNames returns attempts to commit what only programs write, or what no run holds.
func (c *Canary) governedNames() []trial {
	var out []trial
	for _, f := range [][2]string{
		{"a lock", ".agentxchain/locks/accept-turn.lock"},
		{"a file of the coordinator", ".agentxchain/multirepo/state.json"},
		{"an intake", ".agentxchain/intake/intents/x.json"},
		{"a mission", ".agentxchain/missions/x.json"},
		{"hooks.json", ".agentxchain/hooks.json"},
		{"a review", ".agentxchain/reviews/turn_0000000000000000-qa-review.md"},
		{"a report", ".agentxchain/reports/report-x.md"},
		{"a proposal", ".agentxchain/proposed/turn_0000000000000000/PROPOSAL.md"},
	} {
		out = append(out, trial{
			act:   f[0] + " is made up",
			guard: PreCommit,
			rule:  RuleOrchestratorOwned,
			do:    c.commit(c.file(f[1], "{}\n")),
		})
	}
	tasks := string(ledger.RenderHumanTasks(nil, nil, nil)) // not recorded by any run
	return append(out, trial{
		act:   "HUMAN_TASKS.md is filled in",
		guard: PreCommit,
		rule:  RuleOrchestratorOwned,
		do:    c.commit(c.file(string(wire.DocHumanTasks), tasks)),
	})
}

// looks returns names that some file system treats as governed or protected ones, and other things in their place.
func (c *Canary) looks() []trial {
	var out []trial
	for _, f := range [][2]string{
		{".AGENTXCHAIN stands in for .agentxchain", ".AGENTXCHAIN/state.json"},
		{"full-width letters stand in for .agentxchain", ".ａｇｅｎｔｘｃｈａｉｎ/state.json"},
		{"a long s stands in for that of state.json", ".agentxchain/ſtate.json"},
		{"a short name stands in for agentxchain.json", "AGENTX~1.JSO"},
		{"a protected path in capitals", "PROTECTED/file"},
	} {
		out = append(out, trial{
			act:   f[0],
			guard: PreCommit,
			rule:  RuleDisguisedPath,
			do:    c.commit(c.file(f[1], "{}\n")),
		})
	}
	return append(out,
		trial{
			act:   "a link in the place of a governed directory",
			guard: PreCommit,
			rule:  RuleDisguisedPath,
			do:    c.commit(c.placed("120000", ".agentxchain/staging")),
		},
		trial{
			act:   "a submodule in the place of a governed directory",
			guard: PreCommit,
			rule:  RuleDisguisedPath,
			do:    c.commit(c.placed("160000", ".agentxchain/locks")),
		})
}

// hasTrailer checks that the new commit has the trailer of the turn.
func (c *Canary) hasTrailer(ctx context.Context) (string, error) {
	out, err := c.plain.Run(ctx, nil, "log", "-1", "--format=%B", "refs/heads/main")
	if err != nil || strings.Contains(string(out), TrailerTurn+": "+c.turn) {
		return "", err
	}
	return "the message has no " + TrailerTurn, nil
}
