// The width of text on a terminal.

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width is the number of terminal columns s takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns 0 for controls, combining marks and format characters, 2 for wide characters, 1 otherwise.
func runeWidth(r rune) int {
	switch {
	case r < 0x20:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Truncate truncates s to a number of columns, with an ellipsis for what was cut.
func Truncate(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	n, end := 0, 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		w := runeWidth(r)
		if n+w > columns-1 {
			break
		}
		n += w
		end += size
	}
	return s[:end] + "…"
}

// Pad extends s with spaces to a number of columns.
func Pad(s string, columns int) string {
	if n := columns - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Wrap breaks s into lines of at most columns, between words if possible; there is at least one line. It drops
// blanks at line ends.
func Wrap(s string, columns int) []string {
	columns = max(columns, 1)
	lines, line, width := []string{}, "", 0
	flush := func() { lines, line, width = append(lines, line), "", 0 }
	for word := range strings.FieldsSeq(s) {
		w := Width(word)
		if width > 0 && width+1+w > columns {
			flush()
		}
		if width > 0 {
			line, width = line+" ", width+1
		}
		for w > columns-width { // a word wider than a line
			head := fitting(word, columns-width)
			line += head
			flush()
			word = word[len(head):]
			w = Width(word)
		}
		line, width = line+word, width+w
	}
	if width > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// fitting returns the beginning of s that fits the columns, at least one rune.
func fitting(s string, columns int) string {
	width := 0
	for i, r := range s {
		if width += runeWidth(r); width > columns && i > 0 {
			return s[:i]
		}
	}
	return s
}
