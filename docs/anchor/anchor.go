// The fragment of a heading.

package anchor

import (
	"strings"
	"unicode"
)

// Of returns the fragment that repository hosts give a heading, which the pages' links use.
func Of(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}
