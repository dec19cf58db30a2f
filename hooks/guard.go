// The guard: the state of protected files before a hook, and the check that it is unchanged.

package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// guard holds a picture of the protected files. It stays valid for all hooks of a call, since the first difference
// ends the call. Every access goes through an os.Root, so that no link swapped in leads out of the project.
type guard struct {
	runner *Runner
	call   Call
	root   *os.Root
	order  []string // every path in the picture, in the order of comparison
	files  map[string]picture
	dirs   map[string]picture // their directories
	depth  []string           // the keys of dirs, parents first
	kept   int64              // bytes of contents in memory
	copies string             // directory of copies of big files, "" if none
	beside []besideGuard
}

// guard takes the picture.
func (r *Runner) guard(call Call) (*guard, error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, guardError(err)
	}
	g := &guard{runner: r, call: call, root: root, files: make(map[string]picture), dirs: make(map[string]picture)}
	err = g.take()
	if err == nil {
		err = g.takeBeside()
	}
	if err != nil {
		g.close()
		return nil, guardError(err)
	}
	return g, nil
}

func (g *guard) take() error {
	bundled, err := bundleFiles(g.root, g.call)
	if err != nil {
		return err
	}
	g.addParents(path.Join(dispatchDir, "x"))
	for _, p := range append(g.runner.protected(g.call), bundled...) {
		if _, known := g.files[p]; known {
			continue
		}
		g.addParents(p)
		pic, err := g.look(p, true)
		if err != nil {
			return err
		}
		g.files[p] = pic
		g.order = append(g.order, p)
	}
	for d := range g.dirs {
		g.depth = append(g.depth, d)
	}
	slices.SortFunc(g.depth, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // a parent's path is shorter
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	return nil
}

// addParents adds the directories above p to the picture: a directory swapped for a link takes all its files along.
func (g *guard) addParents(p string) {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if _, known := g.dirs[d]; known {
			return
		}
		g.dirs[d] = g.lookDir(d)
	}
}

func (g *guard) lookDir(d string) picture {
	info, err := g.root.Lstat(d)
	if err != nil {
		return picture{kind: kindOf(err)}
	}
	pic := picture{mode: info.Mode().Perm(), kind: kindOther}
	switch {
	case info.IsDir():
		pic.kind = kindDir
	case info.Mode()&fs.ModeSymlink != 0:
		pic.kind = kindLink
		pic.link, _ = g.root.Readlink(d)
	}
	return pic
}

// check returns the first protected path that has changed, or "".
func (g *guard) check() (string, error) {
	bad := g.swapped()
	for _, p := range g.order {
		if under(bad, p) {
			return p, nil
		}
		now, err := g.look(p, false)
		if err != nil {
			return "", err
		}
		if !g.same(p, now) {
			return p, nil
		}
	}
	if len(bad) > 0 {
		return bad[0], nil
	}
	added, err := g.added()
	if err != nil || len(added) > 0 {
		return append(added, "")[0], err
	}
	return g.checkBeside()
}

// same compares a path with its picture. A kept path only has to exist.
func (g *guard) same(p string, now picture) bool {
	was := g.files[p]
	if slices.Contains(g.runner.Kept, p) {
		return was.kind != kindFile || now.kind == kindFile
	}
	return now.same(was)
}

// swapped lists directories that have become something else. A new directory is not a change: its contents are
// checked.
func (g *guard) swapped() []string {
	var out []string
	for _, d := range g.depth {
		was, now := g.dirs[d], g.lookDir(d)
		if was.kind == kindNone && now.kind == kindDir {
			continue
		}
		// A missing directory shows in its files, if it had any.
		if was.kind == kindDir && now.kind == kindNone {
			continue
		}
		if was.kind != now.kind || was.link != now.link {
			out = append(out, d)
		}
	}
	return out
}

func under(dirs []string, p string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return len(p) > len(d) && p[:len(d)] == d && p[len(d)] == '/'
	})
}

// added lists files that are new in closed bundles.
func (g *guard) added() ([]string, error) {
	now, err := bundleFiles(g.root, g.call)
	if errors.Is(err, fs.ErrPermission) {
		return []string{dispatchDir}, nil // it was readable before
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(now, func(p string) bool { _, known := g.files[p]; return known }), nil
}

func (g *guard) close() {
	_ = g.root.Close()
	for _, b := range g.beside {
		b.guard.close()
	}
	if g.copies != "" {
		_ = os.RemoveAll(g.copies)
	}
}

// show quotes a name for a message.
func show(s string) string { return fmt.Sprintf("%q", s) }
