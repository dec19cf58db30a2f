// Tables aligned by what a terminal shows, not by bytes or runes.

package term

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Table prints rows in columns, two spaces apart. Cells are made safe and put on one line. On a
// terminal the flexible column is wrapped to fit; in a pipe every row is one line.
type Table struct {
	// Header names the columns; nil prints none.
	Header []string
	// Flex is the index of the column that may be wrapped, -1 for none.
	Flex int
	rows [][]cell
}

// cell is a column of one row: its safe text and how to emphasise it.
type cell struct {
	text  string
	style func(string) string
}

// NewTable starts a table whose last column may be wrapped.
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

// Len returns the number of rows.
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
		// Below ten columns a cut cell says nothing; the line may wrap instead.
		widths[t.Flex] = min(widths[t.Flex], max(p.width-rest, 10))
	}
	var b strings.Builder
	for _, row := range rows {
		lines := []string{""}
		if t.Flex >= 0 && t.Flex < len(row) {
			lines[0] = row[t.Flex].text
			if p.width > 0 {
				lines = text.Wrap(row[t.Flex].text, widths[t.Flex])
			}
		}
		for n, flex := range lines {
			t.line(&b, row, widths, flex, n > 0)
		}
	}
	_, _ = p.Write([]byte(b.String()))
}

// line prints one line of a row; flex is its part of the flexible column, more says that the other
// cells were printed above.
func (t *Table) line(b *strings.Builder, row []cell, widths []int, flex string, more bool) {
	end := len(row)
	if more {
		end = t.Flex + 1 // nothing follows
	}
	for i, c := range row[:end] {
		shown := c.text
		switch {
		case i == t.Flex:
			shown = flex
		case more:
			shown = ""
		}
		padding := widths[i] - DisplayWidth(shown)
		if c.style != nil && shown != "" {
			shown = c.style(shown)
		}
		b.WriteString(shown)
		if i < end-1 {
			b.WriteString(strings.Repeat(" ", padding+2))
		}
	}
	b.WriteByte('\n')
}

// Pad fills s with blanks up to width columns.
func Pad(s string, width int) string      { return text.Pad(s, width) }
func Truncate(s string, width int) string { return text.Truncate(s, width) }
func DisplayWidth(s string) int           { return text.Width(s) }
