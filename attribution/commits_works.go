// What turns did to files, as far as git still has it.

package attribution

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// work is what one turn did to one file.
type work struct {
	turn   *Turn
	path   string
	commit object.OID // the turn's own, "" when it is not in this clone
	known  bool       // entry is what the commit did, and the file is as accepted
	entry
}

// unmarked reports whether the turn left something that has no mark of its own: the mark of a link is that of the file
// it leads to, and a module has none. The recorded commit is believed, as for the modes of files.
func (w *work) unmarked() bool { return w.newMode == symlink || w.newMode == module }

// composite is what one turn, or several in sequence, did to a file.
type composite struct {
	entry
	works []*work
}

// How many sequences of turns are kept per file, and with how many turns and sequences a change is compared line by
// line.
const (
	maxChains = 5000
	maxTried  = 100
)

// readWorks finds what the turns did to the files of the range.
func (j *judge) readWorks() error {
	asked, err := j.works()
	if err != nil {
		return err
	}
	if err := j.entries(asked); err != nil {
		return err
	}
	for _, list := range j.byPath {
		slices.SortStableFunc(list, func(a, b *work) int {
			return cmp.Or(strings.Compare(a.turn.Row.String("accepted_at"), b.turn.Row.String("accepted_at")),
				a.turn.accepted-b.turn.accepted)
		})
	}
	for _, c := range j.out.Commits {
		for _, f := range c.Files {
			gone := func(w *work) bool { return w.commit == "" }
			if j.approved[f.Path] != nil || slices.ContainsFunc(j.byPath[f.Path], gone) {
				j.want(f.new)
				j.want(f.old)
			}
		}
	}
	if err := j.hashContents(); err != nil {
		return err
	}
	return j.knowWorks(asked)
}

// works finds what ended turns did to files of the range, and what to ask git for each that has its own commit.
func (j *judge) works() (asked map[*work]string, err error) {
	paths := make(map[string]bool)
	for _, c := range j.out.Commits {
		for _, f := range c.Files {
			paths[f.Path] = true
		}
	}
	asked = make(map[*work]string)
	for _, t := range j.book.turns {
		if t.Active() {
			continue
		}
		for _, p := range t.files {
			if m, known := t.mark(p); !paths[p] || known && m == "" {
				continue
			}
			w := &work{turn: t, path: p}
			question, err := j.ownCommit(w)
			if err != nil {
				return nil, err
			}
			if question != "" {
				asked[w] = question
			}
			j.byPath[p] = append(j.byPath[p], w)
		}
	}
	return asked, nil
}

// entries reads what the commits of works did to their files.
func (j *judge) entries(asked map[*work]string) error {
	found, err := diffs(j.ctx, j.repo, slices.Collect(maps.Values(asked)))
	if err != nil {
		return err
	}
	for w, question := range asked {
		if e, ok := found[question][w.path]; ok {
			w.entry = e
			j.want(e.new)
		} else {
			w.commit = "" // it does not touch the file: only its mark shows what the turn did
		}
	}
	return nil
}

// knowWorks determines which works are what was accepted: their commit has the contents of the turn's mark.
func (j *judge) knowWorks(asked map[*work]string) error {
	var filtered []*work
	var blobs []git.Filed
	for w := range asked {
		if w.commit == "" {
			continue
		}
		m, known := w.turn.mark(w.path)
		switch {
		case !known:
			w.known = w.commit == w.turn.commitOf(w.path) // believed, like rows without marks
		case w.unmarked():
			w.known = true
		case w.new == "":
			w.known = m == gitstore.FingerprintDeleted
		case j.has(w.new, m):
			w.known = true
		default: // a filter may have produced the accepted file
			filtered = append(filtered, w)
			blobs = append(blobs, git.Filed{OID: w.new, Path: w.path})
		}
	}
	return j.repo.CheckedOut(j.ctx, blobs, func(i int, sum string) {
		filtered[i].known = filtered[i].turn.marked(filtered[i].path, sum)
	})
}

// ownCommit finds the commit with the turn's work on a file, and returns the question for diffs: the checkpoint, or
// everything that the actor committed itself.
func (j *judge) ownCommit(w *work) (question string, err error) {
	t := w.turn
	if id := t.commitOf(w.path); id != "" && !j.cut[id] {
		k, err := j.past.Commit(id)
		if err != nil {
			return "", err
		}
		if k != nil && len(k.Parents) <= 1 && slices.Contains(namedTurns(k.Message), t.ID) {
			w.commit = id
			return string(id), nil
		}
	}
	if t.head == "" || t.baseline == "" || t.head == t.baseline || t.applied[w.path] != "" {
		return "", nil
	}
	own, err := (&inquiry{ctx: j.ctx, past: j.past, shallow: j.cut}).rangeOf(t)
	if err != nil || !own.sound {
		return "", err
	}
	head, err := j.past.Commit(t.head)
	if head == nil || err != nil {
		return "", err
	}
	base, err := j.past.Commit(t.baseline)
	if base == nil || err != nil || base.Tree == head.Tree {
		return "", err
	}
	w.commit = t.head
	return string(base.Tree) + " " + string(head.Tree), nil
}

// want asks hashContents to hash a blob's contents.
func (j *judge) want(id object.OID) {
	if id != "" {
		if _, ok := j.shas[id]; !ok {
			j.shas[id] = ""
		}
	}
}

// hashContents reads the wanted blobs, in one process.
func (j *judge) hashContents() error {
	var names []string
	for id, sum := range j.shas {
		if sum == "" {
			names = append(names, string(id))
		}
	}
	slices.Sort(names)
	return j.repo.ReadNamed(j.ctx, names, func(i int, o git.Named) {
		if o.Found && o.Kind == object.KindBlob {
			j.shas[object.OID(names[i])] = sums(o.Data)
		}
	})
}

// chains lists what several turns did to a file in sequence, newest first.
func (j *judge) chains(path string) []composite {
	if out, ok := j.chained[path]; ok {
		return out
	}
	var out []composite
	list := j.byPath[path]
	for i, w := range slices.Backward(list) {
		if !w.known {
			continue
		}
		c := composite{w.entry, []*work{w}}
		for _, next := range list[i+1:] {
			if len(out) >= maxChains {
				break
			}
			if next.known && next.old == c.new && next.oldMode == c.newMode {
				c = composite{
					entry{c.oldMode, next.newMode, c.old, next.new},
					append(slices.Clone(c.works), next),
				}
				out = append(out, c)
			}
		}
	}
	j.chained[path] = out
	return out
}

// tries lists what a change is compared with line by line: the work of the turns that its message names, then that
// of the newest others.
func (j *judge) tries(c *RangeCommit, f *RangeFile) []composite {
	var named, others []composite
	for _, w := range slices.Backward(j.byPath[f.Path]) {
		switch k := (composite{w.entry, []*work{w}}); {
		case !w.known:
		case slices.Contains(c.Named, w.turn.ID):
			named = append(named, k)
		case len(others) < maxTried:
			others = append(others, k)
		}
	}
	chains := j.chains(f.Path)
	return slices.Concat(named, others, chains[:min(len(chains), maxTried)])
}

func (c *composite) turns() []*Turn {
	var out []*Turn
	for _, w := range c.works {
		out = append(out, w.turn)
	}
	return out
}

// readApproved reads the documents that people have approved, by path from the root: each approval records their
// fingerprints.
func (j *judge) readApproved() error {
	j.approved = make(map[string][]string)
	read := make(map[*chain.RunRecord]bool)
	for _, t := range j.book.turns {
		if read[t.Record] {
			continue
		}
		read[t.Record] = true
		if err := eachRow(t.Record, wire.LedgerDecisions, func(row *ojson.Object) {
			if row.String("type") != "human_approval" {
				return
			}
			evidence := row.Object("evidence")
			for _, p := range evidence.Keys() {
				j.approved[t.Prefix+p] = append(j.approved[t.Prefix+p], evidence.String(p))
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// signs reports whether a change leaves a document as an approval has it. sure means that it was as accepted for a
// turn before.
func (j *judge) signs(f *RangeFile) (yes, sure bool) {
	approved := func(mark string) bool { return j.has(f.new, mark) }
	if f.new == "" || !f.regular() || !slices.ContainsFunc(j.approved[f.Path], approved) {
		return false, false
	}
	return true, slices.ContainsFunc(j.byPath[f.Path], func(w *work) bool {
		m, _ := w.turn.mark(f.Path)
		return j.has(f.old, m)
	})
}
