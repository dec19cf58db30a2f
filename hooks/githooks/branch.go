// A branch that moves: every commit that is new to it is judged.

package githooks

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore"
)

// maxNewCommits bounds how many commits are judged one by one. Of a longer
// stretch the end is judged against the beginning, which is what the branch
// shows.
const maxNewCommits = 1000

// move is a ref that goes from one object to another; "" is none.
type move struct {
	old, new gitstore.OID
	ref      string
}

// branch judges the commits that a branch gains. Commits that another branch
// already holds were judged when they came there, so going back is free.
// runs are further runs that confirm records, such as those of one push.
func (g *guarded) branch(m move, local bool, runs []*gitstore.RunRecord) error {
	if m.new == "" {
		return nil // a branch that goes away takes nothing along that runs do not hold
	}
	commits, parents, err := g.gained(m)
	if err != nil || len(commits) == 0 {
		return err
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return err
	}
	// The rules are the ones that held before; a first commit brings its own.
	rules := m.old
	var judges []*judge
	for _, prefix := range prefixes {
		j := &judge{ctx: g.ctx, repo: g.repo, prefix: prefix, report: g.find, runs: runs, runsRead: runs != nil}
		if rules != "" {
			if j.config, err = readConfig(g.ctx, g.repo, rules, prefix); err != nil {
				return err
			}
		}
		if j.config == nil {
			if j.config, err = readConfig(g.ctx, g.repo, m.new, prefix); err != nil {
				return err
			}
		}
		if j.config != nil {
			judges = append(judges, j)
		}
	}
	if len(judges) == 0 {
		return nil
	}
	changes, err := g.repo.CommitChanges(g.ctx, commits, parents)
	if err != nil {
		return err
	}
	var elsewhere func(gitstore.OID) func() (bool, error)
	if local {
		elsewhere = g.madeElsewhere(m.new)
	}
	for i := 0; i < len(changes); {
		n := i + 1
		for n < len(changes) && changes[n].Commit == changes[i].Commit {
			n++
		}
		for _, j := range judges {
			if err := g.commit(j, changes[i:n], elsewhere); err != nil {
				return err
			}
		}
		i = n
	}
	return nil
}

// commit judges one commit by its differences to each parent.
func (g *guarded) commit(j *judge, against []gitstore.CommitChange, elsewhere func(gitstore.OID) func() (bool, error)) error {
	first := against[0]
	seen := make([]map[string]gitstore.TreeChange, len(against))
	for i := range against[1:] {
		seen[i+1] = make(map[string]gitstore.TreeChange, len(against[i+1].Changes))
		for _, c := range against[i+1].Changes {
			seen[i+1][c.Path] = c
		}
	}
	judge := func(c gitstore.TreeChange) error {
		e := edit{TreeChange: c, commit: string(first.Commit)}
		for _, other := range seen[1:] {
			if o, differs := other[c.Path]; differs {
				e.others = append(e.others, o.OldOID)
			} else {
				e.others = append(e.others, c.NewOID)
			}
		}
		if elsewhere != nil {
			e.elsewhere = elsewhere(first.Commit)
		}
		return j.change(e)
	}
	known := make(map[string]bool, len(first.Changes))
	for _, c := range first.Changes {
		known[c.Path] = true
		if err := judge(c); err != nil {
			return err
		}
	}
	// What a merge takes from its first parent whole may still lose what another
	// parent had.
	for _, other := range against[min(1, len(against)):] {
		for _, c := range other.Changes {
			if known[c.Path] {
				continue
			}
			known[c.Path] = true
			same := c
			same.OldOID, same.OldMode = c.NewOID, c.NewMode // unchanged against the first
			if err := judge(same); err != nil {
				return err
			}
		}
	}
	return nil
}

// gained lists the commits a branch gains that no branch holds yet.
func (g *guarded) gained(m move) ([]gitstore.OID, map[gitstore.OID][]gitstore.OID, error) {
	ps, err := g.repo.Parents(g.ctx, m.new)
	if err == nil && len(ps) == 1 && ps[0] == m.old {
		// An ordinary commit: nothing to ask git about.
		return []gitstore.OID{m.new}, map[gitstore.OID][]gitstore.OID{m.new: ps}, nil
	}
	commits, parents, more, err := g.repo.NewCommits(g.ctx, m.new, maxNewCommits, "--branches")
	if err != nil || !more {
		return commits, parents, err
	}
	parents = map[gitstore.OID][]gitstore.OID{m.new: nil}
	if m.old != "" {
		parents[m.new] = []gitstore.OID{m.old}
	}
	return []gitstore.OID{m.new}, parents, nil
}

// madeElsewhere tells commits a remote-tracking branch holds from those made
// here. It asks git once, when the first one matters.
func (g *guarded) madeElsewhere(tip gitstore.OID) func(gitstore.OID) func() (bool, error) {
	var here map[gitstore.OID]bool
	return func(commit gitstore.OID) func() (bool, error) {
		return func() (bool, error) {
			if here == nil {
				commits, _, more, err := g.repo.NewCommits(g.ctx, tip, maxNewCommits, "--branches", "--remotes")
				if err != nil {
					return false, err
				}
				here = make(map[gitstore.OID]bool, len(commits))
				for _, c := range commits {
					here[c] = true
				}
				if more {
					here[tip] = true
				}
			}
			return !here[commit], nil
		}
	}
}
