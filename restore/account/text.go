// The page as text for terminals and mail.

package account

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

func (p *page) text() []byte {
	var b bytes.Buffer
	b.WriteString("AgentXchain Governance Report\n")
	if p.verdict.tone == good && p.lead != "" {
		fmt.Fprintf(&b, "\n%s\n", p.lead)
	}
	b.WriteByte('\n')
	for _, f := range p.head {
		fmt.Fprintf(&b, "%s: %s\n", f.label, f.text)
	}
	for i := range p.sections {
		b.WriteByte('\n')
		writeText(&b, &p.sections[i], "")
	}
	if p.footer != "" {
		fmt.Fprintf(&b, "\n%s\n", p.footer)
	}
	return b.Bytes()
}

func writeText(b *bytes.Buffer, s *section, indent string) {
	fmt.Fprintf(b, "%s%s:\n", indent, s.title)
	in := indent + "  "
	for _, f := range s.facts {
		fmt.Fprintf(b, "%s%s: %s\n", in, f.label, f.text)
	}
	if s.note != "" {
		fmt.Fprintf(b, "%s%s\n", in, s.note)
	}
	if s.drawing != nil {
		for line := range strings.Lines(s.drawing.ASCII(80 - len(in))) {
			b.WriteString(strings.TrimRight(in+line, " \n") + "\n")
		}
	}
	for _, c := range s.items {
		fmt.Fprintf(b, "%s- %s\n", in, c.text)
	}
	if s.table != nil {
		tableText(b, s.table, in)
	}
	for i := range s.parts {
		writeText(b, &s.parts[i], in)
	}
}

// maxColumn is the maximum width of aligned columns; a longer value only shifts the rest of its own row.
const maxColumn = 40

func tableText(b *bytes.Buffer, t *table, indent string) {
	widths := make([]int, len(t.head))
	fit := func(i int, s string) {
		if n := columns(s); n <= maxColumn && i < len(widths) {
			widths[i] = max(widths[i], n)
		}
	}
	for i, h := range t.head {
		fit(i, h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			fit(i, cmp.Or(c.text, "-"))
		}
	}
	line := func(cells []string) {
		var l strings.Builder
		for i, c := range cells {
			l.WriteString(c)
			if i < len(cells)-1 && i < len(widths) {
				l.WriteString(strings.Repeat(" ", max(widths[i]-columns(c), 0)+2))
			}
		}
		fmt.Fprintf(b, "%s%s\n", indent, strings.TrimRight(l.String(), " "))
	}
	line(t.head)
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = cmp.Or(c.text, "-")
		}
		line(cells)
	}
}

// columns estimates the width of a text on a terminal.
func columns(s string) int {
	if len(s) > 4*maxColumn {
		return len(s)
	}
	return text.Width(s)
}
