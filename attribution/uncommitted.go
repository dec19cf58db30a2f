// Who wrote a line that is only in the work tree.

package attribution

// answerUncommitted answers for lines that are only in the work tree.
func (q *inquiry) answerUncommitted(g *group) error {
	var may []*Turn
	for _, t := range q.book.turns {
		if t.Active() && t.declares(g.path) {
			may = append(may, t)
		}
	}
	var left *change // accepted, waiting for its checkpoint, with the file unchanged
	for _, c := range q.changes {
		if c.path != q.query.Path {
			continue
		}
		if t := c.turn; t.commitOf(c.path) == "" {
			mixed, err := t.mixed(c.path)
			if err != nil {
				return err
			}
			if len(c.pairs) > 0 && q.work != nil && !mixed && c.matches(q.work, fromElsewhere) &&
				q.book.sharedWith(t, c.path) == nil {
				left = c
			} else {
				may = append(may, t)
			}
		}
		break // the work of earlier turns was committed when this one was assigned
	}
	for _, i := range g.lines {
		l := &q.lines[i]
		at := l.Number - 1
		switch {
		case left != nil && at < len(left.pairs[0].new) && left.pairs[0].new[at]:
			l.Answer = Answer{Kind: KindTurn, Turn: left.turn, Evidence: ByAccepted}
		case len(may) > 0:
			l.Answer = Answer{
				Kind:       KindUnknown,
				Candidates: may,
				Why:        "it is not committed, and the turn's work on the file is not checkpointed yet",
			}
		default:
			l.Answer = Answer{Kind: KindPending}
		}
	}
	return nil
}
