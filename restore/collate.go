// The order of names in an artifact (docs/export.md).

package restore

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// collation is the ASCII part of the root collation order; the two cases of a letter differ only if everything else
// is equal.
const collation = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"

var ranks = sync.OnceValue(func() *[utf8.RuneSelf]byte {
	var t [utf8.RuneSelf]byte
	for i, c := range []byte(collation) {
		t[c] = byte(i + 1)
		if c >= 'a' && c <= 'z' {
			t[c-'a'+'A'] = byte(i + 1)
		}
	}
	return &t
})

// collate compares two names. Characters beyond ASCII sort after it, by code point: their order has no meaning in
// an artifact.
func collate(a, b string) int {
	t := ranks()
	ra, rb := []rune(a), []rune(b)
	rank := func(r rune) int {
		if r < utf8.RuneSelf {
			return int(t[r])
		}
		return int(r) + utf8.RuneSelf
	}
	for i := 0; i < len(ra) && i < len(rb); i++ {
		if d := rank(ra[i]) - rank(rb[i]); d != 0 {
			return d
		}
	}
	if d := len(ra) - len(rb); d != 0 {
		return d
	}
	// Lower case first: the reverse of the byte order at the first difference.
	return strings.Compare(b, a)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
