// The commits that an actor made during its turn.

package attribution

import (
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxRange is how many commits of one turn are followed.
const maxRange = 500

// ownRange has the commits between a turn's baseline and its acceptance.
type ownRange struct {
	commits map[object.OID]bool
	// sound: it is a single line of commits made after the turn was assigned. Merges and older commits came from
	// elsewhere, and then no commit is certainly the turn's.
	sound bool
}

// rangeOf follows first parents from the acceptance back to the baseline.
func (q *inquiry) rangeOf(t *Turn) (*ownRange, error) {
	if t.own != nil {
		return t.own, nil
	}
	t.own = &ownRange{commits: make(map[object.OID]bool), sound: true}
	if t.head == t.baseline || t.head == "" || t.baseline == "" {
		return t.own, nil
	}
	for id := t.head; id != t.baseline; {
		c, err := q.past.Commit(id)
		if err != nil {
			return nil, err
		}
		if c == nil || len(c.Parents) != 1 || len(t.own.commits) == maxRange || q.shallow[id] ||
			c.Committer.When.Before(t.started.Truncate(time.Second)) {
			t.own.sound = false
			break
		}
		t.own.commits[id] = true
		id = c.Parents[0]
	}
	return t.own, nil
}

// ownTurn returns the turn whose own commit this is, as far as the file is concerned. doubt has the possible turns
// when that is not certain.
func (q *inquiry) ownTurn(id object.OID, path string) (t *Turn, by Evidence, doubt []*Turn, err error) {
	c, err := q.past.Commit(id)
	if err != nil || c == nil {
		return nil, "", nil, err
	}
	named := namedTurns(c.Message)
	type claim struct {
		t  *Turn
		by Evidence
	}
	var claims []claim
	for _, t := range q.book.turns {
		if t.Active() || !slices.Contains(t.files, path) {
			continue
		}
		if t.checkpoint == id && slices.Contains(named, t.ID) {
			// Only a commit that was made as a checkpoint is one: without changes to commit, the row names the HEAD
			// of that time.
			claims = append(claims, claim{t, ByCheckpoint})
			continue
		}
		if t.applied[path] == id && slices.Contains(named, t.ID) {
			claims = append(claims, claim{t, ByProposal})
			continue
		}
		own, err := q.rangeOf(t)
		if err != nil {
			return nil, "", nil, err
		}
		if own.sound && own.commits[id] {
			claims = append(claims, claim{t, ByRange})
		}
	}
	switch {
	case len(claims) == 0:
		return nil, "", nil, nil
	case len(claims) > 1, q.shallow[id], len(c.Parents) > 1,
		claims[0].by == ByRange && slices.ContainsFunc(named, func(n string) bool { return n != claims[0].t.ID }):
		for _, c := range claims {
			doubt = append(doubt, c.t)
		}
		return nil, "", doubt, nil
	}
	t, by = claims[0].t, claims[0].by
	if m, known := t.mark(path); known &&
		(m == "" || m == gitstore.FingerprintDeleted || m == gitstore.FingerprintUnreadable) {
		return nil, "", []*Turn{t}, nil // declared, but not changed by the turn
	}
	if u := q.book.sharedWith(t, path); u != nil {
		return nil, "", []*Turn{t, u}, nil
	}
	mixed, err := t.mixed(path)
	if mixed || err != nil {
		return nil, "", []*Turn{t}, err
	}
	return t, by, nil, nil
}

// maxKept bounds the contents kept of the files read, in bytes.
const maxKept = 256 << 20

// confirm drops the checkpoints whose file differs from the accepted one: it was changed in between, so the author
// of a line is unknown.
func (q *inquiry) confirm() error {
	a := &asks{}
	kept := 0
	wrong := make(map[*group]object.OID)
	for _, g := range q.groups {
		if g.own == nil || g.by != ByCheckpoint || g.own.marks == nil {
			continue
		}
		name := string(g.commit.OID) + ":" + g.path
		a.ask(name, func(o git.Named) {
			if kept += len(o.Data); kept < maxKept {
				q.blobs[name] = o // it will be asked for again
			}
			if c := (&change{turn: g.own, path: g.path}); !o.Found || !c.matches(o.Data, fromCheckpoint) {
				wrong[g] = o.OID
			}
		})
	}
	if err := q.read(a); err != nil {
		return err
	}
	var groups []*group
	var blobs []git.Filed
	for _, g := range q.groups {
		if blob, ok := wrong[g]; ok {
			groups = append(groups, g)
			blobs = append(blobs, git.Filed{OID: blob, Path: g.path})
		}
	}
	err := q.repo.CheckedOut(q.ctx, blobs, func(i int, sum string) {
		if groups[i].own.marked(groups[i].path, sum) {
			delete(wrong, groups[i])
		}
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		if _, ok := wrong[g]; ok {
			g.doubt, g.own = []*Turn{g.own}, nil
		}
	}
	return nil
}
