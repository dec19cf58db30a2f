// Drawings: the phases as a track, a sum and its limit, the picture of the run.

package dashboard

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
)

// stop is a phase on the track of phases.
type stop struct {
	Class      string // done, current, stuck, ahead
	Name, Note string
	Mark       string // inside the circle
}

// clock returns the end of open parts in a picture: now, and in an artifact its last row.
func (v *view) clock() time.Time {
	if v.srv.opt.Replay != nil {
		return time.Time{}
	}
	return v.Now
}

// drawing returns the picture of the run, or of one phase of it.
func (v *view) drawing(phase string) *timeline.Drawing {
	if d, ok := v.s.pictures.Load(phase); ok {
		return d.(*timeline.Drawing)
	}
	var facts []*timeline.Fact
	for _, l := range []*ledger{v.m.events, v.m.history, v.m.decisions} {
		rows := l.entries()
		for i := range rows {
			facts = append(facts, rows[i].fact)
		}
	}
	opt := timeline.Options{Phase: phase, Now: v.clock()}
	if si := v.s.Sight; si != nil {
		opt.Run = si.View.Run
	}
	d := timeline.Draw(timeline.Build(facts, opt))
	if len(d.Phases) > 0 || phase == "" { // a made-up phase in an address is not cached
		v.s.pictures.Store(phase, d)
	}
	return d
}

// ofInitiative is the key of the initiative's picture among those of the phases, none of which has
// that name.
const ofInitiative = "\x00"

// initiativeDrawing returns the picture of the initiative, a lane for each repository.
func (v *view) initiativeDrawing(in *coordinator.Standing) *timeline.Drawing {
	if d, ok := v.s.pictures.Load(ofInitiative); ok {
		return d.(*timeline.Drawing)
	}
	phases := in.Config.Phases()
	phaseOf := func(workstream string) string {
		if w := in.Config.Workstream(workstream); w != nil {
			return w.Phase
		}
		if len(phases) > 0 {
			return phases[0] // the phase it begins in
		}
		return ""
	}
	var facts []*timeline.Fact
	for _, row := range in.History.Rows() {
		facts = append(facts, timeline.Coordination(row, phaseOf)...)
	}
	d := timeline.Draw(timeline.Build(facts, timeline.Options{Run: in.State.SuperRunID, Now: v.clock()}))
	v.s.pictures.Store(ofInitiative, d)
	return d
}

// pictureRows is how many rows the table below the picture has.
const pictureRows = 40

// picture shows the run, or the phase in the address.
func (v *view) picture() block {
	phase := v.q.Get("phase")
	d := v.drawing(phase)
	b := block{ID: "picture", Title: "The run in time"}
	if phase != "" {
		b.Title = "Phase " + plain(phase) + " in time"
		b.All = cell{Text: "The whole run", Href: "/"}
	}
	return v.pictureOf(d, b, func(phase string) string { return "/?phase=" + url.QueryEscape(phase) })
}

// pictureOf completes the block of a drawing; zoom returns the address of one phase of it, nil for
// none.
func (v *view) pictureOf(d *timeline.Drawing, b block, zoom func(phase string) string) block {
	if len(d.Turns) == 0 && len(d.Posts) == 0 {
		b.Empty = "Nothing has happened yet."
		return b
	}
	b.Note = d.Line()
	if d.Merged {
		b.Note += " Neighbouring turns share a bar, whose parts are how many came to what."
		if zoom != nil {
			b.Note += " Choose a phase to see less of the run."
		}
	}
	turn := func(id string) string { return "/turns/" + url.PathEscape(id) }
	if slices.ContainsFunc(d.Turns, func(t timeline.Turn) bool { return t.Repo != "" }) {
		turn = nil // of another repository, whose dashboard has its page
	}
	b.Drawing = template.HTML(d.SVG(timeline.Look{ //nolint:gosec // it escapes what it shows
		Turn: turn,
		Zoom: zoom,
	}))
	rows, left := d.Rows(pictureRows)
	part := block{
		ID:     "picture-table",
		Title:  "The same as a table",
		Folded: true,
		Table:  &table{Head: timeline.Head()},
	}
	if left > 0 {
		part.Note = counted(left, "earlier row is", "earlier rows are") + " left out"
		if turn != nil {
			part.Note += ": git agentxchain timeline --json"
		}
	}
	for _, r := range rows {
		cells := []cell{{Text: r.Cells[0], Time: r.At}}
		for _, c := range r.Cells[1:] {
			cells = append(cells, text(c))
		}
		if r.Turn != "" && turn != nil {
			cells[1] = turnLink(r.Turn)
		}
		if r.Bad {
			cells[4].Tone = warn
		}
		part.Table.Rows = append(part.Table.Rows, cells)
	}
	b.Parts = []block{part}
	return b
}

func fit(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	r := []rune(s)
	return string(r[:runes-1]) + "…"
}

// meter is a sum and its limit.
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

// Percent returns the share for people.
func (m *meter) Percent() string { return strconv.Itoa(m.Share/10) + " %" }
