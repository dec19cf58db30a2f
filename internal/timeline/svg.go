// The picture as SVG: positions in time are percentages, so that it fits every width and its text keeps its size.

package timeline

import (
	_ "embed" // the style
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// CSS is the style of the drawing: light, dark, forced colours, on paper.
//
//go:embed picture.css
var CSS string

// Look holds the options of SVG.
type Look struct {
	Alone bool                     // a separate file: with its style, a size and a background
	Turn  func(turn string) string // returns the address of a turn, nil for no links
	Zoom  func(phase string) string
	ID    string // prefix of the ids in it; "tl" by default
}

// Heights of the parts, in pixels.
const (
	bandHeight = 22
	nameHeight = 20
	rowHeight  = 22
	barHeight  = 18
	laneGap    = 8
	aloneWidth = 960
	gateHeight = 70
)

type svg struct {
	b  strings.Builder
	d  *Drawing
	l  Look
	id string
	at map[string]point // positions of turns, for arrows
	y  int
}

type point struct {
	from, to float64
	y        int
}

// SVG renders a drawing. Without links it is one image with a title and a description; Rows gives the same in
// words.
func (d *Drawing) SVG(l Look) string {
	w := &svg{d: d, l: l, id: l.ID, at: make(map[string]point)}
	if w.id == "" {
		w.id = "tl"
	}
	w.y = bandHeight + 6
	body := w.body()
	height := w.y
	var out strings.Builder
	role, size := "img", `width="100%"`
	if l.Turn != nil || l.Zoom != nil {
		role = "group"
	}
	if l.Alone {
		const margin = 12
		fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"><style>%s.ground{fill:#fff}`+
			`@media (prefers-color-scheme:dark){.ground{fill:#1a202a}}</style><rect class="ground" width="100%%" height="100%%"/>`,
			aloneWidth, height+2*margin, CSS)
		size = fmt.Sprintf(`x="%d" y="%d" width="%d"`, margin, margin, aloneWidth-2*margin)
	}
	fmt.Fprintf(&out, `<svg class="tl" %s height="%d" role="%s" aria-labelledby="%s-title %s-desc">`,
		size, height, role, w.id, w.id)
	fmt.Fprintf(&out, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`,
		w.id, w.title(), w.id, esc(d.Line()))
	fmt.Fprintf(&out,
		`<defs><pattern id="%s-hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">`+
			`<path class="hatch" d="M0 0V8"/></pattern><marker id="%s-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">`+
			`<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>`, w.id, w.id)
	out.WriteString(body)
	out.WriteString("</svg>")
	if l.Alone {
		out.WriteString("</svg>")
	}
	out.WriteString("\n")
	return out.String()
}

func (w *svg) title() string {
	s := "The run " + w.d.Run
	if w.d.Phase != "" {
		s += " in phase " + w.d.Phase
	}
	return esc(s)
}

// esc escapes foreign text for markup. A picture that was read from a file did not pass through facts.
func esc(s string) string { return html.EscapeString(text.OneLine(s)) }

// pc formats a position as a percentage.
func pc(share float64) string { return strconv.FormatFloat(share*100, 'f', 2, 64) + "%" }

func (w *svg) f(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// clipped draws text that is clipped to its room.
func (w *svg) clipped(from, to float64, y, height int, class, anchor, s string) {
	x := "0"
	if anchor == "end" {
		x = "100%"
	}
	w.f(`<svg x="%s" y="%d" width="%s" height="%d"><text class="%s" x="%s" y="%d" text-anchor="%s">%s</text></svg>`,
		pc(from), y, pc(max(to-from, 0)), height, class, x, height-5, anchor, esc(s))
}

func (w *svg) body() string {
	w.phases()
	if len(w.d.Lanes) == 0 {
		w.f(`<text class="soft" x="0" y="%d">No turn yet.</text>`, w.y+14)
		w.y += 26
	}
	for i := range w.d.Lanes {
		w.lane(&w.d.Lanes[i])
	}
	w.arrows()
	w.gates()
	w.axis()
	w.legend()
	return w.b.String()
}

// phases draws the phases as a band on top, each linking to the view of that phase.
func (w *svg) phases() {
	for i, s := range w.d.Phases {
		if i == maxMarks {
			break
		}
		from, to := w.d.scale.at(s.Start), w.d.scale.at(s.End)
		if to <= from {
			continue
		}
		w.f(`<g><title>%s: %s</title>`, esc(s.Name), Lasting(s.End.Sub(s.Start)))
		link := w.l.Zoom != nil && w.d.Phase == ""
		if link {
			w.f(`<a href="%s" aria-label="Only phase %s">`, esc(w.l.Zoom(s.Name)), esc(s.Name))
		}
		w.f(`<svg x="%s" width="%s" height="%d"><rect class="phase" x="1" width="100%%" height="100%%" rx="3"/><text x="7" y="15">%s</text></svg>`,
			pc(from), pc(to-from), bandHeight, esc(s.Name))
		if link {
			w.f(`</a>`)
		}
		w.f(`</g>`)
	}
}

func (w *svg) lane(l *Lane) {
	s := Sum{}
	for i := range w.d.Turns {
		if w.d.Turns[i].lane() == l.Name {
			s.add(&w.d.Turns[i])
		}
	}
	w.f(`<line class="rule" x1="0" x2="100%%" y1="%d" y2="%d"/>`, w.y, w.y)
	w.f(`<text x="0" y="%d"><tspan class="name">%s</tspan><tspan class="soft" dx="8">%s</tspan></text>`,
		w.y+15, esc(l.Name), esc(laneNote(l, &s)))
	w.y += nameHeight
	for i := range l.Bars {
		w.bar(&l.Bars[i], w.y+l.Bars[i].Row*rowHeight)
	}
	w.y += l.Rows*rowHeight + laneGap
}

func laneNote(l *Lane, s *Sum) string {
	out := text.Count(l.Turns, "turn", "turns")
	if s.Turns == 0 {
		return out
	}
	out += " · " + Lasting(s.Worked)
	if s.USD > 0 {
		out += " · " + dollars(s.USD)
	}
	return out
}

// class returns the CSS class of an outcome.
func class(outcome string) string {
	switch outcome {
	case Accepted:
		return "ok"
	case Open:
		return "open"
	case SentBack, Refused:
		return "back"
	case GivenUp:
		return "gone"
	}
	return "bad"
}

func (w *svg) bar(b *Bar, y int) {
	link := b.Turns == 1 && w.l.Turn != nil
	if b.Turns == 1 {
		w.at[b.Turn.ID] = point{b.From, b.To, y + barHeight/2}
	}
	w.f(`<g>`)
	if link {
		w.f(`<a href="%s">`, esc(w.l.Turn(b.Turn.ID)))
	}
	w.f(`<title>%s</title>`, esc(b.title()))
	w.segments(b, y, barHeight)
	if link {
		w.f(`<rect class="turn" x="%s" y="%d" width="%s" height="%d" rx="2" pointer-events="all"/></a>`,
			pc(b.From), y, pc(b.To-b.From), barHeight)
	}
	if b.Turns > 1 && b.To-b.From > 0.08 {
		w.clipped(b.From+0.003, b.To, y, barHeight, "many", "start", strconv.Itoa(b.Turns))
	}
	if b.Turns == 1 && !b.Turn.CommittedAt.IsZero() {
		w.f(`<circle class="commit" cx="%s" cy="%d" r="3.5"/>`, pc(min(w.d.scale.at(b.Turn.CommittedAt), 1)),
			y+barHeight/2)
	}
	w.f(`</g>`)
}

// arrows draws arrows between turns that have their own bars.
func (w *svg) arrows() {
	n := 0
	for _, a := range w.d.Arrows {
		from, ok := w.at[a.From]
		to, also := w.at[a.To]
		if !ok || !also {
			continue
		}
		if n++; n > maxMarks {
			return
		}
		w.f(`<line class="arrow" x1="%s" y1="%d" x2="%s" y2="%d" marker-end="url(#%s-tip)"><title>%s</title></line>`,
			pc(from.to), from.y, pc(to.from), to.y, w.id, esc(a.Kind+": "+a.From+" to "+a.To))
	}
}

// gates draws gates as posts through all lanes, with the waits before them, hatched.
func (w *svg) gates() {
	if len(w.d.Posts)+len(w.d.Waits)+len(w.d.Alarms) == 0 {
		return
	}
	w.f(`<line class="rule" x1="0" x2="100%%" y1="%d" y2="%d"/><text class="name" x="0" y="%d">Gates and people</text>`,
		w.y, w.y, w.y+15)
	y := w.y + nameHeight
	for _, x := range w.d.Waits[max(len(w.d.Waits)-maxMarks, 0):] {
		from, to := w.d.scale.at(x.Start), w.d.scale.at(x.End)
		to = max(to, from+minShare)
		w.f(`<g><title>A person is waited for, %s: %s</title><rect class="waiting" x="%s" y="%d" width="%s" height="%d" rx="2" fill="url(#%s-hatch)"/></g>`,
			Lasting(x.End.Sub(x.Start)), esc(x.For), pc(min(from, 1-minShare)), y+1, pc(to-from), barHeight-2, w.id)
	}
	posts := w.d.Posts[max(len(w.d.Posts)-maxMarks, 0):]
	for i := range posts {
		w.post(posts, i, y)
	}
	for _, a := range w.d.Alarms[max(len(w.d.Alarms)-maxMarks, 0):] {
		x := w.d.scale.at(a.At)
		w.f(`<svg x="%s" y="%d" overflow="visible" width="1" height="1"><title>Escalation: %s</title><path class="alarm" d="M0 0L7 13H-7z"/></svg>`,
			pc(x), y+2, esc(a.Why))
	}
	w.y += gateHeight
}

// post draws one gate. Its name has the room up to the next one.
func (w *svg) post(posts []Post, i, y int) {
	p := &posts[i]
	x := w.d.scale.at(p.At)
	shut, what := "", "opened"
	if !p.Opened {
		shut, what = " shut", "stays shut"
	}
	if p.By != "" {
		what += " by " + p.By
	}
	title := "Gate " + p.Gate + " " + what
	if p.Why != "" {
		title += ": " + p.Why
	}
	w.f(`<g><title>%s</title><line class="post%s" x1="%s" x2="%s" y1="%d" y2="%d"/><circle class="flag%s" cx="%s" cy="%d" r="5"/></g>`,
		esc(title), shut, pc(x), pc(x), bandHeight, y+20, shut, pc(x), y+9)
	from, to, anchor := x, 1.0, "start"
	side := func(k int) bool { return w.d.scale.at(posts[k].At) > 0.85 } // its name is on the left
	// approximate width of its name, for a total width of 700 pixels
	need := func(k int) float64 {
		return float64(max(len(posts[k].Gate), len(posts[k].By))) * 7 / 700
	}
	if side(i) {
		from, to, anchor = max(x-need(i), 0), x, "end"
		if i > 0 && side(i-1) {
			from = max(from, w.d.scale.at(posts[i-1].At))
		}
	} else if i+1 < len(posts) {
		if to = w.d.scale.at(posts[i+1].At); side(i + 1) {
			to = max(to-need(i+1), x)
		}
	}
	if to-from > 0.03 {
		from, to = from+0.004, to-0.008
		if anchor == "end" {
			from, to = from+0.004, x
		}
		w.clipped(from, to, y+19, 16, "label", anchor, p.Gate)
		w.clipped(from, to, y+33, 16, "label soft", anchor, p.By)
	}
}

func (w *svg) axis() {
	w.f(`<line class="rule" x1="0" x2="100%%" y1="%d" y2="%d"/>`, w.y, w.y)
	format := "15:04:05"
	if w.d.End.Sub(w.d.Start) > 20*time.Hour {
		format = "2 Jan 15:04"
	}
	end := w.d.End.UTC().Format(format) + " UTC"
	if w.d.Live {
		end = "now"
	}
	if !w.d.Start.IsZero() {
		w.f(`<text class="soft" x="0" y="%d">%s</text><text class="soft" x="100%%" y="%d" text-anchor="end">%s</text>`,
			w.y+16, w.d.Start.UTC().Format(format), w.y+16, end)
	}
	w.y += 26
}

// legend explains only what is in the drawing.
func (w *svg) legend() {
	have := map[string]bool{}
	for i := range w.d.Lanes {
		for _, b := range w.d.Lanes[i].Bars {
			for _, s := range b.Segments {
				have[class(s.Outcome)] = true
			}
			have["commit"] = have["commit"] || b.Turns == 1 && !b.Turn.CommittedAt.IsZero()
		}
	}
	have["waiting"], have["alarm"] = len(w.d.Waits) > 0, len(w.d.Alarms) > 0
	x, y := 0, w.y
	for _, k := range [...][2]string{{"ok", "accepted"}, {"open", "at work"}, {"back", "refused or sent back"},
		{"bad", "failed, conflict"},
		{"gone", "given up"}, {"waiting", "a person is waited for"}, {"commit", "checkpoint"},
		{"alarm", "escalation"}} {
		if !have[k[0]] {
			continue
		}
		width := 26 + 7*len(k[1])
		if x+width > 330 && x > 0 {
			x, y = 0, y+18
		}
		switch k[0] {
		case "commit":
			w.f(`<circle class="commit" cx="%d" cy="%d" r="3.5"/>`, x+6, y+6)
		case "alarm":
			w.f(`<path class="alarm" d="M%d %dl6 11h-12z"/>`, x+6, y)
		case "waiting":
			w.f(`<rect class="waiting" x="%d" y="%d" width="12" height="11" rx="2" fill="url(#%s-hatch)"/>`, x, y,
				w.id)
		default:
			w.f(`<rect class="seg %s" x="%d" y="%d" width="12" height="11" rx="2"/>`, k[0], x, y)
		}
		w.f(`<text class="soft" x="%d" y="%d">%s</text>`, x+18, y+10, k[1])
		x += width
	}
	w.y = y + 18
}
