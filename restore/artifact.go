// Names, places and limits of export artifacts (docs/export.md#what-is-in-it).

package restore

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// What an artifact calls itself.
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

// Codes of errors, beside those of the rooms below.
const (
	CodeInput    = "artifact_unreadable" // the artifact cannot be read or is not JSON
	CodeContent  = "export_content"      // a governed file of the project is not what its name says
	CodeNoExport = "nothing_to_export"   // neither a run nor an initiative
)

const (
	pidFile         = ".agentxchain-dashboard.pid"
	dashboardFile   = ".agentxchain-dashboard.json"
	statePath       = string(wire.DocState)
	coordinatorFile = "agentxchain-multi.json"
	multiDir        = ".agentxchain/multirepo"
)

// runRoots are what a run artifact collects, files and directories.
func runRoots() []string {
	return slices.Concat([]string{wire.ConfigPath}, wire.ContinuityFiles(), wire.ContinuityRoots(),
		[]string{pidFile, dashboardFile, ".planning"})
}

// RestoreRoots are the roots a restore replaces: all but the dashboard's session.
func RestoreRoots() []string {
	roots := runRoots()
	out := roots[:0]
	for _, r := range roots {
		if r != pidFile && r != dashboardFile {
			out = append(out, r)
		}
	}
	return out
}

// Restorable reports whether a restore would write a path.
func Restorable(path string) bool {
	for _, r := range RestoreRoots() {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// coordinatorRoots are the files a coordinator artifact collects.
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

// formatOf is the format a name stands for.
func formatOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".jsonl"):
		return formatJSONL
	case strings.HasSuffix(path, ".json"):
		return formatJSON
	}
	return formatText
}
