// Names inside an operation's tree (docs/storage.md).

package record

import (
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Entries of the tree of one operation.
const (
	FileRecord      = "op.json"          // protocol.Record of the operation
	DirEvidence     = "evidence"         // <sha256>: the inputs of the operation
	FileConfig      = "agentxchain.json" // the operation's configuration
	FileIndex       = "index.json"       // run.Index after it
	FileState       = "state.json"
	FileSession     = "session.json"
	FileTasks       = "HUMAN_TASKS.md"
	DirLedger       = "ledger"         // <ledger>/<hi>/<lo>: segments
	DirBundles      = "dispatch/turns" // <turn>/<file>: sealed bundles of active turns
	FileBundleIndex = "dispatch/index.json"
	DirFiles        = "files" // <hi>/<lo>/<path below .agentxchain>: one group for each operation that wrote any
)

// ProjectDir holds the governed files of a project.
const ProjectDir = ".agentxchain"

// DocumentFile returns the path of a document in the tree.
func DocumentFile(d wire.Document) string {
	switch d {
	case wire.DocState:
		return FileState
	case wire.DocSession:
		return FileSession
	case wire.DocHumanTasks:
		return FileTasks
	case wire.DocDispatchIndex:
		return FileBundleIndex
	}
	return ""
}

// LedgerDir returns the tree that holds the segments of l.
func LedgerDir(l wire.Ledger) string { return DirLedger + "/" + string(l) }

// fanout is how many segments a second-level tree holds. With it an append rewrites one blob and three trees of at
// most some dozens of entries, however long the ledger is.
const fanout = 64

const digits = "0123456789"

// Slot returns the two-level name of segment or group n.
func Slot(n int) (hi, lo string) {
	h, l := n/fanout, n%fanout
	var b [6]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[h%10]
		h /= 10
	}
	return string(b[:]), string([]byte{digits[l/10], digits[l%10]})
}

// parseSlot is the inverse of Slot.
func parseSlot(hi, lo string) (int, bool) {
	h, ok1 := decimal(hi, 6)
	l, ok2 := decimal(lo, 2)
	if !ok1 || !ok2 || l >= fanout {
		return 0, false
	}
	return h*fanout + l, true
}

// MaxSlots bounds a ledger to the numbers that its names can hold.
const MaxSlots = 1000000 * fanout

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

// SafeFile reports whether p, project-relative, is a file below .agentxchain that an operation may create: clean,
// no dot-dot, not one of the ledgers or documents, and without path separators of any system.
func SafeFile(p string) bool {
	if !strings.HasPrefix(p, ProjectDir+"/") || path.Clean(p) != p || len(p) > 4096 ||
		strings.ContainsAny(p, "\\\x00") {
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

// SafeName reports whether s can be one path component of a turn or bundle file.
func SafeName(s string) bool {
	return s != "" && len(s) <= 200 && s != "." && s != ".." && !strings.EqualFold(s, ".git") &&
		!strings.ContainsAny(s, "/\\\x00\n\r")
}
