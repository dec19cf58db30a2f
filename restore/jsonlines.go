// JSON lines, and documents as lenient parsers read them.

package restore

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// countLines counts the entries of a file of JSON lines; strict is false if only lenient readers accept one of them
// as JSON. The error names an entry that no reader accepts.
func countLines(data []byte) (n int, strict bool, err error) {
	next := lines(data)
	r := scan.Bytes(nil, scan.Limits{})
	for strict = true; ; n++ {
		line, more := next()
		if !more {
			return n, strict, nil
		}
		r.Reset(line)
		if err := r.Skip(); err == nil && r.End() == nil {
			continue
		}
		strict = false
		if _, err := checkJSON(line); err != nil {
			return n, false, fmt.Errorf("line %d is not JSON: %w", n+1, err)
		}
	}
}

// lenient reads a document as JavaScript's parser does: the last of several members with the same name wins, and
// invalid bytes are replaced.
func lenient(doc []byte) (ojson.Value, error) {
	return ojson.DecodeLimited([]byte(toText(doc)), ojson.Limits{Bytes: 3*len(doc) + 1, Depth: 256, LastWins: true})
}

// sameRepeated compares the digest of data with content that the strict reader refuses.
func (v *verifier) sameRepeated(mine scan.Digest, doc []byte, refused error) (bool, string, error) {
	value, err := lenient(doc)
	if err != nil {
		return false, refused.Error(), nil
	}
	theirs, err := sum(ojson.Compact(value))
	if err != nil {
		return false, err.Error(), nil
	}
	return mine == theirs, "", nil
}
