// Merges: what they change besides what both sides bring.

package attribution

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// merge is a merge of two histories to be judged, by what is asked of git about it.
type merge struct {
	c                *RangeCommit
	one, two, result string // base to either side, first side to the merge
}

// openMerges gives each merge of the range the files that it changes itself: those that are neither as one side
// made them nor what merging both sides gives. Nothing is written. Files are merged one by one; a rename on one
// side, which git would follow, is not followed.
func (j *judge) openMerges() error {
	var merges []*merge
	var questions []string
	for _, c := range j.out.Commits {
		if len(c.Parents) < 2 {
			continue
		}
		c.Files = nil
		m, err := j.question(c)
		if err != nil {
			return err
		}
		if m != nil {
			merges = append(merges, m)
			questions = append(questions, m.one, m.two, m.result)
		}
	}
	found, err := diffs(j.ctx, j.repo, questions)
	if err != nil {
		return err
	}
	a := &asks{}
	for _, m := range merges {
		m.open(a, found[m.one], found[m.two], found[m.result])
	}
	return j.repo.ReadNamed(j.ctx, a.names, func(i int, n git.Named) { a.then[i](n) })
}

// question returns the question about a merge, nil with the reason in c.Why where it cannot be judged.
func (j *judge) question(c *RangeCommit) (*merge, error) {
	if len(c.Parents) > 2 {
		c.Why = "it joins more than two histories, which is not judged"
		return nil, nil
	}
	out, err := j.repo.Git.Run(j.ctx, nil, "merge-base", "--all", string(c.Parents[0]), string(c.Parents[1]))
	if err != nil && j.ctx.Err() != nil {
		return nil, err
	}
	bases := strings.Fields(string(out))
	if len(bases) != 1 {
		c.Why = fmt.Sprintf("its sides have %d common bases, which is not judged", len(bases))
		return nil, nil
	}
	var trees [3]string
	for i, id := range []object.OID{object.OID(bases[0]), c.Parents[0], c.Parents[1]} {
		k, err := j.past.Commit(id)
		if err != nil {
			return nil, err
		}
		if k == nil {
			c.Why = "a side of it is not in this clone"
			return nil, nil
		}
		trees[i] = string(k.Tree)
	}
	return &merge{
		c:      c,
		one:    trees[0] + " " + trees[1],
		two:    trees[0] + " " + trees[2],
		result: trees[1] + " " + string(c.tree),
	}, nil
}

// open gives the merge its own files: one and two are the changes of either side since their base, result the
// changes of the merge against its first side. Where both sides changed lines of a file, open asks a for its texts.
func (m *merge) open(a *asks, one, two, result map[string]entry) {
	paths := make(map[string]bool)
	for _, changes := range []map[string]entry{one, two, result} {
		for p := range changes {
			paths[p] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		left, onLeft := one[p]
		right, onRight := two[p]
		done, changed := result[p]
		f := &RangeFile{Path: p, entry: done}
		switch {
		case !onRight && !changed: // as in the first side, which alone may have touched it
			continue
		case onRight && !onLeft && changed && done.new == right.new && done.newMode == right.newMode:
			continue
		case onRight && onLeft && left.new == right.new && left.newMode == right.newMode && !changed:
			continue
		case onRight && !changed: // the other side's change is dropped
			f.entry = entry{left.newMode, left.newMode, left.new, left.new}
			if !onLeft {
				f.entry = entry{right.oldMode, right.oldMode, right.old, right.old}
			}
		case onRight && onLeft && done.regular() && left.regular() && right.regular() &&
			left.old != "" && left.new != "" && right.new != "" && done.new != "":
			m.c.Files = append(m.c.Files, f)
			m.join(a, f, left.old, left.new, right.new, done.new)
			continue
		}
		f.Why = "it is neither what one side has nor what merging both gives"
		m.c.Files = append(m.c.Files, f)
	}
}

// join removes f from the files of the merge again when its text, done, is what merging the texts of both sides
// gives.
func (m *merge) join(a *asks, f *RangeFile, base, ours, theirs, done object.OID) {
	var texts [4]string
	for i, id := range []object.OID{base, ours, theirs, done} {
		a.ask(string(id), func(n git.Named) {
			texts[i] = string(n.Data)
			if i < len(texts)-1 {
				return
			}
			if got, ok := merge3(texts[0], texts[1], texts[2]); ok && got == texts[3] {
				m.c.Files = slices.DeleteFunc(m.c.Files, func(x *RangeFile) bool { return x == f })
			}
		})
	}
}
