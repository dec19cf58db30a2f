// Names inside an operation's tree (docs/storage.md).

package gitstore

import (
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Entries of the tree of one operation.
const (
	treeRecord   = "op.json"          // protocol.Record of the operation
	treeEvidence = "evidence"         // <sha256>: what the operation was decided on
	treeConfig   = "agentxchain.json" // the configuration it was decided under
	treeIndex    = "index.json"       // run.Index after it
	treeState    = "state.json"
	treeSession  = "session.json"
	treeTasks    = "HUMAN_TASKS.md"
	treeLedger   = "ledger"         // <ledger>/<hi>/<lo>: segments
	treeBundles  = "dispatch/turns" // <turn>/<file>: sealed bundles of active turns
	treeBundleIx = "dispatch/index.json"
	treeFiles    = "files" // <hi>/<lo>/<path below .agentxchain>: one group for each operation that wrote any
)

// projectDir holds the governed files of a project.
const projectDir = ".agentxchain"

// docTreePath returns where a document lives in the tree.
func docTreePath(d wire.Document) string {
	switch d {
	case wire.DocState:
		return treeState
	case wire.DocSession:
		return treeSession
	case wire.DocHumanTasks:
		return treeTasks
	case wire.DocDispatchIndex:
		return treeBundleIx
	}
	return ""
}

// ledgerTreePath returns the tree that holds the segments of l.
func ledgerTreePath(l wire.Ledger) string { return treeLedger + "/" + string(l) }

// fanout is how many segments a second-level tree holds. With it an append
// rewrites one blob and three trees of at most some dozens of entries, however
// long the ledger is.
const fanout = 64

const digits = "0123456789"

// slot returns the two-level name of segment or group n.
func slot(n int) (hi, lo string) {
	h, l := n/fanout, n%fanout
	var b [6]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[h%10]
		h /= 10
	}
	return string(b[:]), string([]byte{digits[l/10], digits[l%10]})
}

// parseSlot is the inverse of slot.
func parseSlot(hi, lo string) (int, bool) {
	h, ok1 := decimal(hi, 6)
	l, ok2 := decimal(lo, 2)
	if !ok1 || !ok2 || l >= fanout {
		return 0, false
	}
	return h*fanout + l, true
}

// maxSlots bounds a ledger to what its names can count.
const maxSlots = 1000000 * fanout

func decimal(s string, width int) (int, bool) {
	if len(s) != width {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// safeFilePath reports whether p, project-relative, is a file below .agentxchain
// that an operation may create: clean, no dot-dot, not one of the ledgers or
// documents, and nothing in it that another system reads as a path separator.
func safeFilePath(p string) bool {
	if !strings.HasPrefix(p, projectDir+"/") || path.Clean(p) != p || len(p) > 4096 || strings.ContainsAny(p, "\\\x00") {
		return false
	}
	for _, l := range wire.Ledgers() {
		if l.Path() == p {
			return false
		}
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") {
			return false
		}
	}
	return !slices.Contains(wire.Documents(), wire.Document(p))
}

// safeName reports whether s can be one path component of a turn or bundle file.
func safeName(s string) bool {
	return s != "" && len(s) <= 200 && s != "." && s != ".." && !strings.EqualFold(s, ".git") && !strings.ContainsAny(s, "/\\\x00\n\r")
}

// byProducts are the files adapters leave in a turn's staging directory
// (docs/bundles.md#where). They go with the turn; anything else there is somebody's.
func byProducts() []string {
	return []string{"provider-response.json", "api-error.json", "retry-trace.json"}
}

// bundleFiles are the files a dispatch bundle can hold (docs/bundles.md#where), the seal last:
// a bundle without it is one still being written.
func bundleFiles() []string {
	return []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md", "COORDINATOR_CONTEXT.json", "COORDINATOR_CONTEXT.md",
		"CONTEXT.effective.md", "TOKEN_BUDGET.json", "API_REQUEST.json", "stdout.log", bundleSeal}
}

// recordedBundleFiles are those of bundleFiles that an operation keeps.
func recordedBundleFiles() []string {
	return []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md", bundleSeal}
}

const bundleSeal = "MANIFEST.json"
