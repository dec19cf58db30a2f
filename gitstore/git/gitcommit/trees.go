// The contents of a commit of some paths, computed from trees without git.

package gitcommit

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// trees reads trees while a commit is being computed. Objects are in a separate place, made here, or in the
// repository.
type trees struct {
	repo  *git.Repository
	apart object.Loose // objects that git has written for it; an empty directory name for none
	made  map[object.OID]object.Object
	found map[object.OID]bool // the objects of the commit
}

func newTrees(r *git.Repository, apart string) *trees {
	return &trees{
		repo: r, apart: object.Loose{Dir: apart, Format: r.ObjectFormat},
		made: make(map[object.OID]object.Object), found: make(map[object.OID]bool),
	}
}

// object reads an object of at most limit bytes.
func (c *trees) object(ctx context.Context, oid object.OID, limit int64) (kind string, data []byte, err error) {
	if o, ok := c.made[oid]; ok {
		kind, data = o.Kind, o.Data
	} else if c.apart.Dir != "" && oid.Valid(c.repo.ObjectFormat) && c.apart.Has(oid) {
		kind, data, err = c.apart.Read(oid)
	} else {
		kind, data, err = c.repo.Objects().Read(ctx, oid)
	}
	if err == nil && int64(len(data)) > limit {
		err = object.TooLarge(oid, int64(len(data)))
	}
	return kind, data, err
}

// tree reads a tree; "" is the empty tree.
func (c *trees) tree(ctx context.Context, oid object.OID) ([]object.TreeEntry, error) {
	if oid == "" {
		return nil, nil
	}
	kind, data, err := c.object(ctx, oid, object.MaxSize)
	if err != nil {
		return nil, err
	}
	if kind != object.KindTree {
		return nil, object.Corrupt(oid, nil)
	}
	entries, err := object.ParseTree(c.repo.ObjectFormat, data)
	if err != nil {
		return nil, object.Corrupt(oid, err)
	}
	return entries, nil
}

// treeOf returns the tree of a commit and its parents; "" for no commit.
func (c *trees) treeOf(ctx context.Context, oid object.OID) (tree object.OID, parents []object.OID, err error) {
	if oid == "" {
		return "", nil, nil
	}
	kind, data, err := c.object(ctx, oid, object.MaxSize)
	if err != nil {
		return "", nil, err
	}
	if kind != object.KindCommit {
		return "", nil, object.Corrupt(oid, nil)
	}
	commit, err := object.ParseCommit(c.repo.ObjectFormat, data)
	if err != nil {
		return "", nil, object.Corrupt(oid, err)
	}
	return commit.Tree, commit.Parents, nil
}

// beyond collects what a tree holds that another does not hold in the same place; blobs only if blobs is set.
// Commits of submodules are not in the repository.
func (c *trees) beyond(ctx context.Context, tree, other object.OID, blobs bool) error {
	if tree == other || tree == "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	c.found[tree] = true
	entries, err := c.tree(ctx, tree)
	if err != nil {
		return err
	}
	old, err := c.tree(ctx, other)
	if err != nil {
		return err
	}
	before := make(map[string]object.TreeEntry, len(old))
	for _, e := range old {
		before[e.Name] = e
	}
	for _, e := range entries {
		was := before[e.Name]
		switch {
		case e.OID == was.OID || e.Mode == object.ModeGitlink:
		case !e.IsTree():
			if blobs {
				c.found[e.OID] = true
			}
		case !was.IsTree():
			err = c.beyond(ctx, e.OID, "", blobs)
		default:
			err = c.beyond(ctx, e.OID, was.OID, blobs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// graft returns a tree with the paths from one tree and everything else from another; "" for an empty one.
func (c *trees) graft(ctx context.Context, onto, from object.OID, paths []string) (object.OID, error) {
	base, err := c.tree(ctx, onto)
	if err != nil {
		return "", err
	}
	with, err := c.tree(ctx, from)
	if err != nil {
		return "", err
	}
	below := make(map[string][]string)
	for _, p := range paths {
		name, rest, deep := strings.Cut(p, "/")
		if below[name] = append(below[name], rest); !deep {
			below[name] = below[name][:len(below[name])-1]
		}
	}
	named := func(list []object.TreeEntry, name string) object.TreeEntry {
		for _, e := range list {
			if e.Name == name {
				return e
			}
		}
		return object.TreeEntry{}
	}
	out := make([]object.TreeEntry, 0, len(base)+len(below))
	for _, e := range base {
		if _, ok := below[e.Name]; !ok {
			out = append(out, e)
		}
	}
	for name, rest := range below {
		e := named(with, name)
		if len(rest) > 0 {
			var was, is object.OID
			if b := named(base, name); b.IsTree() {
				was = b.OID
			}
			if e.IsTree() {
				is = e.OID
			}
			if is != "" || e.OID == "" {
				e = object.TreeEntry{Mode: object.ModeTree, Name: name}
				if e.OID, err = c.graft(ctx, was, is, rest); err != nil {
					return "", err
				}
			}
		}
		if e.OID != "" {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return "", nil
	}
	return c.makeTree(out), nil
}

// maxHeldHere bounds the total size of contents that are packed here, in bytes; git packs more.
const maxHeldHere = 32 << 20

// objects reads everything that was found. ok is false if there is too much, and git has to pack it.
func (c *trees) objects(ctx context.Context) (list []object.Object, ok bool, err error) {
	left := int64(maxHeldHere)
	for oid := range c.found {
		kind, data, err := c.object(ctx, oid, left)
		if fail.CodeOf(err) == fail.CodeObjectTooLarge {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		left -= int64(len(data))
		list = append(list, object.Object{OID: oid, Kind: kind, Data: data})
	}
	return list, true, nil
}

// apartFromMade returns the found objects that were made here, and the ids of all other found objects, one per
// line.
func (c *trees) apartFromMade() (made []object.Object, ids []byte) {
	for oid := range c.found {
		if o, ok := c.made[oid]; ok && (c.apart.Dir == "" || !c.apart.Has(oid)) {
			made = append(made, o)
		} else {
			ids = append(ids, oid+"\n"...)
		}
	}
	return made, ids
}
