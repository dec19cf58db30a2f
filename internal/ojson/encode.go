package ojson

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Compact returns v on one line, as JSON.stringify(v) writes it, so that both
// implementations produce the same bytes for a ledger line.
func Compact(v any) []byte { return appendValue(nil, Of(v), "", "") }

// Pretty returns v with two-space indentation and a final newline, the form of
// every governed JSON document.
func Pretty(v any) []byte {
	b := encodings.Get().(*[]byte)
	*b = append(appendValue((*b)[:0], Of(v), "  ", "\n"), '\n')
	out := bytes.Clone(*b)
	if cap(*b) <= keptEncoding {
		encodings.Put(b)
	}
	return out
}

// encodings are buffers in which documents are encoded before they are copied to their exact size.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

const keptEncoding = 1 << 20

// lineStart is the beginning of lines of nested values, up to a common depth.
const lineStart = "\n                                        "

func deeper(nl, indent string) string {
	if n := len(nl) + len(indent); n <= len(lineStart) {
		return lineStart[:n]
	}
	return nl + indent
}

func appendValue(b []byte, v Value, indent, nl string) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case Number:
		return append(b, v...)
	case string:
		return AppendString(b, v)
	case []any:
		if len(v) == 0 {
			return append(b, "[]"...)
		}
		inner := nl
		if indent != "" {
			inner = deeper(nl, indent)
		}
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, inner...)
			b = appendValue(b, Of(e), indent, inner)
		}
		b = append(b, nl...)
		return append(b, ']')
	case *Object:
		if v.Len() == 0 {
			return append(b, "{}"...)
		}
		inner := nl
		if indent != "" {
			inner = deeper(nl, indent)
		}
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, inner...)
			b = AppendString(b, k)
			b = append(b, ':')
			if indent != "" {
				b = append(b, ' ')
			}
			b = appendValue(b, v.vals[i], indent, inner)
		}
		b = append(b, nl...)
		return append(b, '}')
	}
	// Records are built from Values only; anything else is a programming error that must not reach a ledger
	// unnoticed.
	panic(fmt.Sprintf("ojson: cannot encode %T", v))
}

// plain reports whether a byte needs no escape in a JSON string.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// AppendString appends s as a JSON string with JSON.stringify's escapes.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if from := i; plain(c) {
			for i++; i < len(s) && plain(s[i]); i++ {
			}
			b = append(b, s[from:i]...)
			continue
		}
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\n':
				b = append(b, '\\', 'n')
			case c == '\r':
				b = append(b, '\\', 'r')
			case c == '\t':
				b = append(b, '\\', 't')
			case c == '\b':
				b = append(b, '\\', 'b')
			case c == '\f':
				b = append(b, '\\', 'f')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			if sur, ok := LoneSurrogate(s[i:]); ok {
				b = append(b, '\\', 'u', hex[sur>>12&15], hex[sur>>8&15], hex[sur>>4&15], hex[sur&15])
				i += 3
				continue
			}
			// An invalid byte (a file name from git): show that, keep the line valid.
			b = append(b, "\ufffd"...)
			i++
			continue
		}
		b = append(b, s[i:i+n]...)
		i += n
	}
	return append(b, '"')
}
