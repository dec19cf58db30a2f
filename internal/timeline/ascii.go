// The picture in characters, for terminals and job summaries.

package timeline

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// sign returns the character for an outcome.
func sign(outcome string) byte {
	switch outcome {
	case Accepted:
		return '='
	case Open:
		return '>'
	case Refused, SentBack:
		return 'x'
	case GivenUp:
		return '-'
	}
	return '#'
}

// gutter is the width of the lane names.
const gutter = 12

// ASCII renders a drawing, columns wide (at least 40), with a text line for each row of a lane.
func (d *Drawing) ASCII(columns int) string {
	columns = max(columns, 40)
	c := &canvas{width: columns - gutter}
	var out strings.Builder
	out.WriteString(wrap(strings.Split(d.Line(), " "), " ", columns) + "\n")
	phases := c.blank()
	for _, s := range d.Phases {
		from, to := c.column(d.scale.at(s.Start)), c.column(d.scale.at(s.End))
		phases.put(from, '|')
		for i, r := range []rune(text.Truncate(ascii(s.Name), max(to-from-2, 0))) {
			phases.put(from+1+i, r)
		}
	}
	out.WriteString(c.line("", phases))
	for i := range d.Lanes {
		l := &d.Lanes[i]
		rows := make([]runes, l.Rows)
		for j := range rows {
			rows[j] = c.blank()
		}
		for j := range l.Bars {
			b := &l.Bars[j]
			for _, s := range b.Segments {
				from, to := c.column(s.From), c.column(s.To)
				for x := from; x < max(to, from+1); x++ {
					rows[b.Row].put(x, rune(sign(s.Outcome)))
				}
			}
			if t := b.Turn; b.Turns == 1 && !t.CommittedAt.IsZero() {
				rows[b.Row].put(max(c.column(b.To)-1, c.column(b.From)), '*')
			}
		}
		for j, row := range rows {
			name := ""
			if j == 0 {
				name = l.Name
			}
			out.WriteString(c.line(name, row))
		}
	}
	gates := c.blank()
	for _, w := range d.Waits {
		for x := c.column(d.scale.at(w.Start)); x <= c.column(d.scale.at(w.End)); x++ {
			gates.put(x, ':')
		}
	}
	for _, a := range d.Alarms {
		gates.put(c.column(d.scale.at(a.At)), '!')
	}
	for _, g := range d.Posts {
		s := 'O'
		if !g.Opened {
			s = 'X'
		}
		gates.put(c.column(d.scale.at(g.At)), s)
	}
	if len(d.Waits)+len(d.Alarms)+len(d.Posts) > 0 {
		out.WriteString(c.line("gates", gates))
	}
	if !d.Start.IsZero() {
		end := stamp(d.End) + " UTC"
		if d.Live {
			end = "now"
		}
		out.WriteString(c.line("", runes(text.Pad(stamp(d.Start), c.width-len(end))+end)))
	}
	out.WriteString("\n" + wrap(d.legend(), "  ", columns))
	return out.String()
}

// wrap joins words into lines.
func wrap(words []string, between string, columns int) string {
	var out strings.Builder
	line := ""
	for _, w := range words {
		if line != "" && len(line)+len(between)+len(w) > columns {
			out.WriteString(line + "\n")
			line = ""
		}
		if line != "" {
			line += between
		}
		line += w
	}
	return out.String() + line + "\n"
}

func (d *Drawing) legend() []string {
	have := make(map[byte]bool)
	commit := false
	for i := range d.Lanes {
		for _, b := range d.Lanes[i].Bars {
			for _, s := range b.Segments {
				have[sign(s.Outcome)] = true
			}
			commit = commit || b.Turns == 1 && !b.Turn.CommittedAt.IsZero()
		}
	}
	var parts []string
	for _, k := range [...]struct {
		sign byte
		word string
	}{{'=', "accepted"}, {'>', "at work"}, {'x', "refused, sent back"}, {'#', "failed"}, {'-', "given up"}} {
		if have[k.sign] {
			parts = append(parts, fmt.Sprintf("%c %s", k.sign, k.word))
		}
	}
	opened, shut := false, false
	for _, g := range d.Posts {
		opened, shut = opened || g.Opened, shut || !g.Opened
	}
	for _, k := range [...]struct {
		have bool
		word string
	}{{commit, "* checkpoint"}, {len(d.Waits) > 0, ": waiting for a person"}, {opened, "O gate opens"},
		{shut, "X stays shut"},
		{len(d.Alarms) > 0, "! escalation"}} {
		if k.have {
			parts = append(parts, k.word)
		}
	}
	if len(parts) == 0 {
		parts = []string{"No turn yet."}
	}
	return parts
}

type runes []rune

func (r runes) put(x int, c rune) {
	if x >= 0 && x < len(r) {
		r[x] = c
	}
}

type canvas struct{ width int }

func (c *canvas) blank() runes { return runes(strings.Repeat(" ", c.width)) }

func (c *canvas) column(share float64) int { return min(int(share*float64(c.width)), c.width-1) }

func (c *canvas) line(name string, row runes) string {
	return strings.TrimRight(text.Pad(text.Truncate(ascii(name), gutter-2), gutter)+string(row), " ") + "\n"
}

// ascii replaces non-ASCII characters, so that every character takes one column, and what could end a code block in
// a page.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || strings.ContainsRune("`<[&", r) {
			return '?'
		}
		return r
	}, s)
}
