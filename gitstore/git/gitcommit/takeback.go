// Taking back a commit of ours that git's housekeeping has removed.
//
// git writes a commit as a loose object and then moves the branch. A prune that read the refs before removes it
// anyway, and the branch then names a missing commit. The process that runs git commit notices, takes the commit
// back and makes it again. If it was killed first, the next command does: the note of that git's locks says what
// was to be committed on what.

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

// Settle settles the commit of a git whose process was killed, or whose machine lost power: it packs and syncs an
// existing commit, takes back one that housekeeping removed or that did not reach the disk, and restores the index
// from before the commit if only part of it is there. wait says that a command in the other work tree has to do it.
func Settle(ctx context.Context, r *git.Repository, n *git.LockNote) (notice string, wait bool) {
	c := n.Commit
	if c.GitDir != r.GitDir && !git.SameFile(c.GitDir, r.GitDir) {
		return "", r.IndexLost(n) || commitOfOther(ctx, r, c)
	}
	mended, wait := r.MendIndex(n)
	if wait {
		return "", true
	}
	if mended {
		notice = fmt.Sprintf("the index was not whole when process %d had ended: it is again what it was before the commit",
			n.PID)
	}
	back := func(work func(g *git.Git) error) (wait bool) {
		return r.UnderNote(&git.LockNote{
			LockOwner: git.NewOwner("taking back a commit"),
			Locks:     r.CommitLocks(),
			Commit:    c,
		}, func(mark func(*git.Git) *git.Git) error { return work(mark(r.Git)) }) != nil
	}
	if torn := r.TornLogs(); len(torn) > 0 && back(func(g *git.Git) error { return wholeLines(ctx, g, torn) }) {
		return "", true
	}
	oid := r.Head(ctx)
	switch {
	case oid == "":
		return notice, false
	case oid == c.Before:
		if named := lostOf(ctx, r, oid); len(named) > 0 &&
			back(func(g *git.Git) error { return forget(ctx, g, named, false) }) {
			return "", true
		}
		return notice, false
	}
	onward := cmp.Or(cameFrom(ctx, r, oid), c.Before) != c.Before
	if (mended || !onward) && r.HasCommit(ctx, oid) {
		if late := late(ctx, r, c.Before); len(late) > 0 && back(func(g *git.Git) error { return unstage(ctx, g, late) }) {
			return "", true
		}
	}
	if onward {
		_ = keepSince(ctx, r, oid, c.Before) // a commit that others build on is not taken back
		return notice, false
	}
	err := Keep(ctx, r, oid, nil)
	if err == nil || fail.CodeOf(err) != fail.CodeObjectMissing {
		return notice, false
	}
	if whole(ctx, r, oid) || !r.HasCommit(ctx, c.Before) || ctx.Err() != nil {
		return notice, false
	}
	if back(func(g *git.Git) error { return takeBack(ctx, r, g, oid, c.Before, c.Paths) }) {
		return "", true
	}
	return fmt.Sprintf("took commit %s back, which was lost when process %d ended in the middle of it: "+
		"its files are as they were before it", oid.Short(), n.PID), false
}

// late returns the paths where the index equals the previous commit and HEAD does not: git moves the branch first
// and then the index. It returns none if git fails.
func late(ctx context.Context, r *git.Repository, before object.OID) []string {
	differs := func(from string) (names []string, err error) {
		out, err := r.Git.Run(ctx, nil, "diff-index", "--cached", "--ita-invisible-in-index", "-z", "--name-only",
			"--no-renames", "--relative", from)
		return git.NulNames(out), err
	}
	behind, err := differs("HEAD")
	if err != nil || len(behind) == 0 {
		return nil
	}
	staged, err := differs(string(before))
	if err != nil {
		return nil
	}
	others := make(map[string]bool, len(staged))
	for _, name := range staged {
		others[name] = true
	}
	return slices.DeleteFunc(behind, func(name string) bool { return others[name] })
}

// unstage resets the index entries of the paths to HEAD.
func unstage(ctx context.Context, g *git.Git, paths []string) error {
	_, err := g.Run(ctx, git.NulTerminated(paths), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

// commitOfOther examines a commit of another work tree and packs it if it is there. It reports whether a command in
// that work tree has something to take back.
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

// maxBuiltUpon bounds how many commits may have followed one that was not made durable.
const maxBuiltUpon = 256

// keepSince packs and syncs what the commits after before, up to oid, have added. It does nothing if no line of
// first parents connects the two: the branch has been moved elsewhere.
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

// whole reports whether git finds the commit and everything it reaches, except what its parents have.
func whole(ctx context.Context, r *git.Repository, oid object.OID) bool {
	_, err := r.Git.Run(ctx, nil, "rev-list", "--objects", "--quiet", string(oid), "--not", string(oid)+"^@")
	return err == nil
}

// logged returns where a ref was nth moves ago according to its log; "" if the log does not say.
func logged(ctx context.Context, g *git.Git, ref string, nth int) object.OID {
	if _, err := g.Run(ctx, nil, "reflog", "exists", ref); err != nil {
		return ""
	}
	out, err := g.Run(ctx, nil, "rev-parse", "--verify", "--quiet", fmt.Sprintf("%s@{%d}", ref, nth))
	if err != nil {
		return ""
	}
	return object.OID(strings.TrimSpace(string(out)))
}

// cameFrom returns where HEAD was before it moved to a commit, "" where no log says: none is kept, or a power cut
// lost the entry.
func cameFrom(ctx context.Context, r *git.Repository, oid object.OID) object.OID {
	if logged(ctx, r.Git, "HEAD", 0) != oid {
		return ""
	}
	return logged(ctx, r.Git, "HEAD", 1)
}

// logs returns the refs that move with a commit.
func logs(ctx context.Context, r *git.Repository) []string {
	refs := []string{"HEAD"}
	if branch, err := r.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		refs = append(refs, strings.TrimSpace(string(branch)))
	}
	return refs
}

// lostOf returns the refs at oid whose logs say that they have moved to a lost commit.
func lostOf(ctx context.Context, r *git.Repository, oid object.OID) (named []string) {
	for _, ref := range logs(ctx, r) {
		if to := logged(ctx, r.Git, ref, 0); to != "" && to != oid && !r.HasCommit(ctx, to) {
			named = append(named, ref)
		}
	}
	return named
}

// wholeLines has git rewrite logs without the lines that it cannot read.
func wholeLines(ctx context.Context, g *git.Git, refs []string) error {
	args := []string{"reflog", "expire", "--expire=never", "--expire-unreachable=never"}
	_, err := g.Run(ctx, nil, append(args, refs...)...)
	return err
}

// forget removes the last move from the logs of refs, and if before is set the move before it.
func forget(ctx context.Context, g *git.Git, refs []string, before bool) error {
	for _, ref := range refs {
		args := []string{"reflog", "delete", "--rewrite"}
		if before {
			args = append(args, ref+"@{1}") // first, because git renumbers after each
		}
		if _, err := g.Run(ctx, nil, append(args, ref+"@{0}")...); err != nil {
			return fmt.Errorf("the reflog of %s: %w", ref, err)
		}
	}
	return nil
}

// Made is a commit made by Paths.
type Made struct {
	Commit, Before object.OID
	Paths          []string // project-relative
}

// Undo takes back an intact commit with its files: they become as in Before, except those changed since. If the
// branch has moved on, it does nothing. Other staged changes stay staged.
func Undo(ctx context.Context, r *git.Repository, m *Made) (err error) {
	if m.Before == "" || r.Head(ctx) != m.Commit {
		return nil
	}
	// Ask before the branch moves: then a failure changes nothing.
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

// asBefore restores the files of a commit that was taken back.
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

// takeBack undoes the commit at HEAD, some of whose objects may be lost, as if it had not been made: the branch
// returns to where it was (before, where no log says), its files are unstaged, and the reflogs do not name missing
// commits.
func takeBack(ctx context.Context, r *git.Repository, g *git.Git, lost, before object.OID, paths []string) error {
	before = cmp.Or(cameFrom(ctx, r, lost), before)
	if before == "" {
		return fail.Errorf(fail.CodeObjectMissing, nil,
			"the first commit of the branch, %s, was removed while git made it",
			lost.Short()).
			WithHint("git update-ref -d HEAD, and the command again")
	}
	var telling, silent []string // from their logs the move back and the undone move are removed
	for _, ref := range logs(ctx, r) {
		if logged(ctx, r.Git, ref, 0) == lost {
			telling = append(telling, ref)
		} else {
			silent = append(silent, ref)
		}
	}
	back := []string{"update-ref", "-m", "agentxchain: take a commit back", "HEAD", string(before),
		string(lost)}
	if _, err := g.Run(ctx, nil, back...); err != nil {
		return err
	}
	silent = slices.DeleteFunc(silent, func(ref string) bool { return logged(ctx, r.Git, ref, 0) != before })
	if err := errors.Join(forget(ctx, g, telling, true), forget(ctx, g, silent, false)); err != nil {
		return err
	}
	return unstage(ctx, g, paths)
}
