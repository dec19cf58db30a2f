// The contents of a commit of files that git takes as they are, computed without git.

package gitcommit

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// attributesFile is the name of an attributes file in the work tree.
const attributesFile = ".gitattributes"

// errAskGit says that git must be asked how it would store the files.
var errAskGit = errors.New("git has to say what it makes of the files")

// plain makes the tree that a commit of the paths on head will have, and collects the objects in it. It is for
// files that git takes as they are (Repository.CommittedAsIs). seen is a fresh status of the work tree. plain
// returns errAskGit where attributes apply, where the contents are too large for memory, or where anything else is
// staged.
//
// Check what git then commits: a file may be changed before git reads it, even by a hook.
func (c *trees) plain(ctx context.Context, head object.OID, paths []string, seen *gitstatus.Status) (object.OID,
	error) {
	r := c.repo
	// The status covers only the project, and the index covers the work tree.
	if seen == nil || r.Prefix != "" || seen.Head != head || !apart(seen, paths) {
		return "", errAskGit
	}
	base, _, err := c.treeOf(ctx, head)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(r.TopLevel)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	dirs := map[string]bool{}
	files := map[string][]object.TreeEntry{} // by directory
	left := int64(maxHeldHere)
	for _, p := range paths {
		dir, name := path.Split(p)
		dir = strings.TrimSuffix(dir, "/")
		if name == "" || name == attributesFile || !filepath.IsLocal(filepath.FromSlash(p)) || path.Clean(p) != p {
			return "", errAskGit
		}
		if err := c.unattributed(ctx, root, base, dir, dirs); err != nil {
			return "", err
		}
		e, err := c.plainFile(root, p, &left)
		if err != nil {
			return "", err
		}
		if e.OID != "" {
			e.Name = name
			files[dir] = append(files[dir], e)
		}
	}
	tree, err := c.graft(ctx, base, c.plant("", files), paths)
	if err == nil {
		err = c.beyond(ctx, tree, base, true)
	}
	return tree, err
}

// afterCommit returns the status of the work tree after a commit of the paths that was predicted to have the tree.
// seen is the status before. It is nil where anything but the commit has happened.
func afterCommit(ctx context.Context, r *git.Repository, oid, tree object.OID, paths []string,
	seen *gitstatus.Status) *gitstatus.Status {
	is, parents, err := newTrees(r, "").treeOf(ctx, oid)
	if err != nil || is != tree || len(parents) > 1 || len(parents) == 1 && parents[0] != seen.Head ||
		len(parents) == 0 && seen.Head != "" || !r.OnBranch(seen.Branch, oid) {
		return nil
	}
	after := &gitstatus.Status{Head: oid, Branch: seen.Branch, Dirty: maps.Clone(seen.Dirty)}
	for _, p := range paths {
		delete(after.Dirty, p)
	}
	return after
}

// noHooks reports whether a directory of hooks can contain none.
func noHooks(dir string) bool {
	list, err := os.ReadDir(dir)
	return git.Absent(err) || err == nil && !slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return !strings.HasSuffix(e.Name(), ".sample")
	})
}

// apart reports whether nothing but the paths is staged or in conflict, none of them is a submodule, and no other
// difference is above or below one of them: there it would make room for what is committed.
func apart(s *gitstatus.Status, paths []string) bool {
	mine, above := make(map[string]bool, len(paths)), make(map[string]bool)
	for _, p := range paths {
		mine[p] = true
		for d := path.Dir(p); d != "." && !above[d]; d = path.Dir(d) {
			above[d] = true
		}
	}
	for p, d := range s.Dirty {
		if d.Unmerged || mine[p] && d.Submodule {
			return false
		}
		if mine[p] {
			continue
		}
		if p = strings.TrimSuffix(p, "/"); d.Staged || above[p] {
			return false
		}
		for up := path.Dir(p); up != "."; up = path.Dir(up) {
			if mine[up] {
				return false
			}
		}
	}
	return true
}

// unattributed checks that a directory and those above it are directories without an attributes file, in the work
// tree and in the tree base. dirs lists the directories already checked.
func (c *trees) unattributed(ctx context.Context, root *os.Root, base object.OID, dir string,
	dirs map[string]bool) error {
	names := strings.Split(dir, "/")
	if dir == "" {
		names = nil
	}
	for n := 0; ; n++ {
		at := path.Join(names[:n]...)
		if !dirs[at] {
			dirs[at] = true
			fi, err := root.Lstat(filepath.FromSlash(path.Join(at, ".")))
			if err == nil && !fi.IsDir() {
				return errAskGit // perhaps a link; git commits nothing below one
			}
			if err != nil && !git.Absent(err) {
				return err
			}
			if _, err := root.Lstat(filepath.FromSlash(path.Join(at, attributesFile))); !git.Absent(err) {
				return errAskGit
			}
		}
		entries, err := c.tree(ctx, base)
		if err != nil {
			return err
		}
		base = ""
		for _, e := range entries {
			if e.Name == attributesFile || n < len(names) && e.Name == names[n] && e.Mode == object.ModeGitlink {
				return errAskGit
			}
			if n < len(names) && e.Name == names[n] && e.IsTree() {
				base = e.OID
			}
		}
		if n == len(names) {
			return nil
		}
	}
}

// plainFile makes a blob of a file or link in the work tree; no entry where there is none. left is how many bytes
// may still be read.
func (c *trees) plainFile(root *os.Root, p string, left *int64) (e object.TreeEntry, err error) {
	name := filepath.FromSlash(p)
	fi, err := root.Lstat(name)
	if git.Absent(err) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	var data []byte
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(name)
		if err != nil {
			return e, err
		}
		e.Mode, data = object.ModeSymlink, []byte(to)
	case fi.Mode().IsRegular():
		f, _, err := git.OpenIn(root, name)
		if err != nil {
			return e, err
		}
		data, err = git.ReadLimited(f, fi.Size(), *left)
		_ = f.Close()
		if errors.Is(err, git.ErrTooLong) {
			err = errAskGit
		}
		if err != nil {
			return e, err
		}
		if e.Mode = object.ModeFile; fi.Mode()&0o100 != 0 {
			e.Mode = object.ModeExec
		}
	default:
		return e, errAskGit
	}
	if *left -= int64(len(data)); *left < 0 {
		return e, errAskGit
	}
	o := object.New(c.repo.ObjectFormat, object.KindBlob, data)
	c.made[o.OID] = o
	e.OID = o.OID
	return e, nil
}

// plant makes the trees of entries that are listed by directory, and returns the tree of dir; "" for none.
func (c *trees) plant(dir string, files map[string][]object.TreeEntry) object.OID {
	entries := files[dir]
	below := map[string]bool{}
	for d := range files {
		rest, ok := d, true
		if dir != "" {
			rest, ok = strings.CutPrefix(d, dir+"/")
		}
		if name, _, _ := strings.Cut(rest, "/"); ok && name != "" {
			below[name] = true
		}
	}
	for name := range below {
		entries = append(entries, object.TreeEntry{
			Mode: object.ModeTree,
			Name: name,
			OID:  c.plant(path.Join(dir, name), files),
		})
	}
	if len(entries) == 0 {
		return ""
	}
	return c.makeTree(entries)
}

// makeTree makes a tree and records it as made here.
func (c *trees) makeTree(entries []object.TreeEntry) object.OID {
	o := object.New(c.repo.ObjectFormat, object.KindTree, object.EncodeTree(entries))
	c.made[o.OID] = o
	return o.OID
}
