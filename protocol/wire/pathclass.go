// Path classes decide which files belong to actors and which to the runner (docs/spec/observation.md#path-classes).

package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Paths here are project-relative and slash-separated. Classes overlap on
// purpose: an operational path is baseline-exempt, a test path is a product path.

// operationalPrefixes cover what the runner writes around turns.
var operationalPrefixes = []string{
	".agentxchain/dispatch/", ".agentxchain/dispatch-progress", ".agentxchain/staging/", ".agentxchain/intake/",
	".agentxchain/locks/",
	".agentxchain/transactions/", ".agentxchain/missions/", ".agentxchain/multirepo/", ApprovalsDir + "/",
	pluginsPrefix, promptsPrefix,
}

// People write these files: what roles are told, and programs that hooks name.
const (
	pluginsPrefix = ".agentxchain/plugins/"
	promptsPrefix = ".agentxchain/prompts/"
)

// orchestratorFiles are the runner's state and log files.
var orchestratorFiles = []string{
	".agentxchain/state.json", ".agentxchain/session.json", ".agentxchain/history.jsonl",
	".agentxchain/decision-ledger.jsonl",
	".agentxchain/repo-decisions.jsonl", ".agentxchain/lock.json", ".agentxchain/hook-audit.jsonl",
	".agentxchain/hook-annotations.jsonl",
	".agentxchain/run-history.jsonl", ".agentxchain/events.jsonl", ".agentxchain/notification-audit.jsonl",
	".agentxchain/schedule-state.json",
	".agentxchain/schedule-daemon.json", ".agentxchain/continuous-session.json",
	".agentxchain/human-escalations.jsonl",
	".agentxchain/sla-reminders.json", ".agentxchain/SESSION_RECOVERY.md", ".agentxchain/migration-report.md",
	"TALK.md", humanTasksPath,
}

// dashboardFiles show that a dashboard is running: they come and go during turns, and no actor makes them.
var dashboardFiles = []string{".agentxchain-dashboard.pid", ".agentxchain-dashboard.json"}

// humanTasksPath is the one orchestrator file that is not continuity state: it is rendered from
// human-escalations.jsonl.
const humanTasksPath = "HUMAN_TASKS.md"

// evidencePrefixes cover records about the work: they may be dirty when a turn is assigned and still count as
// observable changes.
var evidencePrefixes = []string{".agentxchain/reviews/", ".agentxchain/reports/", ".agentxchain/proposed/"}

// unobservedPrefix is project evidence that the reference excludes from observation; two tools on one repository
// must agree on it.
const unobservedPrefix = ".planning/dogfood-100-turn-evidence/"

// continuityRoots are the directories that a restored run needs besides its state files.
var continuityRoots = []string{
	".agentxchain/dispatch", ".agentxchain/staging", ".agentxchain/transactions/accept", ".agentxchain/intake",
	".agentxchain/missions",
	".agentxchain/multirepo", ".agentxchain/reviews", ".agentxchain/reports", ".agentxchain/proposed",
	ApprovalsDir,
}

// signerFiles say which key belongs to whom (docs/spec/approvals.md#signers).
var signerFiles = []string{
	".agentxchain/allowed_signers", ".agentxchain/revoked_signers",
	".agentxchain/signers/openpgp.asc", ".agentxchain/signers/x509.pem",
}

// SignerFiles returns the project-relative paths of the files that say which key belongs
// to whom.
func SignerFiles() []string { return slices.Clone(signerFiles) }

// reservedPaths are the paths that an actor may never claim.
var reservedPaths = []string{
	".agentxchain/state.json", ".agentxchain/history.jsonl", ".agentxchain/decision-ledger.jsonl",
	".agentxchain/lock.json",
}

// IsReserved reports whether a cleaned path is reserved.
func IsReserved(path string) bool { return slices.Contains(reservedPaths, path) }

// Operational reports whether the path is never attributed to an actor: it is
// dropped from declared and observed lists alike.
func Operational(path string) bool {
	return hasAnyPrefix(path, operationalPrefixes) || slices.Contains(orchestratorFiles, path) ||
		slices.Contains(dashboardFiles, path) || GeneratedReport(path)
}

// Authored reports whether people rather than operations write an operational path: a change to it is not an
// actor's work, but it decides what roles are told and what hooks run.
func Authored(path string) bool {
	return strings.HasPrefix(path, promptsPrefix) || strings.HasPrefix(path, pluginsPrefix)
}

// GeneratedReport reports whether path is a file that report commands leave in .agentxchain/reports: report-*.md,
// export-*.json and chain-*.json, where * is one or more characters of one path segment.
func GeneratedReport(path string) bool {
	name, ok := strings.CutPrefix(path, ".agentxchain/reports/")
	if !ok || strings.Contains(name, "/") {
		return false
	}
	for _, kind := range [...][2]string{{"report-", ".md"}, {"export-", ".json"}, {"chain-", ".json"}} {
		if strings.HasPrefix(name, kind[0]) && strings.HasSuffix(name, kind[1]) &&
			len(name) > len(kind[0])+len(kind[1]) {
			return true
		}
	}
	return false
}

// Continuity reports whether the path is part of what carries a run from one
// checkout to another: state files (HUMAN_TASKS.md is derived) and the
// continuity directories with everything below them.
func Continuity(path string) bool {
	if path != humanTasksPath && slices.Contains(orchestratorFiles, path) {
		return true
	}
	return slices.ContainsFunc(continuityRoots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// ContinuityRoots returns the continuity directories, without trailing slash.
func ContinuityRoots() []string { return slices.Clone(continuityRoots) }

// ContinuityFiles returns the continuity state files.
func ContinuityFiles() []string {
	return slices.DeleteFunc(slices.Clone(orchestratorFiles), func(p string) bool { return p == humanTasksPath })
}

// EvidencePath reports whether the path holds derived reviews, reports or
// proposals.
func EvidencePath(path string) bool { return hasAnyPrefix(path, evidencePrefixes) }

// BaselineExempt reports whether the path may be dirty when a writing turn is assigned.
func BaselineExempt(path string) bool {
	return Operational(path) || Continuity(path) || EvidencePath(path) || strings.HasPrefix(path, unobservedPrefix)
}

// ProjectOwned reports whether the path belongs to the project and its actors.
func ProjectOwned(path string) bool { return !BaselineExempt(path) }

// Observable reports whether a change of the path is attributed to turns
// (docs/spec/observation.md#what-is-observed step 4).
func Observable(path string) bool {
	return !Operational(path) && !strings.HasPrefix(path, unobservedPrefix)
}

// ReviewPath reports whether a review_only role may write the path.
func ReviewPath(path string) bool {
	return strings.HasPrefix(path, ".planning/") || strings.HasPrefix(path, ".agentxchain/reviews/")
}

// ProductPath reports whether a change of the path counts as product work: not
// blank, not a review path, not staging.
func ProductPath(path string) bool {
	return Trim(path) != "" && !ReviewPath(path) && !strings.HasPrefix(path, ".agentxchain/staging/")
}

// TestPath reports whether the path is a test: below a directory named test,
// tests, __tests__ or spec, or a JavaScript or TypeScript file whose name ends
// in .test.* or .spec.*.
func TestPath(path string) bool {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	for seg := range strings.SplitSeq(dir, "/") {
		switch seg {
		case "test", "tests", "__tests__", "spec":
			return true
		}
	}
	for _, ext := range [...]string{"js", "jsx", "ts", "tsx"} {
		for _, module := range [...]string{"", "c", "m"} {
			for _, kind := range [...]string{".test.", ".spec."} {
				if strings.HasSuffix(name, kind+module+ext) {
					return true
				}
			}
		}
	}
	return false
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// SortPaths sorts paths in place by UTF-16 code unit, the order of file lists
// on the wire (docs/spec/README.md#encoding). It differs from byte order only for characters
// beyond U+FFFF.
func SortPaths(paths []string) { slices.SortFunc(paths, compareUTF16) }

func compareUTF16(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	// A difference in a continuation byte belongs to the character before it.
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	if n == len(a) || n == len(b) {
		return len(a) - len(b)
	}
	x, _ := utf8.DecodeRuneInString(a[n:])
	y, _ := utf8.DecodeRuneInString(b[n:])
	switch high := x > 0xFFFF; {
	case high == (y > 0xFFFF):
		if x == y { // two ill-formed bytes
			return strings.Compare(a[n:], b[n:])
		}
		return int(x - y)
	case high:
		return 0xD800 - int(y)
	default:
		return int(x) - 0xD800
	}
}

// PathSet returns the set of the paths of all lists.
func PathSet(lists ...[]string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for _, p := range list {
			set[p] = true
		}
	}
	return set
}
