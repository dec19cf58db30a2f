// Files that accompany a turn without being part of what was sealed (docs/runtimes.md#api_proxy).

package dispatch

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// auditRoot has a directory for each turn, beside the bundles.
const auditRoot = ".agentxchain/dispatch/audit"

// LogFile is the captured output of a turn's actor (docs/bundles.md#where).
const LogFile = "stdout.log"

// AuditDir returns the directory in which the program that carries out a turn records what it did with the bundle.
// It is outside the sealed directory, so that a seal holds before, during and after the turn. "" when the id cannot
// name a directory.
func AuditDir(turn string) string {
	if !safeName(turn) {
		return ""
	}
	return auditRoot + "/" + turn
}

// AcceptedLog returns the path that keeps the log of an accepted turn, "" when its id cannot name a directory.
func AcceptedLog(turn string) string {
	dir := AuditDir(turn)
	if dir == "" {
		return ""
	}
	return dir + "/" + LogFile
}

// AttemptLog returns the path that keeps the log of a failed attempt, 1 or more; "" when the turn's id cannot name
// a directory.
func AttemptLog(turn string, attempt int) string {
	dir := AuditDir(turn)
	if dir == "" {
		return ""
	}
	return fmt.Sprintf("%s/attempt-%d.log", dir, max(1, attempt))
}

// AuditFiles returns the names of such files (docs/bundles.md#where). The reference writes them into the bundle
// directory itself after sealing, so there, at top level and as regular files, they are not findings. Their
// contents prove nothing and are never passed on as part of the bundle.
func AuditFiles() []string {
	return []string{"API_REQUEST.json", "CONTEXT.effective.md", "TOKEN_BUDGET.json", LogFile}
}

// tolerate removes findings about undeclared audit files.
func tolerate(errs []ManifestError, files map[string]FileInfo) []ManifestError {
	return slices.DeleteFunc(errs, func(e ManifestError) bool {
		return e.Type == UnexpectedFile && files[e.Path].Kind == "" && slices.Contains(AuditFiles(), e.Path)
	})
}

// BundleDir returns wire.BundleDir of a turn whose id can name a directory, else "".
func BundleDir(turn string) string {
	if !safeName(turn) {
		return ""
	}
	return wire.BundleDir(turn)
}
