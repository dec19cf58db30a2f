// JSON pointers (RFC 6901), in the document's own spelling.

package check

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// original replaces the canonical names in a pointer by those of the document.
func (j *judge) original(pointer string) string {
	if len(j.spelled) == 0 || pointer == "" {
		return pointer
	}
	var b strings.Builder
	for end := 1; end <= len(pointer); end++ {
		if end < len(pointer) && pointer[end] != '/' {
			continue
		}
		prefix := pointer[:end]
		if name, ok := j.spelled[prefix]; ok {
			b.WriteString(ojson.Member("", name))
		} else {
			b.WriteString(prefix[strings.LastIndexByte(prefix, '/'):])
		}
	}
	return b.String()
}
