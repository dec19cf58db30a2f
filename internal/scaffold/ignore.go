// The .gitignore block of a governed project, and merging it into a file that is there.

package scaffold

import (
	"bytes"
	"strings"
)

// ignoreMarker opens the block; a file that has it was merged before.
const ignoreMarker = "# git-agentxchain: local working files of governed runs"

// ignoreGroup is a comment with the lines below it.
type ignoreGroup struct {
	comment string
	lines   []string
}

// ignoreGroups lists what git need not see: the record of a run is kept under
// refs/agentxchain/, and what lies in the work tree is a copy of it, or secret,
// or short-lived. The paths are those of the reference layout (spec/01 §2).
func ignoreGroups() []ignoreGroup {
	return []ignoreGroup{
		{"# secrets", []string{".env"}},
		{"# while a turn is under way", []string{
			".agentxchain/staging/",
			".agentxchain/dispatch/",
			".agentxchain/dispatch-progress*",
			".agentxchain/transactions/",
			".agentxchain/locks/",
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
			".agentxchain/reports/",
			".agentxchain/proposed/",
			"TALK.md",
			"HUMAN_TASKS.md",
		}},
	}
}

// MergeIgnore appends the lines that are missing from an existing .gitignore,
// under a marker comment, and returns the result. What is there is kept byte
// for byte, its line ends are used for the new lines, and merging twice changes
// nothing. A line the person negated ("!TALK.md") counts as decided and is not
// added again.
func MergeIgnore(existing []byte) []byte {
	decided := map[string]bool{}
	marked := false
	for line := range bytes.Lines(existing) {
		text := strings.TrimRight(strings.TrimPrefix(string(line), "\ufeff"), "\r\n \t")
		decided[strings.TrimPrefix(strings.TrimPrefix(text, "!"), "/")] = true
		marked = marked || text == ignoreMarker
	}
	eol := "\n"
	if i := bytes.IndexByte(existing, '\n'); i > 0 && existing[i-1] == '\r' {
		eol = "\r\n"
	}
	var block []string
	for _, g := range ignoreGroups() {
		var missing []string
		for _, l := range g.lines {
			if !decided[l] {
				missing = append(missing, l)
			}
		}
		if len(missing) > 0 {
			block = append(append(block, g.comment), missing...)
		}
	}
	if len(block) == 0 {
		return existing
	}
	out := bytes.Clone(existing)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	if !marked {
		block = append([]string{ignoreMarker}, block...)
	}
	return append(out, strings.Join(block, eol)+eol...)
}
