// A small writer for markdown documents made of sections.

package dispatch

import (
	"fmt"
	"strings"
)

// document collects blocks separated by one blank line.
type document struct{ b strings.Builder }

// block appends text as a block of its own; it ignores empty text.
func (d *document) block(text string) {
	if text == "" {
		return
	}
	if d.b.Len() > 0 {
		d.b.WriteByte('\n')
	}
	d.b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		d.b.WriteByte('\n')
	}
}

func (d *document) blockf(format string, args ...any) { d.block(fmt.Sprintf(format, args...)) }

// bytes returns the document.
func (d *document) bytes() []byte { return []byte(d.b.String()) }

// list is a sequence of lines written as one block.
type list []string

// add adds a bullet. It skips a bullet without content, and the separator before an empty last part.
func (l *list) add(format string, args ...any) { l.at("- ", fmt.Sprintf(format, args...)) }

// at adds a bullet at the depth that its mark gives.
func (l *list) at(mark, s string) {
	for _, sign := range [...]string{": ", " — "} {
		s = strings.TrimSuffix(s, sign)
	}
	if s = strings.TrimRight(s, " "); s != "" {
		*l = append(*l, mark+s)
	}
}

// field adds a labelled bullet; it skips a label without a value.
func (l *list) field(label, value string) {
	if value = strings.TrimSpace(value); value != "" && value != orDash("") {
		*l = append(*l, fmt.Sprintf("- **%s:** %s", label, value))
	}
}

// label adds a labelled bullet for bullets nested below it.
func (l *list) label(label string) { *l = append(*l, fmt.Sprintf("- **%s:**", label)) }

func (l list) String() string { return strings.Join(l, "\n") }

// codes returns one bullet per name, bounded, with a note on what was left out.
func codes(names []string) string {
	var l list
	for i, n := range names {
		if i == maxListItems {
			l.add("… and %d more, left out here", len(names)-i)
			break
		}
		l.add("%s", code(n))
	}
	return l.String()
}

// numbered returns items as a numbered list of single lines, bounded.
func numbered(items []string) string {
	var l list
	for i, s := range items {
		if i == maxListItems {
			l = append(l, fmt.Sprintf("%d. … and %d more, left out here", i+1, len(items)-i))
			break
		}
		l = append(l, fmt.Sprintf("%d. %s", i+1, line(s)))
	}
	return l.String()
}

// inlineCodes returns names as code spans separated by commas, bounded.
func inlineCodes(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var out []string
	for i, n := range names {
		if i == maxListItems {
			out = append(out, fmt.Sprintf("… and %d more", len(names)-i))
			break
		}
		out = append(out, code(n))
	}
	return strings.Join(out, ", ")
}
