// Merges: what they change beside what both sides bring.

package attribution

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// openMerges gives each merge of the range the files that it changes by itself: those
// that are not what one side made of them, nor what merging both sides gives. Nothing is
// written, and the rules are those of merging file by file; a rename on one side that
// git would follow is not.
func (j *judge) openMerges() error {
	type open struct {
		c                *RangeCommit
		one, two, result string // questions: base to either side, first side to the merge
	}
	var all []*open
	var questions []string
	for _, c := range j.out.Commits {
		if len(c.Parents) < 2 {
			continue
		}
		c.Files = nil
		if len(c.Parents) > 2 {
			c.Why = "it joins more than two histories, which is not judged"
			continue
		}
		out, err := j.repo.Git.Run(j.ctx, nil, "merge-base", "--all", string(c.Parents[0]), string(c.Parents[1]))
		if err != nil && j.ctx.Err() != nil {
			return err
		}
		bases := strings.Fields(string(out))
		if len(bases) != 1 {
			c.Why = fmt.Sprintf("its sides have %d common bases, which is not judged", len(bases))
			continue
		}
		var trees [3]object.OID
		for i, id := range []object.OID{object.OID(bases[0]), c.Parents[0], c.Parents[1]} {
			k, err := j.past.Commit(id)
			if err != nil {
				return err
			}
			if k == nil {
				c.Why = "a side of it is not in this clone"
				break
			}
			trees[i] = k.Tree
		}
		if c.Why != "" {
			continue
		}
		ask := func(a, b object.OID) string {
			q := string(a) + " " + string(b)
			questions = append(questions, q)
			return q
		}
		all = append(all, &open{c, ask(trees[0], trees[1]), ask(trees[0], trees[2]), ask(trees[1], c.tree)})
	}
	found, err := diffs(j.ctx, j.repo, questions)
	if err != nil {
		return err
	}
	a := &asks{}
	for _, o := range all {
		one, two, result := found[o.one], found[o.two], found[o.result]
		paths := make(map[string]bool)
		for _, m := range []map[string]entry{one, two, result} {
			for p := range m {
				paths[p] = true
			}
		}
		for _, p := range slices.Sorted(maps.Keys(paths)) {
			left, onLeft := one[p]
			right, onRight := two[p]
			done, changed := result[p]
			f := &RangeFile{Path: p, entry: done}
			switch {
			case !onRight && !changed: // as the first side has it, which alone may have touched it
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
				o.c.Files = append(o.c.Files, f)
				ids := []object.OID{left.old, left.new, right.new, done.new}
				texts := make([]string, len(ids))
				for i, id := range ids {
					a.ask(string(id), func(n git.Named) {
						texts[i] = string(n.Data)
						if i == len(ids)-1 {
							if got, ok := merge3(texts[0], texts[1], texts[2]); ok && got == texts[3] {
								o.c.Files = slices.DeleteFunc(o.c.Files, func(x *RangeFile) bool { return x == f })
							}
						}
					})
				}
				continue
			}
			f.Why = "it is neither what one side has nor what merging both gives"
			o.c.Files = append(o.c.Files, f)
		}
	}
	return j.repo.ReadNamed(j.ctx, a.names, func(i int, n git.Named) { a.then[i](n) })
}
