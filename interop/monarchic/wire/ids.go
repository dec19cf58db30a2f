// Identifiers that may become file names (docs/monarchic.md).

package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maxID is the longest id that still leaves room for a suffix in a file name.
const maxID = 200

// SafeID reports whether id can be used where files and refs are named: not
// empty, at most 200 bytes, no separator, no control character, neither . nor ..
func SafeID(id string) bool {
	return id != "" && len(id) <= maxID && id != "." && id != ".." && utf8.ValidString(id) &&
		strings.TrimSpace(id) == id && !strings.ContainsAny(id, `/\`) && !strings.ContainsFunc(id, unicode.IsControl)
}

// UnsafeText says what is wrong with an unsafe id.
func UnsafeText(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "is an id and must not be empty"
	case len(id) > maxID:
		return "is an id of more than 200 bytes"
	case id == "." || id == "..":
		return "is not an id: " + ojson.Shown(id) + " names a directory"
	case strings.ContainsAny(id, `/\`):
		return "is not an id: " + ojson.Shown(id) + ` contains / or \`
	}
	return "is not an id: " + ojson.Shown(id) + " contains characters that file names must not have"
}
