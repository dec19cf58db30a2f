// Bytes as text: invalid UTF-8 becomes U+FFFD, one for each maximal part of a sequence (docs/export.md).

package restore

import "unicode/utf8"

// step returns the length of the first character or, with ok false, of the first invalid bytes. b is not empty.
func step(b []byte) (n int, ok bool) {
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
		return n, true
	}
	// The second byte has a narrower range after some first bytes; a following continuation byte belongs to the
	// same broken character as its first byte.
	lo, hi, want := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		want = 1
	case c == 0xe0:
		lo, want = 0xa0, 2
	case c == 0xed:
		hi, want = 0x9f, 2
	case c >= 0xe1 && c <= 0xef:
		want = 2
	case c == 0xf0:
		lo, want = 0x90, 3
	case c == 0xf4:
		hi, want = 0x8f, 3
	case c >= 0xf1 && c <= 0xf3:
		want = 3
	}
	n = 1
	for n <= want && n < len(b) && b[n] >= lo && b[n] <= hi {
		n, lo, hi = n+1, 0x80, 0xbf
	}
	return n, false
}

// lossy appends the text of some first bytes of b to out, about size of them, and returns the rest.
func lossy(out, b []byte, size int) (text, rest []byte) {
	for len(b) > 0 && len(out) < size {
		n, ok := step(b)
		if ok {
			out = append(out, b[:n]...)
		} else {
			out = append(out, "\ufffd"...)
		}
		b = b[n:]
	}
	return out, b
}

// toText returns all of b as text.
func toText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	text, _ := lossy(make([]byte, 0, len(b)+16), b, 4*len(b)+16)
	return string(text)
}
