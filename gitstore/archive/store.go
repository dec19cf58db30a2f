package archive

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// listFile is the only file in a list's commit and in a commit that keeps operations.
const listFile = "runs.jsonl"

// maxParents bounds the parents of one commit; more operations take a chain of commits.
const maxParents = 400

// Years returns the years below a prefix of refs, each with its commit.
func Years(ctx context.Context, r *git.Repository, prefix string) (map[string]object.OID, error) {
	refs, err := r.ListRefs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]object.OID, len(refs))
	for _, ref := range refs {
		year := strings.TrimPrefix(ref.Name, prefix)
		if ValidYear(year) && ref.OID != "" && ref.Target == "" && !ref.Broken {
			out[year] = ref.OID
		}
	}
	return out, nil
}

// ValidYear reports whether s is the name of a year.
func ValidYear(s string) bool { return len(s) == 4 && strings.Trim(s, "0123456789") == "" }

// Read reads the list a commit holds.
func Read(ctx context.Context, r *git.Repository, commit object.OID) (List, error) {
	if commit == "" {
		return make(List), nil
	}
	tree, err := treeAt(ctx, r, commit)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tree, func(e object.TreeEntry) bool { return e.Name == listFile && !e.IsTree() })
	if i < 0 {
		return make(List), nil
	}
	_, data, err := r.Objects().Read(ctx, tree[i].OID)
	if err != nil {
		return nil, err
	}
	return decode(data, r.ObjectFormat), nil
}

// ReadAll reads the lists of all years below a prefix as one.
func ReadAll(ctx context.Context, r *git.Repository, prefix string) (List, error) {
	years, err := Years(ctx, r, prefix)
	if err != nil {
		return nil, err
	}
	all := make(List)
	for year, commit := range years {
		l, err := Read(ctx, r, commit)
		if fail.CodeOf(err) == fail.CodeRefBroken {
			return nil, fail.Errorf(fail.CodeRefBroken, nil, "the ref %s has the wrong content: %v",
				prefix+year, err).WithHint("git update-ref -d %s removes it; git agentxchain sync brings the list of the remote",
				prefix+year)
		}
		if err != nil {
			return nil, err
		}
		all = all.Merge(l)
	}
	return all, nil
}

// Write writes a commit with these parents that holds a list and the tree of witness statements ("" for none).
func Write(ctx context.Context, r *git.Repository, l List, said object.OID, by object.Signature, subject string,
	parents ...object.OID,
) (object.OID, error) {
	blob := object.New(r.ObjectFormat, object.KindBlob, l.encode())
	entries := []object.TreeEntry{{Name: listFile, Mode: object.ModeFile, OID: blob.OID}}
	if said != "" {
		entries = append(entries, object.TreeEntry{Name: saidDir, Mode: object.ModeTree, OID: said})
	}
	tree := treeOf(r, entries)
	data, err := object.EncodeCommit(r.ObjectFormat, &object.Commit{
		Tree:      tree.OID,
		Parents:   parents,
		Author:    by,
		Committer: by,
		Message:   subject + "\n",
	})
	if err != nil {
		return "", fail.Errorf(fail.CodeObjectInvalid, err, "the list of archived runs cannot be written as a commit")
	}
	commit := object.New(r.ObjectFormat, object.KindCommit, data)
	return commit.OID, r.Objects().Write(ctx, []object.Object{blob, tree, commit})
}

// Join writes a commit that keeps the operations of l in addition to those that before keeps.
func Join(ctx context.Context, r *git.Repository, before object.OID, l List, by object.Signature) (object.OID, error) {
	kept, err := Read(ctx, r, before)
	if err != nil {
		return "", err
	}
	var tips []object.OID
	for run, e := range l {
		if k := kept[run]; k == nil || k.Op != e.Op {
			tips = append(tips, object.OID(e.Op))
		}
	}
	slices.Sort(tips)
	kept = kept.Merge(l)
	for some := range slices.Chunk(tips, maxParents) {
		parents := some
		if before != "" {
			parents = append([]object.OID{before}, some...)
		}
		if before, err = Write(ctx, r, kept, "", by, "archive: runs that are over", parents...); err != nil {
			return "", err
		}
	}
	return before, nil
}

// Keeps reports whether the archive of a repository keeps a run at an operation: its list says so, and the
// operation is reachable from the year's commit.
func Keeps(ctx context.Context, r *git.Repository, run string, op object.OID) (bool, error) {
	l, err := ReadAll(ctx, r, ListPrefix)
	if err != nil {
		return false, err
	}
	e := l.Archived(run)
	if e == nil {
		return false, nil
	}
	keep, err := r.ReadRef(ctx, KeepPrefix+e.Year())
	if err != nil || keep == "" {
		return false, err
	}
	for _, way := range [][2]object.OID{{op, object.OID(e.Op)}, {object.OID(e.Op), keep}} {
		if in, err := history.Ancestor(ctx, r, way[0], way[1]); err != nil || !in {
			return false, err
		}
	}
	return true, nil
}
