// Making text visible.

package text

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible spells hostile runes out and replaces bytes that are not UTF-8 with U+FFFD. Line feeds and tabs stay. It
// returns harmless text unchanged.
func Visible(s string) string {
	at := plain(s)
	if at == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+16), s[:at]...)
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	changed := false
	for at < len(s) {
		r, size, valid := decode(s[at:])
		switch {
		case !valid:
			out, changed = append(out, "\ufffd"...), true
		case r == '\n' || r == '\t' || !Hostile(r):
			out = append(out, s[at:at+size]...)
		default:
			after, _ := utf8.DecodeRuneInString(s[at+size:])
			if meant(before, r, after) {
				out = append(out, s[at:at+size]...)
			} else {
				out, changed = appendShown(out, r), true
			}
		}
		before = r
		at += size
	}
	if !changed {
		return s
	}
	return string(out)
}

// plain returns the length of the beginning of s that is ASCII and harmless.
func plain(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(s)
}

// Lines is Visible with every kind of line end as a line feed: no separator remains that only some readers take for
// a line end.
func Lines(s string) string {
	if strings.ContainsAny(s, "\r\u0085\u2028\u2029") {
		s = lineEnds.Replace(s)
	}
	return Visible(s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// OneLine is Visible on one line: every run of white space, including line ends, becomes one space, and none is
// left at the ends.
func OneLine(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// Brief is OneLine truncated to n bytes, with three dots for what was cut.
func Brief(s string, n int) string {
	s = OneLine(s)
	if short := Cut(s, n); len(short) < len(s) {
		return short + "..."
	}
	return s
}

// JSON escapes the hostile runes in a JSON text without changing its meaning. They occur only in its strings.
func JSON(doc []byte) []byte {
	if bytes.IndexFunc(doc, outsideASCII) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	s := string(doc)
	var before rune
	for at := 0; at < len(s); {
		r, size, valid := decode(s[at:])
		keep := valid && (r == '\n' || r == '\t' || r == '\r' || !Hostile(r))
		if valid && !keep {
			after, _ := utf8.DecodeRuneInString(s[at+size:])
			keep = meant(before, r, after)
		}
		switch {
		case keep:
			out = append(out, s[at:at+size]...)
		case !valid:
			out = append(out, "\ufffd"...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = appendEscape(appendEscape(out, hi), lo)
		default:
			out = appendEscape(out, r)
		}
		before = r
		at += size
	}
	return out
}

func outsideASCII(r rune) bool { return r >= 0x7f || r < 0x20 && r != '\n' && r != '\t' && r != '\r' }
