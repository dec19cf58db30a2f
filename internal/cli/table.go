// Tables aligned by what a terminal shows, not by bytes or runes.

package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
			widths[i] = max(widths[i], displayWidth(c.text))
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
				text = truncate(text, widths[i])
			}
			padding := widths[i] - displayWidth(text)
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

// pad extends s with spaces to width columns.
func pad(s string, width int) string {
	if n := width - displayWidth(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// truncate cuts s to width columns, marking the cut with an ellipsis.
func truncate(s string, width int) string {
	if displayWidth(s) <= width {
		return s
	}
	n, end := 0, 0
	for i, r := range s {
		w := runeWidth(r)
		if n+w > width-1 {
			break
		}
		n += w
		end = i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
	}
	return s[:end] + "…"
}

// displayWidth is the number of terminal columns s takes.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 0 for combining marks and format characters, 2 for East Asian
// wide characters and emoji, 1 otherwise.
func runeWidth(r rune) int {
	switch {
	case r < 0x20:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r <= 0x115f || // Hangul Jamo
		0x2e80 <= r && r <= 0x303e || // CJK radicals, punctuation
		0x3041 <= r && r <= 0xa4cf && r != 0x303f || // kana, CJK, Yi
		0xa960 <= r && r <= 0xa97f ||
		0xac00 <= r && r <= 0xd7a3 || // Hangul syllables
		0xf900 <= r && r <= 0xfaff || 0xfe30 <= r && r <= 0xfe6f ||
		0xff00 <= r && r <= 0xff60 || 0xffe0 <= r && r <= 0xffe6 ||
		0x1f300 <= r && r <= 0x1f64f || 0x1f680 <= r && r <= 0x1f6ff ||
		0x1f900 <= r && r <= 0x1f9ff || 0x20000 <= r && r <= 0x3fffd):
		return 2
	}
	return 1
}
