// Markdown reading as the semantic evaluators need it (docs/spec/README.md#encoding).

package gates

import (
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DecodeText turns file bytes into text. Each maximal ill-formed UTF-8 sequence
// becomes one U+FFFD, as every web-standard decoder does, so that a reason that
// quotes the file is the same in all implementations.
func DecodeText(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + 8)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(data)
		}
		b.WriteRune(r)
		data = data[n:]
	}
	return b.String()
}

// illFormed returns the length of the maximal ill-formed sequence data starts with.
func illFormed(data []byte) int {
	lo, hi, need := byte(0x80), byte(0xBF), 0
	switch lead := data[0]; {
	case lead >= 0xC2 && lead <= 0xDF:
		need = 1
	case lead >= 0xE0 && lead <= 0xEF:
		need = 2
		if lead == 0xE0 {
			lo = 0xA0
		} else if lead == 0xED {
			hi = 0x9F
		}
	case lead >= 0xF0 && lead <= 0xF4:
		need = 3
		if lead == 0xF0 {
			lo = 0x90
		} else if lead == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for n <= need && n < len(data) && data[n] >= lo && data[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}

// lineTerminators are the characters that end a line in a multiline pattern.
const lineTerminators = "\n\r\u2028\u2029"

// hasPrefixFold reports whether s starts with prefix, ignoring the case of
// ASCII letters only: case-insensitive patterns never equate U+017F with s.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && equalFoldASCII(s[:len(prefix)], prefix)
}

func equalFoldASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lowerASCII(a[i]) != lowerASCII(b[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func trimLeftJS(s string) string { return strings.TrimLeftFunc(s, wire.IsSpace) }

// token folds a value for comparison with a vocabulary: trimmed, white space
// collapsed to single spaces, upper case. U+00DF is the one letter whose
// upper case has two letters that occur in a vocabulary.
func token(s string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.Join(strings.FieldsFunc(s, wire.IsSpace), " "), "ß", "SS"))
}

// labelled is the value of a labelled line.
type labelled struct {
	value   string // trimmed
	found   bool
	crossed bool // the value is on a later line than the colon
	start   int  // offset of the value
	end     int  // offset after its line
}

// lineValue finds the first labelled line: label at a line start, optional
// white space, a colon, optional white space, the rest of that line. The white
// space may span lines. label returns the length of the label text starts
// with, or -1.
func lineValue(text string, label func(string) int) labelled {
	for pos := 0; ; {
		if n := label(text[pos:]); n >= 0 {
			if after, ok := strings.CutPrefix(trimLeftJS(text[pos+n:]), ":"); ok {
				rest := trimLeftJS(after)
				if rest == "" {
					return labelled{} // only white space up to the end of the text
				}
				line := rest
				if i := strings.IndexAny(rest, lineTerminators); i >= 0 {
					line = rest[:i]
				}
				return labelled{
					value:   wire.Trim(line),
					found:   true,
					crossed: strings.ContainsAny(after[:len(after)-len(rest)], lineTerminators),
					start:   len(text) - len(rest),
					end:     len(text) - len(rest) + len(line),
				}
			}
		}
		i := strings.IndexAny(text[pos:], lineTerminators)
		if i < 0 {
			return labelled{}
		}
		pos += i
		_, n := utf8.DecodeRuneInString(text[pos:])
		pos += n
	}
}

// approvedLabel matches "Approved".
func approvedLabel(s string) int {
	if hasPrefixFold(s, "Approved") {
		return len("Approved")
	}
	return -1
}

// verdictLabel matches "##", white space, "Verdict".
func verdictLabel(s string) int {
	after, ok := strings.CutPrefix(s, "##")
	if !ok {
		return -1
	}
	rest := trimLeftJS(after)
	if len(rest) == len(after) || !hasPrefixFold(rest, "Verdict") {
		return -1
	}
	return len(s) - len(rest) + len("Verdict")
}

// sectioned is a document cut into lines for section rules. Lines end at LF
// here, and are trimmed.
type sectioned struct {
	text  string
	lines []string
}

func newSectioned(text string) sectioned {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = wire.Trim(lines[i])
	}
	return sectioned{text, lines}
}

// section looks for the first line that starts with heading and reports whether a line before the next level-2
// heading is neither blank nor a placeholder.
func (d sectioned) section(heading string, placeholder func(string) bool) (found, content bool) {
	for i, line := range d.lines {
		if !strings.HasPrefix(line, heading) {
			continue
		}
		for _, l := range d.lines[i+1:] {
			if strings.HasPrefix(l, "## ") {
				break
			}
			if l != "" && !placeholder(l) {
				return true, true
			}
		}
		return true, false
	}
	return false, false
}
