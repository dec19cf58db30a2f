// Merging two changes of one text.

package attribution

import "strings"

// merge3 applies the change from base to theirs to ours, byte by byte. ok is false when the two changes overlap, or
// when a version differs too much to be aligned.
func merge3(base, ours, theirs string) (merged string, ok bool) {
	b, o, t := fedLines(base), fedLines(ours), fedLines(theirs)
	mine, ok1 := difference(b, o)
	yours, ok2 := difference(b, t)
	if !ok1 || !ok2 {
		return "", false
	}
	var out strings.Builder
	at := 0 // position in base
	put := func(list []string) {
		for _, l := range list {
			out.WriteString(l)
		}
	}
	for len(mine) > 0 || len(yours) > 0 {
		from, side := &mine, o
		switch {
		case len(mine) == 0, len(yours) > 0 && yours[0].from < mine[0].from:
			from, side = &yours, t
		case len(yours) > 0 && yours[0].from == mine[0].from:
			return "", false
		}
		h := (*from)[0]
		*from = (*from)[1:]
		other := yours
		if from == &yours {
			other = mine
		}
		if len(other) > 0 && other[0].from <= h.from+h.gone {
			return "", false // they overlap
		}
		put(b[at:h.from])
		put(side[h.at : h.at+h.come])
		at = h.from + h.gone
	}
	put(b[at:])
	return out.String(), true
}

// fedLines returns the lines of a text with their line feeds.
func fedLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
