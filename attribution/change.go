// A turn's own change of a file, assembled from what git still has.

package attribution

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// change is what one turn did to one file.
type change struct {
	turn *Turn
	path string // the path while the turn worked

	versions []*version // of the file as the turn left it, each confirmed by its fingerprint
	altered  *string    // the checkpoint has this instead of what was accepted
	onTop    bool       // the checkpoint exists, with the commit it was made on
	base     bool       // the baseline exists, and only the turn's work is above it
	pairs    []*pair
	wanted   map[string]bool // lines that it may have added
	left     map[string]bool // the lines that it left, once requested
}

// version is a file with the requested lines in it.
type version struct {
	text  string
	from  source
	holds bool // one of the wanted lines
}

// version keeps data that was found for the change later.
func (c *change) version(data []byte, from source) *version {
	return &version{string(data), from, holds(string(data), c.wanted)}
}

// source says where a version was found.
type source int

const (
	fromCheckpoint source = iota
	fromElsewhere         // HEAD at acceptance, a later commit of the file, the work tree
)

// pair is a change from one version to another.
type pair struct {
	after []string
	new   []bool // of after: added by the change
	patch string
	count map[string]int // of the wanted lines in after
}

// whole reports whether everything that the turn added is known.
func (c *change) whole() bool { return len(c.versions) > 0 && (c.onTop || c.base) }

// matches reports whether content is what the turn left, by the fingerprint of its acceptance. Rows without
// fingerprints are believed only about their checkpoint.
func (c *change) matches(data []byte, from source) bool {
	m, known := c.turn.mark(c.path)
	if !known {
		return from == fromCheckpoint
	}
	if m == wire.Digest(data) {
		return true
	}
	// The working file may have had other line ends.
	return strings.IndexByte(string(data), '\r') < 0 &&
		m == wire.Digest([]byte(strings.ReplaceAll(string(data), "\n", "\r\n")))
}

// asks collects names for one process to read, and what to do with the answers.
type asks struct {
	names []string
	then  []func(git.Named)
}

func (a *asks) ask(name string, then func(git.Named)) {
	a.names = append(a.names, name)
	a.then = append(a.then, then)
}

func (q *inquiry) read(a *asks) error {
	left := &asks{}
	for i, n := range a.names {
		if o, ok := q.blobs[n]; ok {
			a.then[i](o)
		} else {
			left.ask(n, a.then[i])
		}
	}
	return q.repo.ReadNamed(q.ctx, left.names, func(i int, o git.Named) { left.then[i](o) })
}

// open prepares the changes that may have written lines whose commit names no turn.
func (q *inquiry) open(t *Turn, path string) (*change, error) {
	m, known := t.mark(path)
	if t.Active() || known && (m == "" || m == gitstore.FingerprintDeleted || m == gitstore.FingerprintUnreadable) {
		return nil, nil // it left no lines there
	}
	c := &change{turn: t, path: path}
	if id := t.commitOf(path); id != "" && !q.shallow[id] {
		k, err := q.past.Commit(id)
		if err != nil {
			return nil, err
		}
		if k != nil && slices.Contains(namedTurns(k.Message), t.ID) && len(k.Parents) <= 1 {
			c.onTop = true
			if len(k.Parents) == 1 {
				p, err := q.past.Commit(k.Parents[0])
				if err != nil {
					return nil, err
				}
				c.onTop = p != nil
			}
		}
	}
	if t.applied[path] != "" {
		return c, nil // others may have changed the file between the baseline and the apply
	}
	b, err := q.past.Commit(t.baseline)
	if err != nil {
		return nil, err
	}
	if b != nil {
		own, err := q.rangeOf(t)
		if err != nil {
			return nil, err
		}
		c.base = own.sound
	}
	return c, nil
}

// readVersions looks for the versions that the turns left: in their checkpoints, at HEAD of their acceptance, in
// the commits with lines without an owner, and in the work tree.
func (q *inquiry) readVersions() error {
	a := &asks{}
	type miss struct {
		c    *change
		oid  object.OID
		from source
		text string
	}
	var misses []miss
	try := func(c *change, from source) func(git.Named) {
		return func(o git.Named) {
			if !o.Found || o.Kind != object.KindBlob {
				return
			}
			if !c.matches(o.Data, from) {
				misses = append(misses, miss{c, o.OID, from, string(o.Data)})
				return
			}
			c.versions = append(c.versions, &version{text: string(o.Data), from: from})
		}
	}
	for _, c := range q.changes {
		t := c.turn
		if id := t.commitOf(c.path); id != "" {
			a.ask(string(id)+":"+c.path, try(c, fromCheckpoint))
		}
		if t.head != "" && t.head != t.baseline && t.head != t.checkpoint {
			a.ask(string(t.head)+":"+c.path, try(c, fromElsewhere))
		}
	}
	if err := q.read(a); err != nil {
		return err
	}
	if q.work != nil {
		q.offer(q.work)
	}
	if err := q.readGroups(); err != nil {
		return err
	}
	var open []miss
	var blobs []git.Filed
	for _, m := range misses {
		if len(m.c.versions) == 0 {
			open = append(open, m)
			blobs = append(blobs, git.Filed{OID: m.oid, Path: m.c.path})
		}
	}
	err := q.repo.CheckedOut(q.ctx, blobs, func(i int, sum string) {
		if m := open[i]; len(m.c.versions) == 0 && m.c.turn.marked(m.c.path, sum) {
			m.c.versions = append(m.c.versions, m.c.version([]byte(m.text), m.from))
		}
	})
	if err != nil {
		return err
	}
	for _, m := range misses {
		if m.from == fromCheckpoint &&
			!slices.ContainsFunc(m.c.versions, func(v *version) bool { return v.from == fromCheckpoint }) {
			m.c.altered = &m.text
		}
	}
	return nil
}

// readGroups reads the file in the commits with disputed lines, or in all commits when no version of some turn is
// known yet.
func (q *inquiry) readGroups() error {
	all := false
	had := make(map[string]bool) // wanted lines that the turns' files had
	for _, c := range q.changes {
		all = all || len(c.versions) == 0
		for _, v := range c.versions {
			for l := range strings.Lines(v.text) {
				if l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"); c.wanted[l] {
					had[l] = true
					v.holds = true
				}
			}
		}
	}
	a := &asks{}
	for _, g := range q.groups {
		if g.own != nil || len(g.doubt) > 0 || g.commit.Uncommitted() {
			continue
		}
		g.disputed = slices.ContainsFunc(g.lines, func(i int) bool { return had[text(&q.lines[i])] })
		if !all && !g.disputed {
			continue
		}
		a.ask(string(g.commit.OID)+":"+g.path, func(o git.Named) {
			if o.Found && o.Kind == object.KindBlob {
				g.text, g.read = string(o.Data), true
				q.offer(o.Data)
			}
		})
	}
	return q.read(a)
}

// offer gives a version of the file to the changes that still have none.
func (q *inquiry) offer(data []byte) {
	sum := ""
	for _, c := range q.changes {
		if len(c.versions) > 0 || c.turn.marks == nil {
			continue
		}
		if sum == "" {
			sum = wire.Digest(data)
		}
		if m, _ := c.turn.mark(c.path); m == sum ||
			strings.IndexByte(string(data), '\r') < 0 && c.matches(data, fromElsewhere) {
			c.versions = append(c.versions, c.version(data, fromElsewhere))
		}
	}
}

// maxVersions is how many versions of a file are searched for one that a turn left.
const maxVersions = 2000

// searchHistory searches the file's history for versions that turns left, for turns of which nothing else is known.
func (q *inquiry) searchHistory() error {
	if !slices.ContainsFunc(q.changes, func(c *change) bool { return len(c.versions) == 0 && c.turn.marks != nil }) {
		return nil
	}
	former, err := history.FormerNames(q.ctx, q.repo, q.query.Path, maxVersions)
	if err != nil {
		return err
	}
	var paths []string
	for _, p := range former {
		q.names[p] = true
	}
	for p := range q.names {
		paths = append(paths, p)
	}
	for _, c := range q.changes {
		if !slices.Contains(paths, c.path) {
			paths = append(paths, c.path)
		}
	}
	slices.Sort(paths)
	commits, err := history.CommitsOf(q.ctx, q.repo, paths, maxVersions)
	if err != nil {
		return err
	}
	a := &asks{}
	seen := make(map[object.OID]bool)
	for _, id := range commits {
		for _, p := range paths {
			a.ask(string(id)+":"+p, func(o git.Named) {
				if o.Found && o.Kind == object.KindBlob && !seen[o.OID] {
					seen[o.OID] = true
					q.offer(o.Data)
				}
			})
		}
	}
	return q.read(a)
}

// readPairs reads what preceded the versions with a wanted line, and determines what each change added.
func (q *inquiry) readPairs() error {
	a := &asks{}
	type open struct {
		c      *change
		v      *version
		before string
		found  bool
		moved  map[string]bool
	}
	var all []*open
	ask := func(c *change, v *version, base string) {
		o := &open{c: c, v: v, moved: make(map[string]bool)}
		all = append(all, o)
		a.ask(base+":"+c.path, func(n git.Named) {
			if n.Found && n.Kind == object.KindBlob {
				o.before, o.found = string(n.Data), true
			}
		})
		for _, p := range c.turn.files {
			// A file that the turn renamed: the lines it moved are not its own.
			if m, known := c.turn.mark(p); p == c.path || known && m != gitstore.FingerprintDeleted {
				continue
			}
			a.ask(base+":"+p, func(n git.Named) {
				if n.Found && n.Kind == object.KindBlob && !o.found {
					for _, l := range splitLines(string(n.Data)) {
						o.moved[l] = true
					}
				}
			})
		}
	}
	for _, c := range q.changes {
		if len(c.versions) == 0 || !c.whole() || !c.versions[0].holds {
			continue
		}
		v := c.versions[0]
		if c.onTop && v.from == fromCheckpoint {
			ask(c, v, string(c.turn.commitOf(c.path))+"^1")
		}
		if c.base {
			ask(c, v, string(c.turn.baseline))
		}
	}
	for _, g := range q.groups {
		if g.read && g.previous != "" {
			a.ask(string(g.commit.OID)+"^1:"+g.previous, func(n git.Named) {
				if n.Found && n.Kind == object.KindBlob {
					g.before = string(n.Data)
				}
			})
		}
	}
	if err := q.read(a); err != nil {
		return err
	}
	for _, o := range all {
		p := &pair{after: splitLines(o.v.text)}
		before := splitLines(o.before)
		var hunks []hunk
		p.new, hunks = added(before, p.after, o.moved)
		if len(o.moved) == 0 {
			p.patch = patch(before, p.after, hunks)
		}
		o.c.pairs = append(o.c.pairs, p)
	}
	return nil
}

// holds reports whether a text has one of the lines.
func holds(text string, wanted map[string]bool) bool {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		if wanted[l] {
			return true
		}
	}
	return false
}
