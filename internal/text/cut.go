// Truncating text, never within a character.

package text

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Cut returns the beginning of s, at most n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip is Cut with an ellipsis if something was cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// CutRunes returns the beginning of s, at most n characters.
func CutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ClipRunes is CutRunes with an ellipsis if something was cut.
func ClipRunes(s string, n int) string {
	if short := CutRunes(s, n); len(short) < len(s) {
		return short + "…"
	}
	return s
}

// Count returns a number of things: "1 warning", "2 warnings".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// CutUnits returns the beginning of s, at most n UTF-16 code units: the unit of the protocol's documents.
func CutUnits(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i, r := range s {
		if n -= max(1, utf16.RuneLen(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}
