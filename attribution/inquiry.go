// One question about a file: from lines to commits to turns.

package attribution

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// maxWorkFile bounds the working file, in bytes.
const maxWorkFile = 256 << 20

// inquiry answers one query.
type inquiry struct {
	ctx     context.Context
	repo    *git.Repository
	past    *record.Past
	query   *Query
	book    *book
	shallow map[object.OID]bool
	lines   []Line
	groups  []*group
	names   map[string]bool      // names that the file had, as far as the lines show
	changes []*change            // changes that may have written lines without an owner
	opaque  map[*Turn][]*change  // those that are only partly known
	places  map[string][]settled // places of wanted lines in the changes
	work    []byte               // the working file, if some lines are not committed
	head    object.OID
	parents map[object.OID][]object.OID   // of the history, once needed
	there   map[string]map[object.OID]int // by run, see recordedHeads
	blobs   map[string]git.Named          // already read, by name
	gone    map[string]bool               // files of turns that HEAD lacks
}

// group is the lines that one commit added to one file.
type group struct {
	commit         *history.BlameCommit
	path, previous string
	lines          []int // indexes, by their position in the commit's file
	own            *Turn
	by             Evidence
	doubt          []*Turn
	named          []*Turn  // turns that the commit's message names
	strangers      []string // and those that no run here knows
	text, before   string   // of the file in the commit and before
	read           bool
	disputed       bool // a turn's version of the file has one of its lines
	compared       bool
	same           *change // makes the same change to the file as the commit
}

// Lines says for each line of a file which turn wrote it.
//
// Errors: not_found when git does not know the file, invalid_argument when a range is outside it, and the errors of
// reading the recorded runs.
func Lines(ctx context.Context, repo *git.Repository, query Query) (*Report, error) {
	q := &inquiry{
		ctx:     ctx,
		repo:    repo,
		past:    record.NewPast(ctx, repo),
		query:   &query,
		shallow: history.ShallowCommits(repo),
		names:   map[string]bool{query.Path: true},
		there:   make(map[string]map[object.OID]int),
		blobs:   make(map[string]git.Named),
	}
	blamed, err := history.Blame(ctx, repo, query.Path, query.Ranges)
	if err != nil {
		return nil, err
	}
	q.sort(blamed)
	if q.book, err = readBook(ctx, repo, &query, q.names); err != nil {
		return nil, err
	}
	orphans, err := q.owners()
	if err == nil {
		err = q.confirm()
	}
	if err == nil && orphans {
		err = q.findEvidence()
	}
	if err != nil {
		return nil, err
	}
	for _, g := range q.groups {
		if err := q.answer(g); err != nil {
			return nil, err
		}
	}
	return &Report{Path: query.Path, Lines: q.lines, Shallow: q.shallow}, nil
}

// sort sorts the lines into groups.
func (q *inquiry) sort(blamed []history.BlameLine) {
	type key struct {
		c    *history.BlameCommit
		path string
	}
	groups := make(map[key]*group)
	q.lines = make([]Line, len(blamed))
	for i := range blamed {
		l := &blamed[i]
		q.lines[i] = Line{BlameLine: *l}
		k := key{l.Commit, l.Path}
		g := groups[k]
		if g == nil {
			g = &group{commit: l.Commit, path: l.Path, previous: l.Previous}
			groups[k] = g
			q.groups = append(q.groups, g)
		}
		g.lines = append(g.lines, i)
		q.names[l.Path] = true
		if l.Previous != "" {
			q.names[l.Previous] = true
		}
	}
	for _, g := range q.groups {
		slices.SortFunc(g.lines, func(a, b int) int { return q.lines[a].Original - q.lines[b].Original })
	}
}

// owners finds the groups whose commit is a turn's own, and reads the messages of the others; orphans reports
// whether others exist.
func (q *inquiry) owners() (orphans bool, err error) {
	for _, g := range q.groups {
		if g.commit.Uncommitted() {
			orphans = true
			if err := q.readWork(); err != nil {
				return false, err
			}
			continue
		}
		if g.own, g.by, g.doubt, err = q.ownTurn(g.commit.OID, g.path); err != nil {
			return false, err
		}
		if g.own != nil || len(g.doubt) > 0 {
			continue
		}
		orphans = true
		c, err := q.past.Commit(g.commit.OID)
		if err != nil {
			return false, err
		}
		if c == nil {
			continue
		}
		for _, id := range namedTurns(c.Message) {
			if t := q.book.byID[id]; t != nil {
				g.named = append(g.named, t)
			} else {
				g.strangers = append(g.strangers, id)
			}
		}
	}
	return orphans, nil
}

// readWork reads the file from the work tree.
func (q *inquiry) readWork() error {
	name := filepath.Join(q.repo.TopLevel, filepath.FromSlash(q.query.Path))
	fi, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!fi.Mode().IsRegular() || fi.Size() > maxWorkFile) {
		return nil
	}
	if err == nil {
		q.work, err = os.ReadFile(name)
	}
	return err
}

// findEvidence collects the changes that turns made to the file under any name it may have had, from turns that may
// have written any of the lines without an owner.
func (q *inquiry) findEvidence() error {
	var orphans []*group
	texts := make(map[*group]map[string]bool)
	for _, g := range q.groups {
		if g.own != nil || len(g.doubt) > 0 {
			continue
		}
		orphans = append(orphans, g)
		texts[g] = make(map[string]bool)
		for _, i := range g.lines {
			texts[g][text(&q.lines[i])] = true
		}
	}
	q.gone = make(map[string]bool)
	for _, t := range q.book.turns {
		var wanted map[string]bool
		for _, p := range t.files {
			may, err := q.mayBe(p)
			if err != nil {
				return err
			}
			if !may {
				continue
			}
			if wanted == nil {
				if wanted, err = q.wantedOf(t, orphans, texts); err != nil {
					return err
				}
			}
			if len(wanted) == 0 {
				break
			}
			c, err := q.open(t, p)
			if err != nil {
				return err
			}
			if c != nil {
				c.wanted = wanted
				q.changes = append(q.changes, c)
			}
		}
	}
	if err := q.readVersions(); err != nil {
		return err
	}
	if err := q.searchHistory(); err != nil {
		return err
	}
	if err := q.readPairs(); err != nil {
		return err
	}
	q.opaque = make(map[*Turn][]*change)
	for _, c := range q.changes {
		if !c.whole() {
			q.opaque[c.turn] = append(q.opaque[c.turn], c)
		}
	}
	q.index()
	return nil
}

// wantedOf returns the texts of the lines that the turn may have written.
func (q *inquiry) wantedOf(t *Turn, orphans []*group, texts map[*group]map[string]bool) (map[string]bool, error) {
	wanted := make(map[string]bool)
	for _, g := range orphans {
		may, err := q.mayHave(t, g)
		if err != nil {
			return nil, err
		}
		if may {
			maps.Copy(wanted, texts[g])
		}
	}
	return wanted, nil
}

// mayBe reports whether a turn's file may be the requested one: by a name that it had, or because it is gone and
// may have been renamed.
func (q *inquiry) mayBe(p string) (bool, error) {
	if q.names[p] {
		return true, nil
	}
	if gone, ok := q.gone[p]; ok {
		return gone, nil
	}
	if q.head == "" {
		id, err := q.repo.Git.Run(q.ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
		if err != nil {
			return false, err
		}
		q.head = object.OID(strings.TrimSpace(string(id)))
	}
	has, err := q.past.Has(q.head, p)
	if err != nil {
		return false, err
	}
	q.gone[p] = !has
	return !has, nil
}

// text returns a line in the form in which lines are compared.
func text(l *Line) string { return strings.TrimSuffix(l.Text, "\r") }
