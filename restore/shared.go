// What rooms that read artifacts share with the one that writes and judges them.

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

// Provenance is a run's provenance as artifacts have it, nil when v is not one
// (docs/export.md#what-is-in-it).
func Provenance(v any) *ojson.Object { return objectOf(provenanceOf(v)) }

// Paths checks the paths of one artifact's files, one after the other: names that
// mean the same file on every system, below the governed roots, no two the same.
type Paths struct{ rules pathRules }

// Check refuses a path that may not be written; the code is unsafe_path.
func (p *Paths) Check(path string) error {
	if path == coordinatorFile {
		return p.rules.unique(path)
	}
	return p.rules.check(path)
}

// OfThisMachine reports files that tell of a process on the machine of the export:
// no other machine takes them over.
func OfThisMachine(path string) bool { return path == pidFile || path == dashboardFile }
