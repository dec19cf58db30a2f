// The files of a dispatch bundle, working and recorded.

package record

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// SafeBundleName reports whether s, slash-separated, can be a file of a bundle.
func SafeBundleName(s string) bool {
	if len(s) > 1024 {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if !SafeName(part) {
			return false
		}
	}
	return true
}

// BundleFiles lists the files in the tree of a recorded bundle, by their path below the bundle directory.
func (r *Reader) BundleFiles(tree object.OID) (map[string]object.OID, error) {
	out := make(map[string]object.OID)
	err := r.WalkFiles(tree, ".", func(name string, oid object.OID) error {
		if SafeBundleName(name) {
			out[name] = oid
		}
		return nil
	})
	return out, err
}

// ByProducts lists the files that adapters leave in a turn's staging directory (docs/bundles.md#where). They are
// removed with the turn; every other file there stays.
func ByProducts() []string {
	return []string{"provider-response.json", "api-error.json", "retry-trace.json"}
}

// BundleFiles lists the files that a dispatch bundle can hold (docs/bundles.md#where), the seal last: a bundle
// without a seal is still being written.
func BundleFiles() []string {
	return []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md", "COORDINATOR_CONTEXT.json", "COORDINATOR_CONTEXT.md",
		"CONTEXT.effective.md", "TOKEN_BUDGET.json", "API_REQUEST.json", "stdout.log", BundleSeal}
}

// RecordedBundleFiles lists the BundleFiles that an operation keeps.
func RecordedBundleFiles() []string {
	return []string{"ASSIGNMENT.json", "PROMPT.md", "CONTEXT.md", BundleSeal}
}

const BundleSeal = "MANIFEST.json"
