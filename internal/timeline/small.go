// A small version of the picture, for a page of many runs: bars by role, gates, waits, and no text.

package timeline

import (
	"fmt"
	"strings"
)

// Heights of the small picture, in pixels.
const (
	smallRow  = 8
	smallBar  = 6
	smallMax  = 12 // rows; the rest is left out
	smallPost = 4  // how far a gate's post protrudes
)

// Small renders a drawing as one image without links, with its summary line as description. The ids in it begin
// with id.
func (d *Drawing) Small(id string) string {
	w := &svg{d: d, id: id}
	y, rows := smallPost, 0
	for i := range d.Lanes {
		l := &d.Lanes[i]
		for j := range l.Bars {
			if b := &l.Bars[j]; rows+b.Row < smallMax {
				w.segments(b, y+(rows+b.Row)*smallRow, smallBar)
			}
		}
		rows += l.Rows
	}
	height := y + min(max(rows, 1), smallMax)*smallRow
	for _, x := range d.Waits[max(len(d.Waits)-maxMarks, 0):] {
		from, to := d.scale.at(x.Start), d.scale.at(x.End)
		w.f(`<rect class="wait" x="%s" y="%d" width="%s" height="%d"/>`, pc(from), height-2,
			pc(max(to-from, minShare)), smallPost)
	}
	for i := range d.Posts[max(len(d.Posts)-maxMarks, 0):] {
		p, shut := &d.Posts[max(len(d.Posts)-maxMarks, 0)+i], ""
		if !p.Opened {
			shut = " shut"
		}
		x := pc(d.scale.at(p.At))
		w.f(`<line class="post%s" x1="%s" x2="%s" y1="0" y2="%d"/>`, shut, x, x, height+smallPost)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="tl" width="100%%" height="%d" role="img" aria-labelledby="%s-title %s-desc">`,
		height+smallPost, w.id, w.id)
	fmt.Fprintf(&out, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>%s</svg>`, w.id, w.title(), w.id,
		esc(d.Line()), w.b.String())
	return out.String()
}

// segments draws the segments of a bar.
func (w *svg) segments(b *Bar, y, height int) {
	for _, s := range b.Segments {
		w.f(`<rect class="seg %s" x="%s" y="%d" width="%s" height="%d" rx="2"/>`,
			class(s.Outcome), pc(s.From), y, pc(max(s.To-s.From, 0.001)), height)
	}
}
