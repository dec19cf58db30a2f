// The .gitignore block of a governed project, and merging it into an existing file.

package scaffold

import "strings"

// ignoreMarker opens the block; a file that contains it was merged before.
const ignoreMarker = "# git-agentxchain: local working files of governed runs"

// ignoreGroups lists what git need not see: the record of a run is under refs/agentxchain/, and the files in the
// work tree are a copy of it, or secret, or temporary. The paths are those of the reference layout
// (docs/spec/state.md#files).
func ignoreGroups() []blockGroup {
	return []blockGroup{
		{"# secrets", []string{".env"}},
		{"# while a turn is under way", []string{
			".agentxchain/staging/",
			".agentxchain/dispatch/",
			".agentxchain/dispatch-progress*",
			".agentxchain/transactions/",
			".agentxchain/locks/",
		}},
		{"# while a dashboard is running", []string{
			".agentxchain-dashboard.pid",
			".agentxchain-dashboard.json",
		}},
		{"# the run's state and ledgers, also kept under refs/agentxchain/", []string{
			".agentxchain/state.json",
			".agentxchain/session.json",
			".agentxchain/history.jsonl",
			".agentxchain/decision-ledger.jsonl",
			".agentxchain/repo-decisions.jsonl",
			".agentxchain/lock.json",
			".agentxchain/hook-audit.jsonl",
			".agentxchain/hook-annotations.jsonl",
			".agentxchain/run-history.jsonl",
			".agentxchain/events.jsonl",
			".agentxchain/notification-audit.jsonl",
			".agentxchain/schedule-state.json",
			".agentxchain/schedule-daemon.json",
			".agentxchain/continuous-session.json",
			".agentxchain/human-escalations.jsonl",
			".agentxchain/sla-reminders.json",
			".agentxchain/SESSION_RECOVERY.md",
			".agentxchain/migration-report.md",
			".agentxchain/intake/",
			".agentxchain/missions/",
			".agentxchain/multirepo/",
			".agentxchain/reviews/",
			".agentxchain/approvals/",
			".agentxchain/reports/",
			".agentxchain/proposed/",
			"TALK.md",
			"HUMAN_TASKS.md",
		}},
	}
}

// MergeIgnore appends the missing lines to an existing .gitignore. A line that the person negated ("!TALK.md")
// counts as decided and is not added again.
func MergeIgnore(existing []byte) []byte {
	return (*Agent)(nil).mergeIgnore(existing)
}

// mergeIgnore is MergeIgnore with the files that the agent, which may be nil, leaves in the project: no turn would
// account for them.
func (a *Agent) mergeIgnore(existing []byte) []byte {
	groups := ignoreGroups()
	if a != nil && len(a.Leaves) > 0 {
		groups = append(groups, blockGroup{"# files of " + a.Title, a.Leaves})
	}
	return mergeBlock(existing, ignoreMarker, groups, decided)
}

// decided returns the path that a line of .gitignore decides on.
func decided(line string) string { return strings.TrimPrefix(strings.TrimPrefix(line, "!"), "/") }
