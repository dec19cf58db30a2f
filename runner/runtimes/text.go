// Foreign words inside our own sentences.

package runtimes

import (
	"strings"
	"unicode"
)

// maxQuoted is how much of foreign words is repeated in a sentence, in runes.
const maxQuoted = 1000

// OneLine makes foreign words fit to stand in a message: one line, no control or
// bidirectional characters, at most 1000 characters.
func OneLine(s string) string {
	if len(s) > 4*maxQuoted {
		s = s[:4*maxQuoted]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return Cut(strings.Join(strings.Fields(s), " "), maxQuoted)
}

// Cut keeps the first n characters of s.
func Cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
