// The graph of an initiative: workstreams by phase, what each depends on, and the barrier on the
// path from one to the next.

package dashboard

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	foreign "github.com/git-agentxchain/git-agentxchain/internal/text"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// Bounds and sizes of the graph, in pixels.
const (
	maxStreams = 60 // workstreams; of more only the list is shown
	maxSquares = 8  // squares for the repositories of one workstream
	nodeWide   = 170
	nodeHigh   = 62
	gapWide    = 64
	gapHigh    = 22
	graphTop   = 26
)

// graph draws the workstreams; "" when there is nothing to connect, or too much of it.
func graph(rows []coordinator.Row) template.HTML {
	if len(rows) < 2 || len(rows) > maxStreams {
		return ""
	}
	g := &graphSVG{rows: rows, at: make(map[string][2]int, len(rows))}
	g.place()
	width, height := 0, 0
	for _, p := range g.at {
		width, height = max(width, p[0]+nodeWide+24), max(height, p[1]+nodeHigh+gapHigh)
	}
	g.bands(height)
	for i := range rows {
		g.edges(&rows[i])
	}
	for i := range rows {
		g.node(&rows[i])
	}
	return template.HTML(fmt.Sprintf(
		`<div class="scroll" tabindex="0" role="region" aria-label="Graph of the workstreams"><svg class="graph" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="graph-t graph-d">`+
			`<title id="graph-t">The workstreams and what they depend on</title><desc id="graph-d">The list of workstreams says the same in words.</desc>`+
			`<defs><marker id="graph-tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>%[3]s</svg></div>`,
		width, height, g.b.String())) //nolint:gosec // everything foreign in it is escaped
}

type graphSVG struct {
	b     strings.Builder
	rows  []coordinator.Row
	at    map[string][2]int // of a workstream: its upper left corner
	bandX []band
}

// band is the area of a phase.
type band struct {
	name     string
	from, to int
}

func (g *graphSVG) f(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

// marked returns a foreign text as markup, cut to a number of letters.
func marked(s string, letters int) string {
	s = foreign.OneLine(s)
	if letters > 0 {
		s = fit(s, letters)
	}
	return html.EscapeString(s)
}

// place gives each workstream a column: to the right of everything it depends on, and of every
// phase before its own. Dependencies have no cycles: the configuration would have been refused.
func (g *graphSVG) place() {
	column, used := make(map[string]int), make(map[int]int)
	first := 0
	for from := 0; from < len(g.rows); {
		phase := g.rows[from].Workstream.Phase
		to := from
		for to < len(g.rows) && g.rows[to].Workstream.Phase == phase {
			to++
		}
		last := first
		for range to - from { // as many rounds as the longest path within the phase
			for _, r := range g.rows[from:to] {
				c := first
				for _, dep := range r.Workstream.DependsOn {
					if d, ok := column[dep]; ok {
						c = max(c, d+1)
					}
				}
				column[r.Workstream.ID] = c
				last = max(last, c)
			}
		}
		for _, r := range g.rows[from:to] {
			c := column[r.Workstream.ID]
			g.at[r.Workstream.ID] = [2]int{12 + c*(nodeWide+gapWide), graphTop + used[c]*(nodeHigh+gapHigh)}
			used[c]++
		}
		g.bandX = append(g.bandX, band{phase, 4 + first*(nodeWide+gapWide), 20 + last*(nodeWide+gapWide) + nodeWide})
		first, from = last+1, to
	}
}

func (g *graphSVG) bands(height int) {
	for _, b := range g.bandX {
		g.f(`<rect class="band" x="%d" y="0" width="%d" height="%d" rx="6"/><text class="soft" x="%d" y="16">%s</text>`,
			b.from, b.to-b.from, height, b.from+8, marked(b.name, 24*(b.to-b.from)/nodeWide))
	}
}

// edges draws the paths from what a workstream depends on, each with its barrier.
func (g *graphSVG) edges(r *coordinator.Row) {
	to := g.at[r.Workstream.ID]
	for _, dep := range r.Workstream.DependsOn {
		i := slices.IndexFunc(g.rows, func(x coordinator.Row) bool { return x.Workstream.ID == dep })
		if i < 0 {
			continue
		}
		from := g.at[dep]
		class, what := "shut", "has no barrier"
		if b := g.rows[i].Barrier; b != nil {
			what = "barrier " + words(b.Type) + " is " + words(b.Status)
			if b.Status == multirepo.Satisfied {
				class = "open"
			}
		}
		if w := g.rows[i].WaitsFor; len(w) > 0 {
			what += "; waits for " + strings.Join(w, "; ")
		}
		g.f(`<g><title>%s</title><path class="way %s" d="%s" marker-end="url(#graph-tip)"/><circle class="barrier %s" cx="%d" cy="%d" r="6"/></g>`,
			marked(dep+" to "+r.Workstream.ID+": "+what, 300), class, way(from, to), class, from[0]+nodeWide+14,
			from[1]+nodeHigh/2)
	}
}

// way returns the path between two workstreams. One that passes columns runs in the gap below its
// start, where no workstream hides it.
func way(from, to [2]int) string {
	x1, y1, x2, y2 := from[0]+nodeWide, from[1]+nodeHigh/2, to[0]-2, to[1]+nodeHigh/2
	if x2-x1 <= gapWide {
		mid := (x1 + x2) / 2
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, mid, y1, mid, y2, x2, y2)
	}
	const bend = gapWide / 2
	low := from[1] + nodeHigh + gapHigh/2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %dH%dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x1+bend/2, low, x1+bend+8,
		low,
		x2-bend-8, x2-bend/2, low, x2-bend, y2, x2, y2)
}

// node draws a workstream with a square for each repository.
func (g *graphSVG) node(r *coordinator.Row) {
	p := g.at[r.Workstream.ID]
	class, state := "", "no barrier"
	if r.Barrier != nil {
		state = words(r.Barrier.Status)
	}
	switch {
	case r.Barrier != nil && r.Barrier.Status == multirepo.Satisfied:
		class = " done"
	case r.Current:
		class = " now"
	}
	g.f(`<g><title>%s</title><rect class="node%s" x="%d" y="%d" width="%d" height="%d" rx="6"/><text class="name" x="%d" y="%d">%s</text><text class="soft" x="%d" y="%d">%s</text>`,
		marked(r.Workstream.ID+": "+state+", "+tally(r.Cells), 300), class, p[0], p[1], nodeWide, nodeHigh,
		p[0]+10, p[1]+19, marked(r.Workstream.ID, 24), p[0]+10, p[1]+35, marked(state, 26))
	x := p[0] + 10
	for _, c := range r.Cells[:min(len(r.Cells), maxSquares)] {
		g.f(`<rect class="repo %s" x="%d" y="%d" width="12" height="12" rx="2"><title>%s</title></rect>`,
			square(c), x, p[1]+43, marked(c.Repo+": "+boardCell(c).Text, 200))
		x += 17
	}
	if n := len(r.Cells) - maxSquares; n > 0 {
		g.f(`<text class="soft" x="%d" y="%d">+%d</text>`, x+2, p[1]+53, n)
	}
	g.f(`</g>`)
}

// square returns the style of a repository's square.
func square(c coordinator.Cell) string {
	if c.State == coordinator.CellWorking {
		return "work"
	}
	return string(boardCell(c).Tone)
}
