// Names, places and limits of export artifacts (docs/export.md#what-is-in-it).

package restore

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kinds of artifacts, in their own words.
const (
	SchemaVersion   = "0.3"
	KindRun         = "agentxchain_run_export"
	KindCoordinator = "agentxchain_coordinator_export"
)

// Formats of a file entry.
const (
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatText  = "text"
)

// Codes of errors, in addition to those of the packages used.
const (
	CodeInput    = "artifact_unreadable" // the artifact cannot be read or is not JSON
	CodeContent  = "export_content"      // a governed file of the project does not match its name
	CodeNoExport = "nothing_to_export"   // neither a run nor an initiative
)

const (
	pidFile         = ".agentxchain-dashboard.pid"
	dashboardFile   = ".agentxchain-dashboard.json"
	statePath       = string(wire.DocState)
	coordinatorFile = "agentxchain-multi.json"
	multiDir        = ".agentxchain/multirepo"
)

// runRoots returns the files and directories that a run artifact collects.
func runRoots() []string {
	return slices.Concat([]string{wire.ConfigPath}, wire.ContinuityFiles(), wire.ContinuityRoots(),
		[]string{pidFile, dashboardFile, ".planning"})
}

// restoreRoots returns the roots that a restore replaces: all except the dashboard's session.
func restoreRoots() []string {
	roots := runRoots()
	out := roots[:0]
	for _, r := range roots {
		if r != pidFile && r != dashboardFile {
			out = append(out, r)
		}
	}
	return out
}

// restorable reports whether a restore would write a path.
func restorable(path string) bool {
	return slices.ContainsFunc(restoreRoots(), func(r string) bool {
		return path == r || strings.HasPrefix(path, r+"/")
	})
}

// coordinatorRoots returns the files that a coordinator artifact collects.
func coordinatorRoots() []string {
	return []string{
		coordinatorFile,
		multiDir + "/state.json",
		multiDir + "/history.jsonl",
		multiDir + "/barriers.json",
		multiDir + "/decision-ledger.jsonl",
		multiDir + "/barrier-ledger.jsonl",
		multiDir + "/RECOVERY_REPORT.md",
	}
}

// formatOf returns the format of a file by its name.
func formatOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".jsonl"):
		return formatJSONL
	case strings.HasSuffix(path, ".json"):
		return formatJSON
	}
	return formatText
}
