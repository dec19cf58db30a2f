// The fragment of a heading.

package anchor

import (
	"strings"
	"unicode"
)

// Of is the fragment that a heading gets where repositories are shown, which the pages' links use.
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
