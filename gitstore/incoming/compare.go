// Comparing incoming files with existing ones, without following links.

package incoming

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// comparison is a comparison in progress.
type comparison struct {
	root    *os.Root
	in      *Set
	files   map[string]File
	parents map[string]bool // directories that hold incoming files
	removed map[string]bool
	dirs    []string // directories below the roots, parents first
	checked map[string]error
}

// Compare lists the files below root, the project's directory, that change. Removals come first, so that a file can
// replace a directory and the other way round, and state.json comes last: it is what other tools look at.
func (in *Set) Compare(ctx context.Context, root *os.Root) (*Changes, error) {
	c := &comparison{
		root:    root,
		in:      in,
		files:   make(map[string]File, len(in.Files)),
		parents: make(map[string]bool),
		removed: make(map[string]bool),
		checked: make(map[string]error),
	}
	for _, f := range in.Files {
		c.files[f.Path] = f
		for d := path.Dir(f.Path); d != "." && !c.parents[d]; d = path.Dir(d) {
			c.parents[d] = true
		}
	}
	changes := &Changes{}
	for _, at := range in.Roots {
		if err := c.removals(ctx, at); err != nil {
			return nil, err
		}
	}
	for p := range c.removed {
		changes.Actions = append(changes.Actions, Action{p, "remove"})
	}
	for _, dir := range slices.Backward(c.dirs) {
		if !c.parents[dir] {
			changes.Empty = append(changes.Empty, dir)
		}
	}
	slices.SortFunc(changes.Actions, func(a, b Action) int { return strings.Compare(a.Path, b.Path) })
	var last *Action
	for _, f := range in.Files {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		action, err := c.action(f)
		switch {
		case err != nil:
			return nil, err
		case action == "":
			changes.Same++
		case f.Path == string(wire.DocState):
			last = &Action{f.Path, action}
		default:
			changes.Actions = append(changes.Actions, Action{f.Path, action})
		}
	}
	if last != nil {
		changes.Actions = append(changes.Actions, *last)
	}
	return changes, nil
}

// removals adds the regular files at or below a path that must go. Links and other things are never transferred;
// they stay unless they are in the way.
func (c *comparison) removals(ctx context.Context, at string) error {
	if err := c.parent(path.Dir(at)); err != nil {
		return err
	}
	fi, err := c.root.Lstat(at)
	if git.Absent(err) {
		return nil
	}
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", at)
	}
	if fi.Mode().IsRegular() {
		c.remove(at)
		return nil
	}
	if !fi.IsDir() {
		return nil
	}
	return fs.WalkDir(c.root.FS(), at, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", p)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case strings.EqualFold(d.Name(), ".git"):
			if d.IsDir() {
				return fs.SkipDir // a repository of its own
			}
		case d.IsDir():
			c.dirs = append(c.dirs, p)
		case d.Type().IsRegular():
			c.remove(p)
		}
		return nil
	})
}

func (c *comparison) remove(p string) {
	if _, ok := c.files[p]; !ok && utf8.ValidString(p) && (c.in.Spare == nil || !c.in.Spare(p)) {
		c.removed[p] = true
	}
}

func unsafeTarget(p, format string) error {
	return fail.Errorf(fail.CodeUnsafeTarget, nil, format, p).
		WithHint("look at it, move it away and run the command again")
}

// parent checks that the path to a file leads through directories only. A regular file on the path is fine if it
// will be removed.
func (c *comparison) parent(dir string) error {
	if dir == "." {
		return nil
	}
	if err, ok := c.checked[dir]; ok {
		return err
	}
	err := c.parent(path.Dir(dir))
	if err == nil {
		fi, lerr := c.root.Lstat(dir)
		switch {
		case git.Absent(lerr):
		case lerr != nil:
			err = fail.Errorf(fail.CodeUnreadable, lerr, "%s cannot be examined", dir)
		case fi.IsDir():
		case fi.Mode().IsRegular() && c.removed[dir]:
		case fi.Mode()&fs.ModeSymlink != 0:
			err = unsafeTarget(dir, "%s is a symbolic link, and files would be written through it")
		default:
			err = unsafeTarget(dir, "%s is where a directory has to be, and is none")
		}
	}
	c.checked[dir] = err
	return err
}

// action returns what a file needs, "" when it is in place.
func (c *comparison) action(f File) (string, error) {
	if err := c.parent(path.Dir(f.Path)); err != nil {
		return "", err
	}
	fi, err := c.root.Lstat(f.Path)
	switch {
	case git.Absent(err):
		return "create", nil
	case err != nil:
		return "", fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", f.Path)
	case fi.Mode().IsRegular() && fi.Size() != f.Size:
		return "replace", nil
	case fi.IsDir():
		return "create", c.vacated(f.Path)
	case !fi.Mode().IsRegular() && fi.Mode()&fs.ModeSymlink == 0:
		return "", unsafeTarget(f.Path, "%s is not a regular file")
	}
	// A root may be a link inside the project; it is read, never written.
	same, err := f.isAt(c.root)
	switch {
	case err == nil && same:
		return "", nil
	case fi.Mode()&fs.ModeSymlink != 0:
		return "", unsafeTarget(f.Path, "%s is a symbolic link, and another file is to take its place")
	case err != nil:
		return "", fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", f.Path)
	}
	return "replace", nil
}

// vacated checks that nothing stays in a directory that a file replaces.
func (c *comparison) vacated(dir string) error {
	return fs.WalkDir(c.root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be examined", p)
		}
		if !d.IsDir() && !c.removed[p] {
			return unsafeTarget(p, "%s is in a directory whose place a file has to take")
		}
		return nil
	})
}

// isAt reports whether the working file has the right contents.
func (f File) isAt(root *os.Root) (bool, error) {
	file, err := root.Open(f.Path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	fi, err := file.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() != f.Size {
		return false, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, f.Size+1)); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == f.SHA256, nil
}

// Holds reports whether the working file at path, relative to root, is the incoming one; for a path that is not
// incoming, whether there is none.
func (in *Set) Holds(root *os.Root, name string) bool {
	f, ok := Find(in.Files, name)
	fi, err := root.Lstat(name)
	if !ok {
		return git.Absent(err)
	}
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	same, err := f.isAt(root)
	return err == nil && same
}
