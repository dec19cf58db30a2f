// Text rules shared by normalisation and validation: blank, falsy, numbered ids, quoting (spec/02 §0).

package protocol

import (
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func blankText(s string) bool { return trimJS(s) == "" }

// nonBlank reports a string with something other than white space in it.
func nonBlank(v ojson.Value) bool {
	s, ok := v.(string)
	return ok && !blankText(s)
}

// falsy reports absent, null, false, 0 and the empty string.
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

// isInteger reports a number with an integer value in any spelling.
func isInteger(v ojson.Value) bool {
	n, ok := v.(ojson.Number)
	if !ok {
		return false
	}
	_, ok = n.Int64()
	return ok
}

// numbered reports prefix followed by lo to hi decimal digits and nothing else.
func numbered(s, prefix string, lo, hi int) bool {
	d, ok := strings.CutPrefix(s, prefix)
	return ok && len(d) >= lo && len(d) <= hi && allDigits(d)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isPlaceholder reports an unfilled template slot: the whole string is <…>.
func isPlaceholder(s string) bool {
	return len(s) > 2 && s[0] == '<' && strings.IndexByte(s, '>') == len(s)-1
}

// cutText returns at most n UTF-16 code units of s, never half a character.
func cutText(s string, n int) string {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		n--
		if r > 0xFFFF {
			n--
		}
		if n < 0 {
			return s[:i]
		}
		i += size
	}
	return s
}

// shown is a value as a message quotes it: JSON, at most 80 units.
func shown(v ojson.Value) string {
	if v == nil {
		return "null"
	}
	if s, ok := v.(string); ok {
		v = cutText(s, 200)
	}
	s := string(ojson.Compact(v))
	if short := cutText(s, 80); short != s {
		return short + "..."
	}
	return s
}
