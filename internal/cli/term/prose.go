// Help and manual text, wrapped at 80 columns, or at the terminal's width when that is less.

package term

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

const (
	proseColumns  = 80
	narrowColumns = 40 // the lines of an even narrower terminal wrap by themselves
)

func (p *Printer) proseWidth() int {
	if p.width > 0 {
		return max(narrowColumns, min(p.width, proseColumns))
	}
	return proseColumns
}

// prose prints our own text. A line that does not fit continues below its beginning, hang columns
// further in.
func (p *Printer) prose(s string, hang int) {
	for line := range strings.Lines(s) {
		p.Println(wrapLine(strings.TrimSuffix(line, "\n"), p.proseWidth(), hang))
	}
}

func wrapLine(line string, columns, hang int) string {
	if DisplayWidth(line) <= columns {
		return line
	}
	words := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(words)]
	lines := text.Wrap(words, columns-len(indent)-hang)
	return indent + strings.Join(lines, "\n"+indent+strings.Repeat(" ", hang))
}

// proseTable prints a table whose last column is wrapped.
func (p *Printer) proseTable(t *Table) {
	narrow := *p
	narrow.width = p.proseWidth()
	for _, r := range t.rows {
		t.Flex = len(r) - 1
	}
	narrow.Table(t)
}
