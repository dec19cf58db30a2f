// Taking back a commit of ours that git's housekeeping has removed.
//
// git writes a commit as a loose object and then moves the branch. A prune that had looked at the refs before removes
// it all the same, and the branch names what is not there. The process that has git commit notices, takes the
// commit back and makes it again. Where it was killed first, the next command does: the note of that
// git's locks says what was to be committed on what.

package gitcommit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Settle sees to the commit of a git whose process was killed: one that is there is packed and made durable, one
// that housekeeping took is taken back. wait says that a command of the other work tree has to do it.
func Settle(ctx context.Context, r *git.Repository, n *git.LockNote) (notice string, wait bool) {
	c := n.Commit
	if c.GitDir != r.GitDir && !git.SameFile(c.GitDir, r.GitDir) {
		return "", commitOfOther(ctx, r, c)
	}
	oid := r.Head(ctx)
	if oid == "" || oid == c.Before {
		return "", false
	}
	if cmp.Or(headWas(ctx, r), c.Before) != c.Before {
		_ = keepSince(ctx, r, oid, c.Before) // what others build on is not taken back
		return "", false
	}
	err := Keep(ctx, r, oid, nil)
	if err == nil || fail.CodeOf(err) != fail.CodeObjectMissing {
		return "", false
	}
	if whole(ctx, r, oid) || !r.HasCommit(ctx, c.Before) || ctx.Err() != nil {
		return "", false
	}
	err = r.UnderNote(&git.LockNote{
		LockOwner: git.NewOwner("taking back a commit"),
		Locks:     r.CommitLocks(),
		Commit:    c,
	}, func(mark func(*git.Git) *git.Git) error { return takeBack(ctx, r, mark(r.Git), oid, c.Before, c.Paths) })
	if err != nil {
		return "", true
	}
	return fmt.Sprintf("took commit %s back, which git's housekeeping had removed when process %d was killed: "+
		"its files are as they were before it", oid.Short(), n.PID), false
}

// commitOfOther looks at a commit of another work tree and packs it if it is there. It reports whether a command over
// there has something to take back.
func commitOfOther(ctx context.Context, r *git.Repository, c *git.UnderCommit) bool {
	if fi, err := os.Stat(c.GitDir); err != nil || !fi.IsDir() {
		return false
	}
	oid := r.HeadOf(ctx, c.GitDir)
	if oid == c.Before {
		return false
	}
	return keepSince(ctx, r, oid, c.Before) != nil
}

// maxBuiltUpon bounds how many commits may have followed one that was not kept.
const maxBuiltUpon = 256

// keepSince packs and syncs what the commits from before, without it, to oid have made. Where no line of first parents
// leads there it does nothing: the branch has been moved elsewhere.
func keepSince(ctx context.Context, r *git.Repository, oid, before object.OID) error {
	c := newTrees(r, "")
	made := make(map[object.OID]bool)
	for at, n := oid, 0; at != before; n++ {
		if n == maxBuiltUpon {
			return nil
		}
		one, err := madeBy(ctx, r, at)
		if err != nil {
			return err
		}
		maps.Copy(made, one)
		_, parents, err := c.treeOf(ctx, at)
		if err != nil {
			return err
		}
		if len(parents) == 0 {
			return nil
		}
		at = parents[0]
	}
	if err := packReached(ctx, r, made); err != nil {
		return err
	}
	return syncObjects(ctx, r, oid, made)
}

// whole reports that git finds the commit and all that it leads to, short of what its parents have.
func whole(ctx context.Context, r *git.Repository, oid object.OID) bool {
	_, err := r.Git.Run(ctx, nil, "rev-list", "--objects", "--quiet", string(oid), "--not", string(oid)+"^@")
	return err == nil
}

// headWas is where HEAD was before its last move, "" where no log is kept.
func headWas(ctx context.Context, r *git.Repository) object.OID {
	out, err := r.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD@{1}")
	if err != nil {
		return ""
	}
	return object.OID(strings.TrimSpace(string(out)))
}

// Made is a commit that Paths has made.
type Made struct {
	Commit, Before object.OID
	Paths          []string // project-relative
}

// Undo takes a commit back that is whole, and its files with it: they are as Before has them, but for those
// that have been changed since. Where the branch has moved on nothing is done. Whatever else is staged stays staged.
func Undo(ctx context.Context, r *git.Repository, m *Made) (err error) {
	if m.Before == "" || r.Head(ctx) != m.Commit {
		return nil
	}
	// Asked before the branch moves: a failure then changes nothing.
	out, err := r.Git.Run(ctx, nil, "diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--name-only", "--relative",
		"-z", string(m.Commit))
	if err != nil {
		return err
	}
	changed := git.NulNames(out)
	return r.LockingGit("taking a commit back", r.CommitLocks(), func(mark func(*git.Git) *git.Git) error {
		g := mark(r.Git)
		if err := takeBack(ctx, r, g, m.Commit, m.Before, m.Paths); err != nil {
			return err
		}
		paths := slices.DeleteFunc(slices.Clone(m.Paths), func(p string) bool { return slices.Contains(changed, p) })
		return asBefore(ctx, r, g, m, paths)
	})
}

// asBefore puts files of a commit that was taken back as they were before it.
func asBefore(ctx context.Context, r *git.Repository, g *git.Git, m *Made, paths []string) error {
	var known, fresh []string
	had := make([]string, len(paths))
	for i, p := range paths {
		had[i] = string(m.Before) + ":" + r.Prefix + p
	}
	err := r.ReadNamed(ctx, had, func(i int, o git.Named) {
		if o.Found {
			known = append(known, paths[i])
		} else {
			fresh = append(fresh, paths[i])
		}
	})
	if err != nil {
		return err
	}
	if len(known) > 0 {
		_, err = g.Run(ctx, git.NulTerminated(known), "restore", "--quiet", "--source="+string(m.Before), "--worktree",
			"--pathspec-from-file=-", "--pathspec-file-nul")
	}
	root, oerr := os.OpenRoot(g.Dir)
	if oerr != nil {
		return errors.Join(err, oerr)
	}
	defer func() { _ = root.Close() }()
	for _, p := range fresh {
		if rerr := root.Remove(filepath.FromSlash(p)); rerr != nil && !git.Absent(rerr) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// takeBack undoes the commit at HEAD, of which objects may be lost, as if it had not been
// made: the branch is back where it was (before, where no log tells), its files are not staged, and the
// reflogs do not name what is not there.
func takeBack(ctx context.Context, r *git.Repository, g *git.Git, lost, before object.OID, paths []string) error {
	before = cmp.Or(headWas(ctx, r), before)
	if before == "" {
		return fail.Errorf(fail.CodeObjectMissing, nil,
			"the first commit of the branch, %s, was removed while git made it",
			lost.Short()).
			WithHint("git update-ref -d HEAD, and the command again")
	}
	back := []string{"update-ref", "-m", "agentxchain: take a commit back", "HEAD", string(before),
		string(lost)}
	if _, err := g.Run(ctx, nil, back...); err != nil {
		return err
	}
	logs := []string{"HEAD"}
	if branch, err := r.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		logs = append(logs, strings.TrimSpace(string(branch)))
	}
	for _, ref := range logs {
		if _, err := r.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", ref+"@{1}"); err != nil {
			continue // no log is kept of it
		}
		// What moved it back and, first as git counts anew after each, what it undid.
		if _, err := g.Run(ctx, nil, "reflog", "delete", "--rewrite", ref+"@{1}", ref+"@{0}"); err != nil {
			return fmt.Errorf("the reflog of %s: %w", ref, err)
		}
	}
	_, err := g.Run(ctx, git.NulTerminated(paths), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
