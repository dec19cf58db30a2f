// When a ref moves, every commit that is new to it is judged.

package githooks

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// commitsAtOnce bounds the commits whose differences are in memory at once.
const commitsAtOnce = 256

// move is a ref that moves from one object to another; "" means no object.
type move struct {
	old, new object.OID
	ref      string
}

// course is the context in which one move of a ref is judged.
type course struct {
	g      *guarded
	move   move
	pushed bool // it arrives at a server
	judges []*judge
	rules  []*governance
	list   []history.NewCommit
}

// branch judges all commits that a ref gains. Commits that a branch already holds were judged when they came there,
// so going back is free, unless it removes the configuration.
func (g *guarded) branch(m move, pushed bool, w *witness) error {
	if m.new == "" {
		return nil // deleting a branch loses nothing that runs do not hold
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return err
	}
	c := &course{g: g, move: m, pushed: pushed}
	for _, prefix := range prefixes {
		c.judges = append(c.judges, &judge{
			ctx:     g.ctx,
			repo:    g.repo,
			prefix:  prefix,
			report:  g.find,
			witness: w.of(prefix),
			strict:  pushed,
		})
		c.rules = append(c.rules, newGovernance(g.ctx, g.repo, prefix))
	}
	more, err := c.gained()
	if err != nil {
		return err
	}
	if more {
		g.find(tooMany(m.ref))
		return nil
	}
	for from := 0; from < len(c.list); from += commitsAtOnce {
		if err := c.some(c.list[from:min(from+commitsAtOnce, len(c.list))]); err != nil {
			return err
		}
	}
	if err := c.claimsWanted(); err != nil {
		return err
	}
	return c.tip()
}

// gained lists the commits that a ref gains and no branch holds yet, parents first.
func (c *course) gained() (more bool, err error) {
	g, m := c.g, c.move
	ps, message, err := chain.CommitAlone(g.ctx, g.repo, m.new)
	if err == nil && len(ps) == 1 && ps[0] == m.old {
		// An ordinary commit: no need to ask git.
		one := history.NewCommit{OID: m.new, Parents: ps}
		if mentionsTrailer([]byte(message)) {
			if one.Trailers, err = g.trailersOf([]byte(message)); err != nil {
				return false, err
			}
		}
		c.list = []history.NewCommit{one}
		return false, nil
	}
	c.list, more, err = history.CommitsBeyond(g.ctx, g.repo, m.new, chain.MaxNewCommits, "--branches")
	return more, err
}

// some judges a batch of the new commits.
func (c *course) some(list []history.NewCommit) error {
	oids, parents := make([]object.OID, len(list)), make(map[object.OID][]object.OID, len(list))
	for i, n := range list {
		oids[i], parents[n.OID] = n.OID, n.Parents
	}
	changes, err := history.CommitChanges(c.g.ctx, c.g.repo, oids, parents)
	if err != nil {
		return err
	}
	for _, n := range list {
		against := changes[:max(1, len(n.Parents))]
		changes = changes[len(against):]
		for i, j := range c.judges {
			if err := c.commit(j, c.rules[i], n, against); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit judges one commit of one project.
func (c *course) commit(j *judge, v *governance, n history.NewCommit, against []history.CommitChange) error {
	one := newCommit{oid: n.OID, parents: n.Parents, ignores: func() ([]byte, error) {
		data, _, err := chain.FileAt(c.g.ctx, c.g.repo, n.OID, j.prefix+".gitignore")
		return data, err
	}}
	var err error
	if one.config, err = configAfter(v, n, against[0]); err != nil {
		return err
	}
	governor, err := j.govern(v, one, c.pushed)
	if err != nil {
		return err
	}
	v.learn(n.OID, one.config, governor)
	edits := editsOf(against)
	j.arrivals = arrivals(j.prefix, edits)
	for _, e := range edits {
		if err := j.change(e); err != nil {
			return err
		}
	}
	if err := c.atHome(j, v, one, governor); err != nil {
		return err
	}
	if j.prefix == c.judges[0].prefix && n.Trailers != "" {
		return j.claims(n)
	}
	return nil
}

// configAfter returns the configuration's entry in a new commit, from the entry in the first parent.
func configAfter(v *governance, n history.NewCommit, first history.CommitChange) (entry, error) {
	for _, ch := range first.Changes {
		if ch.Path == v.path {
			return entry{ch.NewOID, ch.NewMode}, nil
		}
	}
	if len(n.Parents) == 0 {
		return entry{}, nil
	}
	return v.entry(n.Parents[0])
}

// editsOf joins the differences of a commit to its parents by path.
func editsOf(against []history.CommitChange) []edit {
	first := against[0]
	seen := make([]map[string]history.TreeChange, len(against))
	for i := range against[1:] {
		seen[i+1] = make(map[string]history.TreeChange, len(against[i+1].Changes))
		for _, c := range against[i+1].Changes {
			seen[i+1][c.Path] = c
		}
	}
	out := make([]edit, 0, len(first.Changes))
	add := func(c history.TreeChange) {
		e := edit{TreeChange: c}
		for _, other := range seen[1:] {
			if o, differs := other[c.Path]; differs {
				e.others = append(e.others, o.OldOID)
			} else {
				e.others = append(e.others, c.NewOID)
			}
		}
		out = append(out, e)
	}
	known := make(map[string]bool, len(first.Changes))
	for _, c := range first.Changes {
		known[c.Path] = true
		add(c)
	}
	// What a merge takes whole from its first parent may still lose what another parent had.
	for _, other := range against[1:] {
		for _, c := range other.Changes {
			if !known[c.Path] {
				known[c.Path] = true
				c.OldOID, c.OldMode = c.NewOID, c.NewMode // unchanged against the first
				add(c)
			}
		}
	}
	return out
}

// arrivals maps the files that are new to a commit by content: a governed file that disappears and arrives
// elsewhere was moved.
func arrivals(prefix string, edits []edit) map[object.OID]string {
	var out map[object.OID]string
	gone := false
	for _, e := range edits {
		if e.NewOID == "" {
			path, ok := strings.CutPrefix(e.Path, prefix)
			gone = gone || ok && wire.GovernedPath(path) != wire.NotGoverned
		}
	}
	if !gone {
		return nil
	}
	for _, e := range edits {
		if e.OldOID == "" && e.NewOID != "" {
			if out == nil {
				out = make(map[object.OID]string)
			}
			out[e.NewOID] = e.Path
		}
	}
	return out
}

// atHome judges a commit that introduces a configuration, with no governed parent, into a repository that is
// governed: as if it followed from the governed branch. A new history must not start with new rules.
func (c *course) atHome(j *judge, v *governance, n newCommit, governor *governor) error {
	if governor == nil || n.config.oid == "" {
		return nil
	}
	for _, g := range j.parents {
		if g != nil {
			return nil
		}
	}
	home, err := v.homeBranch()
	if err != nil || home.tip == "" {
		return err
	}
	changes, err := history.CommitChanges(c.g.ctx, c.g.repo, []object.OID{n.oid},
		map[object.OID][]object.OID{n.oid: {home.tip}})
	if err != nil {
		return err
	}
	n.parents = []object.OID{home.tip}
	if _, err := j.govern(v, n, c.pushed); err != nil {
		return err
	}
	edits := editsOf(changes)
	j.arrivals = arrivals(j.prefix, edits)
	for _, e := range edits {
		if err := j.change(e); err != nil {
			return err
		}
	}
	return nil
}

// tip judges a ref's new target even when no commit is new: where the old target was governed, so must the new one
// be.
func (c *course) tip() error {
	if c.move.old == "" || !c.g.repo.Objects().Has(c.g.ctx, c.move.old) || len(c.g.findings) > 0 ||
		!strings.HasPrefix(c.move.ref, branchPrefix) {
		return nil
	}
	if len(c.list) == 1 && len(c.list[0].Parents) == 1 && c.list[0].Parents[0] == c.move.old {
		return nil // judged as a commit
	}
	for i, v := range c.rules {
		before, err := v.of(c.move.old)
		if err != nil {
			return err
		}
		if before == nil {
			continue
		}
		e, err := v.entry(c.move.new)
		if err != nil {
			return err
		}
		own, err := v.valid(e)
		if err != nil {
			return err
		}
		j := c.judges[i]
		j.commit = string(c.move.new)
		switch {
		case own == nil:
			if err := j.lost(v, e, c.move.old, before); err != nil {
				return err
			}
		case c.pushed:
			if err := j.weakened(v.path, c.move.old, before, own); err != nil {
				return err
			}
		}
	}
	return nil
}
