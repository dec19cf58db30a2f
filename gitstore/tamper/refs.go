// Changes that an agent made to refs, HEAD and the flags of the index.

package tamper

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
)

// keptRefs is the prefix of refs that keep what an agent moved a ref to.
const keptRefs = "refs/agentxchain-kept/"

// headPlace describes where HEAD is.
func headPlace(branch string) string {
	if branch == "" {
		return "detached"
	}
	return "on " + strings.TrimPrefix(branch, "refs/heads/")
}

// replaceRefs is the prefix of refs whose objects git shows in place of others, as grafts do with parents.
const replaceRefs = "refs/replace/"

// putBackRefs judges refs. Moving forward by commits is normal work, and so is a rebase that kept all commits of
// the current branch; that branch and the runs must not go back or vanish, and there must be no new replacement of
// an object; everything else is only noted.
func (s *Watch) putBackRefs(ctx context.Context, d, now *Note, t *Tampering) error {
	if now.branch != d.branch {
		t.Moved = "HEAD is " + headPlace(now.branch) + ", it was " + headPlace(d.branch)
		t.note("%s", t.Moved)
	}
	names := maps.Clone(d.refs)
	maps.Copy(names, now.refs)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := d.refs[name], now.refs[name]
		switch {
		case was == is:
			continue
		case strings.HasPrefix(name, replaceRefs):
			how := "was moved"
			if was == "" {
				how = "was made"
			} else if is == "" {
				how = "was removed"
			}
			if err := s.putBackRef(ctx, d, t, git.RefUpdate{Name: name, New: was, Old: is}, how); err != nil {
				return err
			}
			continue
		case was == "":
			t.note("%s is new", name)
			continue
		case name != d.branch && !strings.HasPrefix(name, git.RunRefPrefix):
			if is == "" {
				t.note("%s was removed, it was at %s", name, was)
			} else {
				t.note("%s was moved, it was at %s", name, was)
			}
			continue
		}
		if is != "" {
			_, err := s.repo.Git.Run(ctx, nil, "merge-base", "--is-ancestor", string(was), string(is))
			if err == nil {
				continue
			}
			if git.ExitCode(err) != 1 {
				return err
			}
			rebased, err := history.Rebased(ctx, s.repo, was, is)
			if err != nil {
				return err
			}
			if rebased && name == d.branch {
				t.note("%s was rebased, it was at %s", name, was)
				continue
			}
		}
		how := fmt.Sprintf("went from %s back or aside to %s", was.Short(), is.Short())
		if is == "" {
			how = "was removed"
		}
		if err := s.putBackRef(ctx, d, t, git.RefUpdate{Name: name, New: was, Old: is}, how); err != nil {
			return err
		}
	}
	return nil
}

// putBackRef restores one ref, and keeps what it was moved to.
func (s *Watch) putBackRef(ctx context.Context, d *Note, t *Tampering, back git.RefUpdate, how string) error {
	t.change("%s %s", back.Name, how)
	if back.Old != "" {
		kept := keptRefs + d.Turn + "/" + strings.TrimPrefix(back.Name, "refs/")
		if have, err := s.repo.ReadRef(ctx, kept); err != nil || have == "" {
			if err := s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: kept, New: back.Old}}, "kept"); err != nil {
				return err
			}
		}
	}
	return s.repo.UpdateRefs(ctx, []git.RefUpdate{back}, "put back: an agent had moved it")
}

// putBackFlags clears flags that hide changes from git.
func (s *Watch) putBackFlags(ctx context.Context, d, now *Note, t *Tampering) error {
	var paths []string
	for name, flag := range now.hidden {
		if d.hidden[name] != flag {
			paths = append(paths, name)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	more := ""
	if len(paths) > 1 {
		more = fmt.Sprintf(" and %d more", len(paths)-1)
	}
	t.change("changes of %s%s were hidden by flags of the index", paths[0], more)
	g := s.repo.Git.In(s.repo.TopLevel)
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		if _, err := g.Run(ctx, git.NulTerminated(paths), "update-index", flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
