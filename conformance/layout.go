// The layout of a target: the files a runner's repository keeps for verifiers
// (docs/conformance.md#becoming-a-target).

package conformance

import (
	"path"

	"github.com/git-agentxchain/git-agentxchain/fixtures"
)

// TargetFile is a file of the layout, with a slash-separated path relative to the target.
type TargetFile struct {
	Path string
	Data []byte
}

// Layout lists the files of a target with that capabilities document. The document comes last: it makes a directory
// a target, so the other files must exist before it.
func Layout(capabilities []byte, withFixtures bool) []TargetFile {
	var files []TargetFile
	if withFixtures {
		for _, x := range fixtures.Files() {
			files = append(files, TargetFile{path.Join(FixturesPath, x.Path), x.Data})
		}
		files = append(files, TargetFile{path.Join(FixturesPath, "README.md"), fixtures.Contract})
	}
	return append(files, TargetFile{CapabilitiesPath, capabilities})
}
