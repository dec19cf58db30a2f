// Text rules that every package shares: white space, blank, lengths, quoting (docs/spec/README.md#encoding).

package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Trim removes the leading and trailing white space of docs/spec/README.md#encoding: Unicode space separators, the
// ASCII controls, line and paragraph separators and U+FEFF, but not U+0085, which strings.TrimSpace would remove.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// IsSpace reports whether Trim removes the rune.
func IsSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A,
		r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return false
}

// TrimSpace trims white space around s and byte order marks around that.
func TrimSpace(s string) string { return strings.TrimSpace(strings.Trim(s, "\ufeff")) }

// OneLine joins the words of s with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Blank reports whether s is empty or only white space.
func Blank(s string) bool { return Trim(s) == "" }

// UTF16Len returns the length of s in UTF-16 code units, the unit of every limit on text
// (docs/spec/README.md#encoding).
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// Cut returns at most n UTF-16 code units of s, never half a character.
func Cut(s string, n int) string {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		n--
		if r > 0xFFFF {
			n--
		}
		if n < 0 {
			return s[:i]
		}
		i += size
	}
	return s
}

// Shown returns a value as a message quotes it: JSON, at most 80 units.
func Shown(v ojson.Value) string {
	if v == nil {
		return "null"
	}
	if s, ok := v.(string); ok {
		v = Cut(s, 200)
	}
	s := string(ojson.Compact(v))
	if short := Cut(s, 80); short != s {
		return short + "..."
	}
	return s
}

// Quoted puts s in plain quotes. Wire texts quote without escapes, so %q would
// spell names with backslashes or control characters differently.
func Quoted(s string) string { return `"` + s + `"` }

// ShellWord makes an id or a path safe to paste into a shell: ids may come from documents of another author.
func ShellWord(s string) string {
	plain := s != "" && s[0] != '-'
	for i := 0; plain && i < len(s); i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' ||
			c == '.' || c == '/'
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(OneLine(s), "'", `'\''`) + "'"
}

// ListSome joins at most n items and says how many more there are.
func ListSome(items []string, n int) string {
	out := ""
	for i, s := range items {
		if i == n {
			return out + fmt.Sprintf(" and %d more", len(items)-n)
		}
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}

// Numbered reports whether s is prefix followed by lo to hi decimal digits and nothing else.
func Numbered(s, prefix string, lo, hi int) bool {
	d, ok := strings.CutPrefix(s, prefix)
	return ok && len(d) >= lo && len(d) <= hi && allDigits(d)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
