// Functions shared with other packages that read artifacts.

package restore

import (
	"io"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Decompress returns the artifact in r as JSON text, whether it is plain or
// compressed with zstd. Call the function it returns when done.
func Decompress(r io.Reader) (io.Reader, func(), error) { return open(r) }

// Collate compares two names in the order of an artifact (docs/export.md).
func Collate(a, b string) int { return collate(a, b) }

// CodeUnits compares two strings by UTF-16 code units (docs/export.md).
func CodeUnits(a, b string) int { return codeUnits(a, b) }

// DelegationSummary derives {total_delegations_issued, delegation_chains} from the
// rows of history.jsonl (docs/export.md#what-is-in-it).
func DelegationSummary(history []*ojson.Object) *ojson.Object {
	var d delegations
	for _, row := range history {
		d.add(row)
	}
	summary, _ := d.summary()
	return summary
}

// Provenance returns a run's provenance in the form of artifacts, nil if v is not one
// (docs/export.md#what-is-in-it).
func Provenance(v any) *ojson.Object { return objectOf(provenanceOf(v)) }

// Paths checks the paths of one artifact's files in sequence: names that mean the same file on every system, below
// the governed roots, no two the same.
type Paths struct{ rules pathRules }

// Check refuses a path that may not be written; the code is unsafe_path.
func (p *Paths) Check(path string) error {
	if path == coordinatorFile {
		return p.rules.unique(path)
	}
	return p.rules.check(path)
}

// OfThisMachine reports whether a file describes a process on the exporting machine: no other machine adopts such
// files.
func OfThisMachine(path string) bool { return path == pidFile || path == dashboardFile }
