// Protecting the objects of a commit that git makes from git's own housekeeping. git writes them one by one as
// loose files, and until the branch has moved no ref reaches them: git prune --expire=now removes them during a git
// commit, which does not notice. So the files and their trees are packed and held before git is started, and the
// commit itself is packed as soon as its id is known.

package gitcommit

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// heldPaths is everything that a commit needs besides itself, packed and held.
type heldPaths struct {
	ids     map[object.OID]bool
	release func() // must be called
	// tree is the commit's tree, if git finds the files unchanged; "" where git computed it.
	tree object.OID
}

// holdPaths packs everything that a commit of the paths on head, as they are in the work tree, needs besides
// itself. as is the git that will commit, for its filters. Files that git takes asIs are read here; seen is
// As.Status.
func holdPaths(ctx context.Context, r *git.Repository, as *git.Git, head object.OID, paths []string,
	seen *gitstatus.Status, asIs bool) (*heldPaths, error) {
	if asIs {
		c := newTrees(r, "")
		tree, err := c.plain(ctx, head, paths, seen)
		if err == nil {
			h := &heldPaths{ids: c.found, tree: tree}
			h.release, err = packUp(ctx, r, nil, c)
			return h, err
		}
		if !errors.Is(err, errAskGit) {
			return nil, err
		}
	}
	dir, err := r.Aside()
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Remove() }()
	err = git.CopyIndex(filepath.Join(r.GitDir, "index"), filepath.Join(dir.Path, "whole"))
	if err != nil && !git.Absent(err) {
		return nil, err
	}
	g := dir.Git(as, "whole")
	_, err = g.Run(ctx, git.NulTerminated(paths), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	if err != nil {
		return nil, err
	}
	out, err := g.Run(ctx, nil, "write-tree")
	if err != nil {
		return nil, err
	}
	// git stores two trees, one for the commit and one for the whole index, which then references it; other staged
	// content is reached by the current index.
	whole := object.OID(strings.TrimSpace(string(out)))
	c := newTrees(r, filepath.Join(dir.Path, "objects"))
	base, _, err := c.treeOf(ctx, head)
	if err != nil {
		return nil, err
	}
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = r.Prefix + p
	}
	tree, err := c.graft(ctx, base, whole, full)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.beyond(ctx, tree, base, true), c.beyond(ctx, whole, base, false)); err != nil {
		return nil, err
	}
	h := &heldPaths{ids: c.found}
	h.release, err = packUp(ctx, r, dir, c)
	return h, err
}

// packReached packs objects that a ref reaches since a moment ago. They may be loose, or in a released pack, and a
// running prune or repack may have read the refs before; one that has not yet seen this pack leaves it alone.
func packReached(ctx context.Context, r *git.Repository, found map[object.OID]bool) error {
	c := newTrees(r, "")
	c.found = found
	release, err := packUp(ctx, r, nil, c)
	if err == nil {
		release()
		return nil
	}
	for id := range found {
		if !r.Objects().Has(ctx, id) {
			return object.Missing(id)
		}
	}
	return err
}

// packUp writes what was found into a held pack in the repository. Large packs are made by git, in dir, which is
// created if nil and needed.
func packUp(ctx context.Context, r *git.Repository, dir *git.Aside, c *trees) (release func(), err error) {
	if len(c.found) == 0 {
		return func() {}, nil
	}
	objects, ok, err := c.objects(ctx)
	if err != nil {
		return nil, err
	}
	if ok {
		return r.HoldObjects(objects)
	}
	if dir == nil {
		if dir, err = r.Aside(); err != nil {
			return nil, err
		}
		defer func() { _ = dir.Remove() }()
	}
	own, ids := c.apartFromMade()
	out, err := dir.Git(r.Git, "none").Run(ctx, ids, "-c", "pack.packSizeLimit=0", "-c", "pack.indexVersion=2",
		"pack-objects", "--quiet", "--window=0", "--depth=0", "--no-reuse-delta", filepath.Join(dir.Path, "pack"))
	if err != nil {
		return nil, err
	}
	byGit, err := r.HoldPack(filepath.Join(dir.Path, "pack-"+strings.TrimSpace(string(out))))
	if err != nil || len(own) == 0 {
		return byGit, err
	}
	rest, err := r.HoldObjects(own)
	if err != nil {
		byGit()
		return nil, err
	}
	return func() { byGit(); rest() }, nil
}

// prunedWhileWriting reports whether a git failed because a file or directory that it had just made for an object
// was gone, or an object that no ref reached yet. There is no exit status for this.
func prunedWhileWriting(err error) bool {
	has := func(s string) bool { return strings.Contains(git.ComplaintOf(err), s) }
	return has("Error building trees") || has("with nonexistent object") || // the commit itself
		has("No such file or directory") && (has("unable to write file") || has("unable to create temporary file"))
}
