// The layout: lanes, rows within them, and positions in time.

package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Limits of a drawing, whatever the length of the run.
const (
	maxBars     = 150   // with more turns, neighbours share a bar
	maxLanes    = 16    // with more roles, the last ones share a lane
	maxRows     = 6     // per lane
	maxSegments = 6     // per bar
	maxMarks    = 60    // posts, waits, escalations, arrows, each: only the newest are drawn
	minShare    = 0.006 // minimum width of a bar, as a share
)

// Drawing is a picture with its layout. Positions in time are fractions of the width, 0 to 1.
type Drawing struct {
	*Picture
	Lanes  []Lane
	Merged bool // some bars represent several turns
	scale  scale
}

// Lane holds the turns of one role, or of one repository of an initiative. Bars in one row do not overlap.
type Lane struct {
	Name  string
	Turns int
	Rows  int
	Bars  []Bar
}

// Bar is one turn, or neighbouring ones.
type Bar struct {
	Row      int
	From, To float64
	Turn     *Turn // the only one, else the first
	Turns    int
	Segments []Segment
	Retries  int
	USD      float64
	End      time.Time

	counts [len(outcomes)]int // for a bar of several turns
}

// Segment is an attempt. Its positions are fractions of the width.
type Segment struct {
	From, To float64
	Outcome  string
}

// Draw lays a picture out.
func Draw(p *Picture) *Drawing {
	d := &Drawing{Picture: p, scale: newScale(p)}
	lane := make(map[string]int)
	for i := range p.Turns {
		t := &p.Turns[i]
		name := t.lane()
		j, ok := lane[name]
		if !ok {
			if j = len(d.Lanes); j >= maxLanes {
				j = maxLanes - 1
				if d.Lanes[j].Name = "other roles"; t.Repo != "" {
					d.Lanes[j].Name = "other repositories"
				}
			} else {
				d.Lanes = append(d.Lanes, Lane{Name: name})
			}
			lane[name] = j
		}
		d.add(&d.Lanes[j], t)
	}
	d.Merged = len(p.Turns) > maxBars
	for i := range d.Lanes {
		l := &d.Lanes[i]
		if d.Merged {
			l.merge(max(maxBars/len(d.Lanes), 8))
		}
		l.stack()
	}
	return d
}

func (d *Drawing) add(l *Lane, t *Turn) {
	b := Bar{
		From:    d.scale.at(t.Start),
		To:      d.scale.at(t.End),
		Turn:    t,
		Turns:   1,
		Retries: t.retries(),
		USD:     t.USD,
		End:     t.End,
	}
	if b.To < b.From+minShare {
		b.To = b.From + minShare
		if b.To > 1 {
			b.From, b.To = 1-minShare, 1
		}
	}
	for _, a := range t.Attempts {
		b.Segments = append(b.Segments,
			Segment{max(d.scale.at(a.Start), b.From), min(d.scale.at(a.End), b.To), a.Outcome})
	}
	if k := len(b.Segments) - 1; k >= maxSegments { // merge all but the last
		worst := slices.MaxFunc(b.Segments[:k], func(x, y Segment) int {
			return cmp.Compare(badness(x.Outcome), badness(y.Outcome))
		})
		b.Segments = []Segment{{b.From, b.Segments[k].From, worst.Outcome}, b.Segments[k]}
	}
	b.Segments[len(b.Segments)-1].To = b.To
	l.Turns++
	l.Bars = append(l.Bars, b)
}

// merge merges the bars that begin in the same of n slices of time.
func (l *Lane) merge(n int) {
	sort.SliceStable(l.Bars, func(i, j int) bool { return l.Bars[i].From < l.Bars[j].From })
	out := l.Bars[:0]
	for _, b := range l.Bars {
		if k := len(out) - 1; k >= 0 && int(out[k].From*float64(n)) == int(b.From*float64(n)) {
			out[k].join(&b)
			continue
		}
		out = append(out, b)
	}
	for i := range out[:max(len(out)-1, 0)] { // a group ends where the next one begins
		if b, next := &out[i], out[i+1].From; b.Turns > 1 && b.To > next && next > b.From+minShare {
			b.To = next
			b.spread()
		}
	}
	l.Bars = out
}

// join merges another bar into b. The segments of a bar of several turns show how many turns had which outcome, the
// worst of each.
func (b *Bar) join(o *Bar) {
	b.counted()
	o.counted()
	for i, n := range o.counts {
		b.counts[i] += n
	}
	b.Turns += o.Turns
	b.Retries += o.Retries
	b.USD += o.USD
	b.To = max(b.To, o.To)
	if o.End.After(b.End) {
		b.End = o.End
	}
	b.spread()
}

// spread gives each outcome its share of the bar.
func (b *Bar) spread() {
	b.Segments = nil
	x := b.From
	for i, n := range b.counts {
		if n > 0 {
			to := x + (b.To-b.From)*float64(n)/float64(b.Turns)
			b.Segments = append(b.Segments, Segment{x, to, outcomes[i]})
			x = to
		}
	}
}

// counted counts the single turn of an unmerged bar.
func (b *Bar) counted() {
	if b.Turns != 1 {
		return
	}
	worst := 0
	for _, s := range b.Segments {
		worst = max(worst, badness(s.Outcome))
	}
	b.counts[worst] = 1
}

// outcomes of a turn, worst last.
var outcomes = [...]string{Accepted, Open, GivenUp, Refused, SentBack, Conflict, Stalled, Failed}

func badness(outcome string) int { return max(slices.Index(outcomes[:], outcome), 0) }

// stack puts every bar into the first row with room; if none has room, it merges it into the last bar of the last
// row.
func (l *Lane) stack() {
	sort.SliceStable(l.Bars, func(i, j int) bool { return l.Bars[i].From < l.Bars[j].From })
	var last []int // by row: the index of its last bar in out
	out := make([]Bar, 0, len(l.Bars))
	for _, b := range l.Bars {
		row := slices.IndexFunc(last, func(i int) bool { return out[i].To <= b.From })
		switch {
		case row >= 0:
			last[row] = len(out)
		case len(last) < maxRows:
			row = len(last)
			last = append(last, len(out))
		default:
			out[last[maxRows-1]].join(&b)
			continue
		}
		b.Row = row
		out = append(out, b)
	}
	l.Bars, l.Rows = out, max(len(last), 1)
}

// scale maps time to the width. Times without work on any turn are drawn short: a night of waiting would leave no
// room for the work.
type scale struct {
	times []time.Time
	place []float64
}

// idleShare is the maximum share of the worked time that one idle time may take.
const idleShare = 0.08

func newScale(p *Picture) scale {
	type span struct{ from, to time.Time }
	var busy []span
	for i := range p.Turns {
		for _, a := range p.Turns[i].Attempts {
			if a.End.After(a.Start) {
				busy = append(busy, span{a.Start, a.End})
			}
		}
	}
	slices.SortFunc(busy, func(a, b span) int { return a.from.Compare(b.from) })
	worked := time.Duration(0)
	joined := busy[:0]
	for _, s := range busy {
		if n := len(joined); n > 0 && !s.from.After(joined[n-1].to) {
			if s.to.After(joined[n-1].to) {
				joined[n-1].to = s.to
			}
			continue
		}
		joined = append(joined, s)
	}
	for _, s := range joined {
		worked += s.to.Sub(s.from)
	}
	limit := p.End.Sub(p.Start)
	if worked > 0 {
		limit = max(time.Duration(float64(worked)*idleShare), time.Millisecond)
	}
	sc, now, x := scale{times: []time.Time{p.Start}, place: []float64{0}}, p.Start, 0.0
	step := func(to time.Time, width time.Duration) {
		if to.After(now) {
			now, x = to, x+float64(width)
			sc.times, sc.place = append(sc.times, now), append(sc.place, x)
		}
	}
	for _, s := range joined {
		step(s.from, min(s.from.Sub(now), limit))
		step(s.to, s.to.Sub(now))
	}
	step(p.End, min(p.End.Sub(now), limit))
	for i := range sc.place {
		if x > 0 {
			sc.place[i] /= x
		}
	}
	return sc
}

// at returns the position of a time, between 0 and 1.
func (s scale) at(t time.Time) float64 {
	i := sort.Search(len(s.times), func(i int) bool { return s.times[i].After(t) })
	if i == 0 {
		return 0
	}
	if i == len(s.times) {
		return s.place[i-1]
	}
	part := float64(t.Sub(s.times[i-1])) / float64(s.times[i].Sub(s.times[i-1]))
	return s.place[i-1] + part*(s.place[i]-s.place[i-1])
}

// label describes a bar in a few words.
func (b *Bar) label() string {
	if b.Turns > 1 {
		return text.Count(b.Turns, "turn", "turns")
	}
	return b.Turn.ID
}

// title is everything a bar says, on one line.
func (b *Bar) title() string {
	t := b.Turn
	s := ""
	if b.Turns == 1 {
		s = fmt.Sprintf("%s, %s in %s: %s after %s", t.ID, t.who(), t.Phase, t.Outcome, Lasting(t.Worked()))
		for _, a := range t.Attempts {
			if a.Why != "" {
				s += "; " + a.Outcome + ": " + a.Why
			}
		}
	} else {
		s = fmt.Sprintf("%d turns from %s to %s", b.Turns, stamp(t.Start), stamp(b.End))
		if b.Retries > 0 {
			s += ", " + text.Count(b.Retries, "retry", "retries")
		}
	}
	if b.USD > 0 {
		s += "; " + dollars(b.USD)
	}
	return text.ClipRunes(s, 400)
}

// dollars formats a sum to the cent.
func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// Head and Rows give the picture as a table in the order of time. For a long run the rows are those of the drawing:
// neighbouring turns are merged.
func Head() []string {
	return []string{"Begun (UTC)", "What", "Role", "Phase", "Outcome", "Took", "Cost", "Why"}
}

// Row is a line of the table. Turn is set if the line is about one turn.
type Row struct {
	At    time.Time
	Turn  string
	Bad   bool
	Cells []string // in the order of Head
}

// Rows returns the lines, at most limit; left is how many more there are.
func (d *Drawing) Rows(limit int) (rows []Row, left int) {
	add := func(at time.Time, turn string, bad bool, cells ...string) {
		rows = append(rows, Row{at, turn, bad, append([]string{stamp(at)}, cells...)})
	}
	for i := range d.Lanes {
		for j := range d.Lanes[i].Bars {
			b := &d.Lanes[i].Bars[j]
			t, cost := b.Turn, ""
			if b.USD > 0 {
				cost = dollars(b.USD)
			}
			if b.Turns > 1 {
				add(t.Start, "", b.Retries > 0, b.label(), d.Lanes[i].Name, t.Phase, "", Lasting(b.End.Sub(t.Start)),
					cost,
					retries(b.Retries))
				continue
			}
			for k, a := range t.Attempts {
				if k < len(t.Attempts)-1 {
					add(a.Start, t.ID, true, t.ID, t.who(), t.Phase, a.Outcome, Lasting(a.End.Sub(a.Start)), "", a.Why)
				} else {
					add(a.Start, t.ID, badness(a.Outcome) > 1, t.ID, t.who(), t.Phase, t.Outcome,
						Lasting(a.End.Sub(a.Start)), cost,
						cmp.Or(a.Why, t.Summary))
				}
			}
		}
	}
	for _, g := range d.Posts {
		outcome := "opened"
		if !g.Opened {
			outcome = "stays shut"
		}
		if g.By != "" {
			outcome += " by " + g.By
		}
		add(g.At, "", !g.Opened, "gate "+g.Gate, "", g.From, outcome, "", "", g.Why)
	}
	for _, w := range d.Waits {
		add(w.Start, "", false, "a person is waited for", "", w.Phase, map[bool]string{true: "still"}[w.Open],
			Lasting(w.End.Sub(w.Start)), "", w.For)
	}
	for _, a := range d.Alarms {
		add(a.At, "", true, "escalation", "", "", "", "", "", a.Why)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.At.Compare(b.At) })
	if left = max(len(rows)-limit, 0); left > 0 {
		rows = rows[left:]
	}
	return rows, left
}

func retries(n int) string {
	if n == 0 {
		return ""
	}
	return text.Count(n, "retry", "retries")
}
