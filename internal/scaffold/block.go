// A block of our lines in a person's file.

package scaffold

import (
	"bytes"
	"strings"
)

// blockGroup is a comment with the lines below it.
type blockGroup struct {
	comment string
	lines   []string
}

// mergeBlock appends the missing lines to an existing file, under a marker comment, and returns the result. The
// existing content stays byte for byte, new lines use its line ends, and merging twice changes nothing. subject
// returns what a line decides: a line whose subject is already decided is not added.
func mergeBlock(existing []byte, marker string, groups []blockGroup, subject func(line string) string) []byte {
	decided := map[string]bool{}
	marked := false
	for line := range bytes.Lines(existing) {
		text := strings.TrimRight(strings.TrimPrefix(string(line), "\ufeff"), "\r\n \t")
		decided[subject(text)] = true
		marked = marked || text == marker
	}
	eol := "\n"
	if i := bytes.IndexByte(existing, '\n'); i > 0 && existing[i-1] == '\r' {
		eol = "\r\n"
	}
	var block []string
	for _, g := range groups {
		var missing []string
		for _, l := range g.lines {
			if !decided[subject(l)] {
				missing = append(missing, l)
			}
		}
		if len(missing) > 0 {
			block = append(append(block, g.comment), missing...)
		}
	}
	if len(block) == 0 {
		return existing
	}
	out := bytes.Clone(existing)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, eol...)
		}
		out = append(out, eol...)
	}
	if !marked {
		block = append([]string{marker}, block...)
	}
	return append(out, strings.Join(block, eol)+eol...)
}
