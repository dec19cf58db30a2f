// Who wrote a line whose commit is not a turn's own.

package attribution

import (
	"path"
	"slices"
)

// tellingText is how many letters and digits a line needs to identify its writer: anybody might write less.
const tellingText = 12

// settled is a line attributed to a turn's change.
type settled struct {
	change *change
	pair   *pair
	at     int // index in the pair's after
}

func (q *inquiry) answer(g *group) error {
	switch {
	case g.own != nil:
		for _, i := range g.lines {
			q.lines[i].Answer = Answer{Kind: KindTurn, Turn: g.own, Evidence: g.by}
		}
		return nil
	case len(g.doubt) > 0:
		why := "several turns may have made the commit"
		if len(g.doubt) == 1 {
			why = "the turn declares the file, but what of the commit is its work is not certain"
		}
		for _, i := range g.lines {
			q.lines[i].Answer = Answer{Kind: KindUnknown, Candidates: g.doubt, Why: why}
		}
		return nil
	case g.commit.Uncommitted():
		return q.answerUncommitted(g)
	}
	done, err := q.settle(g)
	if err != nil {
		return err
	}
	for _, i := range g.lines {
		var err error
		if q.lines[i].Answer, err = q.answerOrphan(g, &q.lines[i], done[i]); err != nil {
			return err
		}
	}
	return nil
}

// settle attributes lines to the changes that certainly added them.
func (q *inquiry) settle(g *group) (map[int]settled, error) {
	done := make(map[int]settled)
	may := false
	for _, i := range g.lines {
		may = may || len(q.places[text(&q.lines[i])]) > 0
	}
	if !may {
		return done, nil
	}
	count := make(map[string]int)
	for _, l := range splitLines(g.text) {
		count[l]++
	}
	for _, i := range g.lines {
		l := &q.lines[i]
		t := text(l)
		turns, s, err := q.writers(g, t)
		if err != nil {
			return nil, err
		}
		if len(turns) == 1 && !l.Guessed && telling(t) >= tellingText && count[t] <= s.pair.count[t] {
			done[i] = s
		}
	}
	// A commit that changes the file exactly as one turn did has that turn's lines, however common they are.
	if len(done) < len(g.lines) {
		if c := q.samePatch(g); c != nil {
			for _, i := range g.lines {
				for _, s := range q.places[text(&q.lines[i])] {
					if _, have := done[i]; !have && s.change == c && !q.lines[i].Guessed {
						done[i] = s
					}
				}
			}
		}
	}
	// So do the neighbours of a turn's line that were next to it then.
	for range 2 {
		for k := 1; k < len(g.lines); k++ {
			q.grow(done, g.lines[k-1], g.lines[k], 1)
		}
		for k := len(g.lines) - 1; k > 0; k-- {
			q.grow(done, g.lines[k], g.lines[k-1], -1)
		}
	}
	return done, nil
}

// grow settles line j if its neighbour i is settled.
func (q *inquiry) grow(done map[int]settled, i, j, step int) {
	s, ok := done[i]
	if _, have := done[j]; !ok || have || q.lines[j].Guessed || q.lines[j].Original != q.lines[i].Original+step {
		return
	}
	at := s.at + step
	if at >= 0 && at < len(s.pair.after) && s.pair.new[at] && s.pair.after[at] == text(&q.lines[j]) {
		done[j] = settled{s.change, s.pair, at}
	}
}

// index notes where changes added the wanted lines.
func (q *inquiry) index() {
	q.places = make(map[string][]settled)
	for _, c := range q.changes {
		for _, p := range c.pairs {
			p.count = make(map[string]int)
			for at, l := range p.after {
				if !c.wanted[l] {
					continue
				}
				p.count[l]++
				if p.new[at] {
					q.places[l] = append(q.places[l], settled{c, p, at})
				}
			}
		}
	}
}

// writers returns the turns whose change added a text, with the first place of it; it skips turns that were
// assigned after the group's commit was made.
func (q *inquiry) writers(g *group, text string) (list []*Turn, first settled, err error) {
	for _, s := range q.places[text] {
		if slices.Contains(list, s.change.turn) {
			continue
		}
		may, err := q.mayHave(s.change.turn, g)
		if err != nil {
			return nil, first, err
		}
		if !may {
			continue
		}
		if len(list) == 0 {
			first = s
		}
		list = append(list, s.change.turn)
	}
	return list, first, nil
}

// samePatch returns the only change that did to the file what the commit does; nil when there is none or when
// anyone could have made the change.
func (q *inquiry) samePatch(g *group) *change {
	if !g.compared {
		g.compared, g.same = true, q.findPatch(g)
	}
	return g.same
}

func (q *inquiry) findPatch(g *group) *change {
	before, after := splitLines(g.before), splitLines(g.text)
	hunks, ok := difference(before, after)
	if !ok || !g.read {
		return nil
	}
	p := patch(before, after, hunks)
	if p == "" {
		return nil
	}
	var found *change
	for _, c := range q.changes {
		if !slices.ContainsFunc(c.pairs, func(x *pair) bool { return x.patch == p }) {
			continue
		}
		if telling(p) < tellingText && !slices.Contains(g.named, c.turn) || found != nil && found.turn != c.turn {
			return nil
		}
		found = c
	}
	return found
}

// answerOrphan answers for a line of a commit that is not a turn's own.
func (q *inquiry) answerOrphan(g *group, l *Line, s settled) (Answer, error) {
	open, err := q.openTurns(g, l)
	if err != nil {
		return Answer{}, err
	}
	if s.change != nil {
		t := s.change.turn
		if u := q.book.sharedWith(t, s.change.path); u != nil {
			return Answer{
				Kind:       KindUnknown,
				Candidates: []*Turn{t, u},
				Why:        "two turns worked on the file at the same time",
			}, nil
		}
		if mixed, err := t.mixed(s.change.path); mixed || err != nil {
			return Answer{
				Kind:       KindUnknown,
				Candidates: []*Turn{t},
				Why:        "the file had uncommitted changes before the turn was assigned",
			}, err
		}
		// The commit names another turn whose change cannot be compared.
		for _, u := range open {
			if slices.Contains(g.named, u) {
				return Answer{
					Kind:       KindUnknown,
					Candidates: []*Turn{t, u},
					Why:        "the commit names one turn and its content speaks for another",
				}, nil
			}
		}
		by := ByContent
		switch {
		case slices.Contains(g.named, t):
			by = ByTrailer
		case q.samePatch(g) == s.change:
			by = ByPatch
		}
		return Answer{Kind: KindTurn, Turn: t, Evidence: by}, nil
	}
	// Turns whose change has the line, though not certainly.
	may, _, err := q.writers(g, text(l))
	if err != nil {
		return Answer{}, err
	}
	unknown := func(why string) (Answer, error) {
		return Answer{Kind: KindUnknown, Candidates: may, Named: g.strangers, Why: why}, nil
	}
	switch {
	case len(may) > 1:
		return unknown("several turns wrote such a line")
	case len(may) == 1:
		return unknown("a turn wrote such a line, but others may have too")
	case l.Guessed:
		may = g.named
		return unknown("git was told to ignore the commit that changed the line last")
	case len(open) > 0:
		may = open
		return unknown("the turn's own change is no longer in this repository to compare with")
	case len(g.strangers) > 0:
		return unknown("the commit names a turn that no run here has accepted")
	case q.shallow[g.commit.OID]:
		return unknown("this clone's history ends at the commit")
	}
	return Answer{Kind: KindPerson}, nil
}

// openTurns returns the turns that may have written a line although nothing of their change remains to show it,
// without those assigned after the commit was made.
func (q *inquiry) openTurns(g *group, l *Line) ([]*Turn, error) {
	var open []*Turn
	for _, t := range q.book.turns {
		switch {
		case t.Active() &&
			!(t.declares(g.path) || slices.ContainsFunc(t.files, func(p string) bool { return q.becameOf(p, g) })),
			!t.Active() && !slices.ContainsFunc(q.opaque[t], func(c *change) bool { return q.mayHold(c, g, text(l)) }):
			continue
		}
		may, err := q.mayHave(t, g)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		open = append(open, t)
	}
	return open, nil
}

// mayHold reports whether a line may belong to a change that is only partly known.
func (q *inquiry) mayHold(c *change, g *group, text string) bool {
	if !q.becameOf(c.path, g) {
		return false
	}
	if c.left == nil {
		// Its result is known, if not its start: a line missing from the result is not its own.
		left := c.altered
		if len(c.versions) > 0 {
			left = &c.versions[0].text
		}
		if left == nil {
			return true
		}
		c.left = make(map[string]bool)
		for _, l := range splitLines(*left) {
			c.left[l] = true
		}
	}
	return c.left[text]
}

// becameOf reports whether a turn's file may have become the group's: by a name that it is known to have had, or
// because it is gone and of the same kind. A squash hides renames, including those that were undone.
func (q *inquiry) becameOf(p string, g *group) bool {
	return q.names[p] || q.gone[p] && path.Ext(p) == path.Ext(g.path)
}
