// Putting foreign text into markdown so that it cannot become structure.

package dispatch

import (
	"fmt"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on text quoted from results, ledgers and requests. A note says what was cut.
const (
	maxLineRunes  = 600  // one bullet or table cell
	maxQuoteRunes = 8000 // one quoted block
	maxListItems  = 200  // paths and ids in one list
)

// clean returns text with LF line ends and every hostile rune spelled out. Terminal escapes, text that only a model
// would read, and separators that only some readers treat as a line end must not reach the next actor's prompt.
func clean(s string) string { return text.Lines(s) }

// line returns s on one line, white space collapsed, bounded in length.
func line(s string) string {
	return cut(text.OneLine(s), maxLineRunes)
}

// cut returns at most limit runes of s and says how many it left out.
func cut(s string, limit int) string {
	short := text.CutRunes(s, limit)
	if len(short) == len(s) {
		return s
	}
	return fmt.Sprintf("%s… (%d more characters left out)", short, utf8.RuneCountInString(s[len(short):]))
}

// quote returns s as a block quotation: no line of it can be read as a heading
// or close a fence of the document around it.
func quote(s string) string {
	lines := strings.Split(cut(strings.TrimSpace(clean(s)), maxQuoteRunes), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// verbatim returns governed text (a mandate, a role's own instructions) unchanged, except that it closes an open
// code fence, which would swallow every section that follows.
func verbatim(s string) string {
	s = strings.TrimSpace(clean(s))
	var mark byte
	var run int
	for l := range strings.SplitSeq(s, "\n") {
		c, n, rest := fenceLine(l)
		switch {
		case n == 0:
		case mark == 0:
			// An info string of a backtick fence contains no backtick; such a line is a code span and opens
			// nothing.
			if c != '`' || !strings.Contains(rest, "`") {
				mark, run = c, n
			}
		case c == mark && n >= run && strings.TrimSpace(rest) == "":
			mark = 0
		}
	}
	if mark != 0 {
		s += "\n" + strings.Repeat(string(mark), run)
	}
	return s
}

// fenceLine reports the fence character and its run length when l can open or
// close a code fence, and what follows the run.
func fenceLine(l string) (mark byte, run int, rest string) {
	t := strings.TrimLeft(l, " ")
	if len(l)-len(t) > 3 || t == "" || (t[0] != '`' && t[0] != '~') {
		return 0, 0, ""
	}
	mark = t[0]
	for run < len(t) && t[run] == mark {
		run++
	}
	if run < 3 {
		return 0, 0, ""
	}
	return mark, run, t[run:]
}

// unheaded is like verbatim without heading lines: readers of CONTEXT.md find its sections by their "##" headings,
// so a goal must not add any.
func unheaded(s string) string {
	lines := strings.Split(verbatim(s), "\n")
	for i, l := range lines {
		if t := strings.TrimLeft(l, " \t"); strings.HasPrefix(t, "#") {
			lines[i] = `\` + t
		}
	}
	return strings.Join(lines, "\n")
}

// longestTicks returns the length of the longest run of backticks in s.
func longestTicks(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// fenced returns body as a code block whose fence is longer than any run of backticks inside, so that no content
// can end it. The body is otherwise unchanged except for a final newline.
func fenced(info, body string) string {
	fence := strings.Repeat("`", max(3, longestTicks(body)+1))
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return fence + info + "\n" + body + fence
}

// code returns s as an inline code span on one line. A name with control
// characters or invalid bytes is shown in Go's quoted form, so that two
// different names never look the same.
func code(s string) string {
	if s == "" {
		return "`\"\"`"
	}
	if !utf8.ValidString(s) ||
		strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || text.Hostile(r) }) {
		s = text.Visible(strconv.Quote(s))
	}
	s = cut(s, maxLineRunes)
	mark := strings.Repeat("`", longestTicks(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return mark + s + mark
}

// cell escapes s for a table cell. It doubles backslashes before a pipe, so that the pipe's own escape stays one.
func cell(s string) string {
	if !strings.Contains(s, "|") {
		return s
	}
	var b strings.Builder
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '|':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// orDash returns s, or an em dash for an empty cell.
func orDash(s string) string {
	if s == "" {
		return "—"
	}
	return s
}
