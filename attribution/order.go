// Which commits existed before a turn was assigned.

package attribution

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxHistory is how many commits are searched to determine what came first.
const maxHistory = 200_000

// existedBefore reports whether the commit existed before the turn was assigned, by the recorded positions of HEAD
// until then.
func (q *inquiry) existedBefore(id object.OID, t *Turn) (bool, error) {
	if t.assigned == 0 {
		return false, nil // rows of the first versions have no order
	}
	there, ok := q.there[t.Run]
	if !ok {
		var err error
		if there, err = q.recordedHeads(t.Run); err != nil {
			return false, err
		}
		q.there[t.Run] = there
	}
	at, ok := there[id]
	return ok && at <= t.assigned, nil
}

// recordedHeads returns for each commit the run's sequence number at which it is first known to be in HEAD's
// history.
func (q *inquiry) recordedHeads(run string) (map[object.OID]int, error) {
	type head struct {
		id object.OID
		at int
	}
	var heads []head
	for _, u := range q.book.byRun[run] {
		if u.assigned > 0 && u.baseline != "" {
			heads = append(heads, head{u.baseline, u.assigned})
		}
		if u.accepted > 0 && u.head != "" {
			heads = append(heads, head{u.head, u.accepted})
		}
	}
	slices.SortStableFunc(heads, func(a, b head) int { return a.at - b.at })
	if q.parents == nil {
		var tips []object.OID
		seen := make(map[object.OID]bool)
		for _, u := range q.book.turns {
			for _, h := range []object.OID{u.baseline, u.head} {
				if seen[h] {
					continue
				}
				seen[h] = true
				if c, err := q.past.Commit(h); err != nil {
					return nil, err
				} else if c != nil {
					tips = append(tips, h)
				}
			}
		}
		var err error
		if q.parents, err = history.Ancestry(q.ctx, q.repo, tips, maxHistory); err != nil {
			return nil, err
		}
		if q.parents == nil {
			q.parents = map[object.OID][]object.OID{}
		}
	}
	there := make(map[object.OID]int)
	for _, h := range heads {
		for todo := []object.OID{h.id}; len(todo) > 0; {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			parents, known := q.parents[id]
			if _, ok := there[id]; known && !ok {
				there[id] = h.at
				todo = append(todo, parents...)
			}
		}
	}
	return there, nil
}

// mayHave reports whether the turn may have written lines of the group: its commit did not exist before the turn
// was assigned, or it names the turn.
func (q *inquiry) mayHave(t *Turn, g *group) (bool, error) {
	if g.commit.Uncommitted() || slices.Contains(g.named, t) {
		return true, nil
	}
	existed, err := q.existedBefore(g.commit.OID, t)
	return !existed, err
}
