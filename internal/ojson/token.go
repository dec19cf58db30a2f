// Numbers and escapes, for all readers of JSON text.

package ojson

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxNumber is the maximum length of a number: far more than any double needs.
const MaxNumber = 400

// NumberPrefix returns how many of the first bytes of b are a JSON number. If there is none ok is false and n is
// the position of the error.
func NumberPrefix(b []byte) (n int, ok bool) {
	digits := func() bool {
		start := n
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		return n > start
	}
	at := func(c byte) bool { return n < len(b) && b[n] == c }
	if at('-') {
		n++
	}
	if at('0') {
		n++
	} else if !digits() {
		return n, false
	}
	if at('.') {
		if n++; !digits() {
			return n, false
		}
	}
	if at('e') || at('E') {
		if n++; at('+') || at('-') {
			n++
		}
		if !digits() {
			return n, false
		}
	}
	return n, true
}

// Unescape appends the decoded escape at the beginning of b to out: b[0] is a backslash. n is the length of the
// escape in bytes, or the position of the error. A surrogate pair is one escape; a lone surrogate gets its
// three-byte form.
func Unescape(out, b []byte) (decoded []byte, n int, err error) {
	if len(b) < 2 {
		return out, 1, errors.New("unexpected end of input inside a string")
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return append(out, c), 2, nil
	case 'b':
		return append(out, '\b'), 2, nil
	case 'f':
		return append(out, '\f'), 2, nil
	case 'n':
		return append(out, '\n'), 2, nil
	case 'r':
		return append(out, '\r'), 2, nil
	case 't':
		return append(out, '\t'), 2, nil
	case 'u':
	default:
		if c < 0x20 || c > 0x7e {
			return out, 1, fmt.Errorf("a backslash before the byte 0x%02x is not an escape", c)
		}
		return out, 1, fmt.Errorf("unknown escape \\%c", c)
	}
	r, ok := hex4(b[2:])
	if !ok {
		return out, 2, errors.New("malformed \\u escape")
	}
	if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if second, ok := hex4(b[8:]); ok {
			if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
				return utf8.AppendRune(out, pair), 12, nil
			}
		}
	}
	return appendWTF8(out, r), 6, nil
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var v rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}

// appendWTF8 appends r, keeping a lone surrogate in its generalised UTF-8 form.
func appendWTF8(buf []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(buf, 0xED, byte(0x80|(r>>6)&0x3F), byte(0x80|r&0x3F))
	}
	return utf8.AppendRune(buf, r)
}

// LoneSurrogate reports the surrogate encoded at the start of s, if any.
func LoneSurrogate[T []byte | string](s T) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2] >= 0x80 && s[2] <= 0xBF {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
	}
	return 0, false
}

func validWTF8(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			if _, ok := LoneSurrogate(s); !ok {
				return false
			}
			n = 3
		}
		s = s[n:]
	}
	return true
}
