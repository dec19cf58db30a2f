// Reading an agent's output as it arrives: lines for the log and the live view, none of them
// trusted.

package runtimes

import (
	"bytes"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// maxShown is how much of a line is shown, in runes.
const maxShown = 200

// Shown makes one line of foreign text safe to show: it removes terminal sequences, spells out
// hostile runes, and cuts it.
func Shown(line []byte) string {
	if len(line) > 4*maxShown {
		line = line[:4*maxShown]
	}
	return text.CutRunes(text.OneLine(text.Uncoloured(string(line))), maxShown)
}

// LineWriter counts the lines written to it and calls Tell for each batch of them with the last
// line that is not blank. Lines may be of any length; what is kept is bounded. It is for one
// goroutine.
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
	// From the back: only the last line that is not blank matters.
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
