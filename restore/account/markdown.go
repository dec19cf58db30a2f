// The page as Markdown, for issues, wikis and pull requests.

package account

import (
	"bytes"
	"fmt"
	"strings"
)

func (p *page) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# AgentXchain Governance Report\n\n**%s**\n\n", MarkdownText(p.title))
	if p.verdict.tone == good && p.lead != "" {
		fmt.Fprintf(&b, "%s\n\n", MarkdownText(p.lead))
	}
	markdownFacts(&b, p.head)
	for i := range p.sections {
		markdownSection(&b, &p.sections[i], 2)
	}
	if p.footer != "" {
		fmt.Fprintf(&b, "---\n\n%s\n", MarkdownText(p.footer))
	}
	return b.Bytes()
}

func markdownFacts(b *bytes.Buffer, facts []fact) {
	for _, f := range facts {
		fmt.Fprintf(b, "- **%s:** %s\n", MarkdownText(f.label), markdownCell(f.cell))
	}
	if len(facts) > 0 {
		b.WriteByte('\n')
	}
}

func markdownSection(b *bytes.Buffer, s *section, level int) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", min(level, 6)), MarkdownText(s.title))
	markdownFacts(b, s.facts)
	if s.note != "" {
		fmt.Fprintf(b, "%s\n\n", MarkdownText(s.note))
	}
	if s.drawing != nil {
		fmt.Fprintf(b, "```text\n%s```\n\n", s.drawing.ASCII(80)) // none of its lines begins with a backtick
	}
	for _, c := range s.items {
		fmt.Fprintf(b, "- %s\n", markdownCell(c))
	}
	if len(s.items) > 0 {
		b.WriteByte('\n')
	}
	if s.table != nil {
		row := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
		head, rule := make([]string, len(s.table.head)), make([]string, len(s.table.head))
		for i, h := range s.table.head {
			head[i], rule[i] = MarkdownText(h), "---"
		}
		row(head)
		row(rule)
		for _, r := range s.table.rows {
			cells := make([]string, len(r))
			for i, c := range r {
				cells[i] = markdownCell(c)
			}
			row(cells)
		}
		b.WriteByte('\n')
	}
	for i := range s.parts {
		markdownSection(b, &s.parts[i], level+1)
	}
}

// markdownCell formats a value; ids and paths become code where possible.
func markdownCell(c cell) string {
	switch {
	case c.text == "":
		return "—"
	case c.code && !strings.ContainsAny(c.text, "`|\\") && strings.TrimSpace(c.text) == c.text:
		return "`" + c.text + "`"
	case c.tone != neutral && strings.TrimSpace(c.text) == c.text:
		return "**" + MarkdownText(c.text) + "**"
	}
	return MarkdownText(c.text)
}

// MarkdownText escapes a text on one line: every ASCII character other than letters and digits that Markdown, its
// tables and links, or HTML in it could interpret.
func MarkdownText(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>#|~&!$^=", r):
			b.WriteByte('\\')
		case (r == '-' || r == '+') && i == 0:
			b.WriteByte('\\')
		case (r == '.' || r == ')') && i > 0 && strings.Trim(s[:i], "0123456789") == "":
			b.WriteByte('\\') // otherwise it begins a numbered list
		case r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			// Bare addresses become links where escapes are resolved first: break them with an empty comment.
			b.WriteString("<!---->")
		}
		b.WriteRune(r)
	}
	return b.String()
}
