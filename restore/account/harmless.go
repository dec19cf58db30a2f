// Making other people's text harmless, in one place for every rendering.

package account

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// harmless is a text of somebody else's on one line: white space runs become a
// space, what drives terminals or reorders text becomes visible, and what is too
// long is cut and says so.
func harmless(s string) string {
	cut := 0
	if len(s) > maxShownText {
		end := maxShownText
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s, cut = s[:end], len(s)-end
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == 0x2028 || r == 0x2029:
			space = b.Len() > 0
			continue
		case space:
			b.WriteByte(' ')
			space = false
		}
		if hostile(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r) // invalid bytes are U+FFFD by now
		}
	}
	if cut > 0 {
		fmt.Fprintf(&b, "… (%d more bytes)", cut)
	}
	return b.String()
}

// hostile are the C0 and C1 controls, the marks, overrides and isolates of
// bidirectional text, tags and noncharacters.
func hostile(r rune) bool {
	return r < 0x20 || 0x7f <= r && r <= 0x9f || r == 0x061c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 ||
		0xe0000 <= r && r <= 0xe007f || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef || r == 0xfeff
}
