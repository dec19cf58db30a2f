// Tables aligned by what a terminal shows, not by bytes or runes.

package term

import (
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"strings"
)

// Table prints rows in columns, two spaces apart. Cells are made safe and put
// on one line. On a terminal the widest flexible column is cut to fit; in a
// pipe nothing is ever cut.
type Table struct {
	// Header names the columns; nil prints none.
	Header []string
	// Flex is the index of the column that may be shortened, -1 for none.
	Flex int
	rows [][]cell
}

// cell is a column of one row: its safe text and how to emphasise it.
type cell struct {
	text  string
	style func(string) string
}

// NewTable starts a table whose last column may be shortened.
func NewTable(header ...string) *Table { return &Table{Header: header, Flex: len(header) - 1} }

// Row adds a row of plain cells.
func (t *Table) Row(cells ...string) {
	row := make([]cell, len(cells))
	for i, c := range cells {
		row[i] = cell{text: OneLine(c)}
	}
	t.rows = append(t.rows, row)
}

// Emphasise styles column i of the last row; style is a method of Style.
func (t *Table) Emphasise(i int, style func(string) string) {
	if n := len(t.rows); n > 0 && i >= 0 && i < len(t.rows[n-1]) {
		t.rows[n-1][i].style = style
	}
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Table prints t.
func (p *Printer) Table(t *Table) {
	rows := t.rows
	if t.Header != nil {
		head := make([]cell, len(t.Header))
		for i, h := range t.Header {
			head[i] = cell{text: h, style: p.Bold}
		}
		rows = append([][]cell{head}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], DisplayWidth(c.text))
		}
	}
	if p.width > 0 && t.Flex >= 0 && t.Flex < len(widths) {
		rest := 2 * (len(widths) - 1)
		for i, w := range widths {
			if i != t.Flex {
				rest += w
			}
		}
		// Below ten columns a cut cell says nothing; let the line wrap.
		widths[t.Flex] = min(widths[t.Flex], max(p.width-rest, 10))
	}
	var b strings.Builder
	for _, row := range rows {
		for i, c := range row {
			text := c.text
			if i == t.Flex && p.width > 0 {
				text = Truncate(text, widths[i])
			}
			padding := widths[i] - DisplayWidth(text)
			if c.style != nil {
				text = c.style(text)
			}
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", padding+2))
			}
		}
		b.WriteByte('\n')
	}
	_, _ = p.Write([]byte(b.String()))
}

// Pad fills s with blanks up to width columns.
func Pad(s string, width int) string      { return text.Pad(s, width) }
func Truncate(s string, width int) string { return text.Truncate(s, width) }
func DisplayWidth(s string) int           { return text.Width(s) }
