// What became of a bundle since it was sealed, file by file (docs/bundles.md#when-the-result-comes-back).

package dispatch

import (
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Changes says of each file that verification found something about what became of it,
// once. What the coordinator of the reference adds after sealing is no change.
func Changes(problems []ManifestError) []protocol.BundleChange {
	var out []protocol.BundleChange
	seen := make(map[string]bool)
	for _, p := range problems {
		c := protocol.BundleChange{Path: p.Path, Change: "changed"}
		switch p.Type {
		case MissingFile, MissingManifest:
			c.Change = "removed"
		case UnexpectedFile:
			c.Change = "added"
			if p.Path == CoordinatorJSON || p.Path == CoordinatorText {
				continue
			}
		}
		if c.Path == "" {
			c.Path = ManifestFile
		}
		if !seen[c.Path] {
			seen[c.Path] = true
			out = append(out, c)
		}
	}
	return out
}
