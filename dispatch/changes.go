// What happened to a bundle since it was sealed, file by file (docs/bundles.md#when-the-result-comes-back).

package dispatch

import (
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Changes returns, once per file, what happened to each file with a finding. What the reference's coordinator adds
// after sealing is not a change.
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
