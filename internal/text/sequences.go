// Removing terminal sequences from the output of programs.

package text

import "strings"

// Uncoloured returns s without terminal sequences: colours, cursor movements, titles and links that a program wrote
// for a terminal. It is for showing output elsewhere; it also removes a lone escape.
func Uncoloured(s string) string {
	at := strings.IndexByte(s, 0x1b)
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at+escapeLen(s[at:]):]
		at = strings.IndexByte(s, 0x1b)
	}
	b.WriteString(s)
	return b.String()
}

// escapeLen returns the length of the terminal escape sequence at the beginning of b.
func escapeLen(b string) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // ends with a byte of 0x40..0x7e
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	case ']', 'P', '_', '^': // ends with BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return len(b)
	}
	return 2
}
