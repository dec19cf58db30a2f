// Drawings: the phases as a track, a sum against its limit. The server lays them
// out, the template writes the SVG, the style sheet colours it.

package dashboard

import (
	"strconv"
	"unicode/utf8"
)

// track is the phases of a run or an initiative, in their order.
type track struct {
	Label  string // what it says, for those who do not see it
	Width  int
	Height int
	Stops  []stop
}

// stop is a phase on the track.
type stop struct {
	X, Y, Y2, FromX int // FromX is where its line begins, -1 for the first
	Class           string
	Name, Note      string
	Mark            string // within the circle
}

// newTrack lays stops out from left to right, and in rows when they are many.
func newTrack(label string, stops []stop) *track {
	const step, row, perRow = 150, 92, 6
	t := &track{Label: label}
	for i := range stops {
		s := &stops[i]
		s.X, s.Y = step/2+i%perRow*step, 30+i/perRow*row
		s.Y2 = s.Y + 36
		s.FromX = s.X - step
		if i%perRow == 0 {
			s.FromX = -1
		}
		s.Name, s.Note = fit(plain(s.Name), 20), fit(plain(s.Note), 22)
	}
	t.Stops = stops
	t.Width = min(len(stops), perRow) * step
	t.Height = (len(stops)+perRow-1)/perRow*row + 8
	return t
}

// longWord reports a word that may be broken for a table to fit: ids of turns, which
// have 21 characters, are not.
func longWord(s string) bool {
	n := 0
	for _, r := range s {
		if n++; r == ' ' || r == '\n' {
			n = 0
		} else if n > 24 {
			return true
		}
	}
	return false
}

func fit(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	r := []rune(s)
	return string(r[:runes-1]) + "…"
}

// meter is a sum against its limit.
type meter struct {
	Label string
	Share int // of 1000
	Class string
}

func newMeter(label string, part, whole float64) *meter {
	m := &meter{Label: label}
	if whole > 0 {
		m.Share = int(min(max(part/whole, 0), 1) * 1000)
	}
	switch {
	case whole > 0 && part >= whole:
		m.Class = string(bad)
	case m.Share >= 800:
		m.Class = string(warn)
	}
	return m
}

// Percent is the share for people.
func (m *meter) Percent() string { return strconv.Itoa(m.Share/10) + " %" }
