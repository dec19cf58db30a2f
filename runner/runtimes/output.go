// Reading an agent's output as it comes: lines for the log and the live view, none of them trusted.

package runtimes

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown is how much of a line is shown, in runes.
const maxShown = 200

// Shown makes one line of foreign text safe to show: control and bidirectional
// characters are gone, escape sequences with them, and it is cut.
func Shown(line []byte) string {
	if len(line) > 4*maxShown {
		line = line[:4*maxShown]
	}
	var b strings.Builder
	n := 0
	for i := 0; i < len(line) && n < maxShown; {
		if line[i] == 0x1b {
			i += escapeLen(line[i:])
			continue
		}
		r, size := utf8.DecodeRune(line[i:])
		i += size
		switch {
		case r == utf8.RuneError && size == 1:
			r = '\ufffd'
		case r == '\t':
			r = ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			continue
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}

// escapeLen is the length of the terminal escape sequence b begins with.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // ends with a byte of 0x40..0x7e
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	case ']', 'P', '_', '^': // ends with BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return len(b)
	}
	return 2
}

// LineWriter counts the lines written to it and tells each batch of them with its
// last line that is not blank. Lines may be of any length; what is kept is bounded.
// It is for one goroutine.
type LineWriter struct {
	Tell func(lines int, last string)

	part []byte // of a line that has not ended
}

// Write never fails.
func (w *LineWriter) Write(p []byte) (int, error) {
	n := len(p)
	lines := bytes.Count(p, []byte{'\n'})
	if lines == 0 {
		w.keep(p)
		w.Tell(0, Shown(w.part))
		return n, nil
	}
	last := ""
	end := bytes.LastIndexByte(p, '\n')
	whole := p[:end]
	// From the back: only the last line with something in it is looked at.
	for last == "" && len(whole) > 0 {
		i := bytes.LastIndexByte(whole, '\n')
		line := whole[i+1:]
		if i < 0 {
			line = append(w.part, line[:min(len(line), 4*maxShown)]...)
		}
		last = Shown(line)
		whole = whole[:max(i, 0)]
	}
	w.part = w.part[:0]
	w.keep(p[end+1:])
	if rest := Shown(w.part); rest != "" {
		last = rest
	}
	w.Tell(lines, last)
	return n, nil
}

func (w *LineWriter) keep(p []byte) {
	if room := 4*maxShown - len(w.part); room > 0 {
		w.part = append(w.part, p[:min(room, len(p))]...)
	}
}
