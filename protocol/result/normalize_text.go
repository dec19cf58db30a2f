// Text rules shared by normalisation and validation: blank, falsy, numbered ids, quoting
// (docs/spec/README.md#encoding).

package result

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// nonBlank reports whether v is a string with something other than white space in it.
func nonBlank(v ojson.Value) bool {
	s, ok := v.(string)
	return ok && !wire.Blank(s)
}

// falsy reports whether v is absent, null, false, 0 or the empty string.
func falsy(v ojson.Value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case ojson.Number:
		f, ok := v.Float64()
		return ok && f == 0
	}
	return false
}

// isInteger reports whether v is a number with an integer value, in any spelling.
func isInteger(v ojson.Value) bool {
	n, ok := v.(ojson.Number)
	if !ok {
		return false
	}
	_, ok = n.Int64()
	return ok
}

// isPlaceholder reports whether v is an unfilled template slot: the whole string is <…>.
func isPlaceholder(v ojson.Value) bool {
	s, ok := v.(string)
	return ok && len(s) > 2 && s[0] == '<' && strings.IndexByte(s, '>') == len(s)-1
}
