// The reachable states as a drawing.

package whatif

import (
	"bytes"
	"fmt"
	"strings"
)

// SVG draws the graph: a column for each number of events, an arrow for each transition between states. The drawing
// is self-contained, and the same graph always gives the same drawing.
func (g *Graph) SVG() []byte {
	const wide, high, gapX, gapY, margin = 170, 46, 70, 18, 20
	rows := make(map[int]int)
	at := make([][2]int, len(g.Nodes))
	width, height := 0, 0
	for i, n := range g.Nodes {
		x, y := margin+n.Depth*(wide+gapX), margin+rows[n.Depth]*(high+gapY)
		rows[n.Depth]++
		at[i] = [2]int{x, y}
		width, height = max(width, x+wide+margin), max(height, y+high+margin)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`,
		width, height, width, height)
	b.WriteString("\n<title>Reachable states</title>\n")
	b.WriteString(`<style>rect{fill:#eef3fb;stroke:#4a6fa5}.completed{fill:#e4f4e4;stroke:#2f7d32}.paused{fill:#fff6da;stroke:#a67c00}` +
		`.blocked{fill:#fde9d9;stroke:#b25d00}.dead{fill:#fbe3e4;stroke:#a4262c;stroke-width:2}path{fill:none;stroke:#888}text{fill:#222}.e{font-size:10px;fill:#555}</style>` + "\n")
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">` +
		`<polygon points="0,0 8,4 0,8" fill="#888"/></marker></defs>` + "\n")
	for _, e := range g.merged() {
		from, to := at[e.From], at[e.To]
		x1, y1, x2, y2 := from[0]+wide, from[1]+high/2, to[0], to[1]+high/2
		if x2 <= x1 { // backwards, or within a column
			x1, x2, y1, y2 = from[0]+wide/2, to[0]+wide/2, from[1]+high, to[1]+high
		}
		fmt.Fprintf(&b, `<g><title>%s</title><path d="M%d %d C%d %d %d %d %d %d" marker-end="url(#a)"/></g>`+"\n",
			xmlText(e.Event),
			x1, y1, (x1+x2)/2, y1+(y2-y1)/8, (x1+x2)/2, y2-(y2-y1)/8, x2, y2)
	}
	for i, n := range g.Nodes {
		class := n.Status
		if n.Dead {
			class = "dead"
		}
		what := n.Status
		if n.On != "" {
			what += ": " + n.On
		}
		fmt.Fprintf(&b, `<g><title>%s</title><rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+
			`<text x="%d" y="%d">%s</text><text class="e" x="%d" y="%d">%s</text></g>`+"\n",
			xmlText(fmt.Sprintf("state %d: phase %s, %s", n.ID, n.Phase, what)), xmlText(class), at[i][0], at[i][1],
			wide, high,
			at[i][0]+8, at[i][1]+19, xmlText(cut(n.Phase, 24)), at[i][0]+8, at[i][1]+35, xmlText(cut(what, 30)))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// merged combines the events between the same two states.
func (g *Graph) merged() []Edge {
	where := make(map[[2]int]int)
	var out []Edge
	for _, e := range g.Edges {
		i, ok := where[[2]int{e.From, e.To}]
		if !ok {
			where[[2]int{e.From, e.To}] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Event += ", " + e.Event
	}
	return out
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// xmlText makes foreign text safe in XML: control characters, which XML does not allow, become spaces.
func xmlText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0xd800 && r < 0xe000 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
