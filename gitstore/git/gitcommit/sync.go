// Making a commit by git durable: its objects, the branch, the index. git does not sync the directories that name
// them, and older versions do not sync all files.

package gitcommit

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxSynced bounds how many objects of one commit are examined.
const maxSynced = 1 << 20

// Sync makes a commit at HEAD survive a power cut: the objects that its parents lack, the branch and the index.
// working_files_behind means that the commit is made but not known to be durable; object_missing that git's
// housekeeping has removed some of it.
func Sync(ctx context.Context, r *git.Repository, oid object.OID) error {
	made, err := madeBy(ctx, r, oid)
	if err != nil {
		return err
	}
	return syncObjects(ctx, r, oid, made)
}

// Keep is Sync for a commit made a moment ago. It packs the commit's objects other than those in held.
func Keep(ctx context.Context, r *git.Repository, oid object.OID, held map[object.OID]bool) error {
	made, err := madeBy(ctx, r, oid)
	if err != nil {
		return err
	}
	unkept := maps.Clone(made)
	maps.DeleteFunc(unkept, func(id object.OID, _ bool) bool { return held[id] })
	if err := packReached(ctx, r, unkept); err != nil {
		return err
	}
	return syncObjects(ctx, r, oid, made)
}

// madeBy lists the objects of a commit that its parents lack or have elsewhere. It asks git about a merge.
func madeBy(ctx context.Context, r *git.Repository, oid object.OID) (map[object.OID]bool, error) {
	lost := func(err error) error {
		return fail.Errorf(fail.CodeObjectMissing, err, "commit %s has lost objects", oid.Short()).
			WithHint("run git fsck")
	}
	c := newTrees(r, "")
	tree, parents, err := c.treeOf(ctx, oid)
	var before object.OID
	if err == nil && len(parents) == 1 {
		before, _, err = c.treeOf(ctx, parents[0])
	}
	if err == nil && len(parents) < 2 {
		c.found[oid] = true
		err = c.beyond(ctx, tree, before, true)
	} else if err == nil {
		var out []byte
		if out, err = r.Git.Run(ctx, nil, "rev-list", "--objects", "--no-object-names", string(oid),
			"--not", string(oid)+"^@"); git.ExitCode(err) > 0 {
			return nil, lost(err)
		}
		for id := range strings.FieldsSeq(string(out)) {
			c.found[object.OID(id)] = true
		}
	}
	if fail.CodeOf(err) == fail.CodeObjectMissing {
		return nil, lost(err)
	}
	return c.found, err
}

// syncObjects syncs the loose objects of a commit, and the files that say that it is checked out.
func syncObjects(ctx context.Context, r *git.Repository, oid object.OID, made map[object.OID]bool) error {
	files := r.HeadFiles()
	dirs := make(map[string]bool)
	loose := object.Loose{Dir: r.ObjectsDir, Format: r.ObjectFormat}
	// git add --intent-to-add writes it, and another commit may need it.
	if empty := object.Hash(r.ObjectFormat, object.KindBlob, nil); loose.Has(empty) {
		files = append(files, loose.Path(empty))
	}
	n := 0
	for id := range made {
		if n++; n > maxSynced || !id.Valid(r.ObjectFormat) {
			break
		}
		if loose.Has(id) {
			files = append(files, loose.Path(id))
		} else if !r.Objects().Has(ctx, id) {
			return object.Missing(id)
		}
	}
	for _, f := range files {
		for dir := filepath.Dir(f); !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
			if dir == r.ObjectsDir || dir == r.GitDir || dir == r.CommonDir || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if err := git.SyncAll(files, slices.Collect(maps.Keys(dirs))); err != nil {
		return fail.Errorf(fail.CodeWorkBehind, err, "commit %s is made, but that may not survive a power cut",
			oid.Short()).
			WithHint("remove the cause and run the command again")
	}
	return nil
}
