// The time, attempts and cost of a picture's turns, in total and by role and phase.

package timeline

import (
	"strconv"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Sum is the total for a role, a phase or the whole run.
type Sum struct {
	Name                      string        `json:"name"`
	Turns                     int           `json:"turns"`
	Retries                   int           `json:"retries"`
	USD                       float64       `json:"usd"`
	InputTokens, OutputTokens int64         `json:"-"`
	Worked                    time.Duration `json:"-"`
}

func (s *Sum) add(t *Turn) {
	s.Turns++
	s.Retries += t.retries()
	s.USD += t.USD
	s.InputTokens += t.InputTokens
	s.OutputTokens += t.OutputTokens
	s.Worked += t.Worked()
}

// Total sums up every turn.
func (p *Picture) Total() Sum {
	s := Sum{}
	for i := range p.Turns {
		s.add(&p.Turns[i])
	}
	return s
}

// ByRole and ByPhase sum up turns, in the order of their first turn.
func (p *Picture) ByRole() []Sum { return p.sums(func(t *Turn) string { return t.Role }) }

func (p *Picture) ByPhase() []Sum { return p.sums(func(t *Turn) string { return t.Phase }) }

func (p *Picture) sums(of func(*Turn) string) (out []Sum) {
	at := make(map[string]int)
	for i := range p.Turns {
		name := of(&p.Turns[i])
		j, ok := at[name]
		if !ok {
			j = len(out)
			at[name] = j
			out = append(out, Sum{Name: name})
		}
		out[j].add(&p.Turns[i])
	}
	return out
}

// Waited returns how long the run waited for people.
func (p *Picture) Waited() (d time.Duration) {
	for _, w := range p.Waits {
		d += w.End.Sub(w.Start)
	}
	return d
}

// Line summarises the picture in one line.
func (p *Picture) Line() string {
	s := p.Total()
	out := text.Count(s.Turns, "turn", "turns") + " in " + Lasting(p.End.Sub(p.Start))
	if s.Retries > 0 {
		out += ", " + text.Count(s.Retries, "retry", "retries")
	}
	out += ". Agents worked " + Lasting(s.Worked)
	if d := p.Waited(); d > 0 {
		out += "; people were waited for " + Lasting(d)
	}
	if s.USD > 0 {
		out += "; $" + strconv.FormatFloat(s.USD, 'f', 2, 64)
	}
	return out + "."
}

// Lasting formats a duration for people, in at most two units.
func Lasting(d time.Duration) string {
	unit := func(n time.Duration, name string) string { return strconv.FormatInt(int64(n), 10) + " " + name }
	two := func(a time.Duration, an string, b time.Duration, bn string) string {
		if b == 0 {
			return unit(a, an)
		}
		return unit(a, an) + " " + unit(b, bn)
	}
	switch d = max(d, 0); {
	case d < time.Second:
		return unit(d/time.Millisecond, "ms")
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return unit(d/time.Second, "s")
	case d < time.Hour:
		return two(d/time.Minute, "min", d%time.Minute/time.Second, "s")
	case d < 48*time.Hour:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "min")
	}
	return two(d/(24*time.Hour), "d", d%(24*time.Hour)/time.Hour, "h")
}
