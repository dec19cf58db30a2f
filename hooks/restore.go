// Restoring protected files.

package hooks

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// restore restores every protected path. Files are written beside and renamed into place, so that a link to the old
// file or a handle on it no longer reaches the new one. Afterwards everything is compared again.
func (g *guard) restore() error {
	var errs []error
	note := func(p string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p, err))
		}
	}
	for _, d := range g.depth {
		note(d, g.restoreDir(d, g.dirs[d]))
	}
	added, err := g.added()
	note(dispatchDir, err)
	for _, p := range added {
		note(p, g.root.RemoveAll(p))
	}
	for _, p := range g.order {
		now, err := g.look(p, false)
		if err != nil || !g.same(p, now) {
			note(p, g.restoreFile(p, g.files[p], now))
		}
	}
	errs = append(errs, g.restoreBeside())
	if err := failures.All(errs...); err != nil {
		return err
	}
	left, err := g.check()
	if err != nil {
		return err
	}
	if left != "" {
		return fmt.Errorf("%s changed again after it was restored", left)
	}
	return nil
}

// restoreDir turns a path back into the directory or the link that it was. New directories stay: forbidden files in
// them are removed individually.
func (g *guard) restoreDir(d string, was picture) error {
	now := g.lookDir(d)
	switch {
	case now.kind == was.kind && now.link == was.link:
		if was.kind == kindDir && now.mode != was.mode {
			return g.root.Chmod(d, was.mode)
		}
		return nil
	case was.kind == kindNone && now.kind == kindDir:
		return nil
	case now.kind != kindNone:
		if err := g.root.RemoveAll(d); err != nil {
			return err
		}
	}
	if was.kind == kindNone {
		return nil
	}
	if was.kind == kindLink {
		return g.root.Symlink(was.link, d)
	}
	if err := g.root.Mkdir(d, 0o700); err != nil {
		return err
	}
	return g.root.Chmod(d, was.mode)
}

func (g *guard) restoreFile(p string, was, now picture) error {
	if was.kind == kindOther {
		return errors.New("it was not a regular file before and cannot be made again")
	}
	// A rename replaces whatever is there but a directory.
	if now.kind != kindNone && (was.kind != kindFile || now.kind == kindDir) {
		if err := g.root.RemoveAll(p); err != nil {
			return err
		}
	}
	switch was.kind {
	case kindLink:
		return g.root.Symlink(was.link, p)
	case kindDir:
		return g.root.Mkdir(p, was.mode)
	case kindFile:
		return g.write(p, was)
	}
	return nil
}

// write writes a file with its former bytes.
func (g *guard) write(p string, was picture) error {
	from, done, err := g.contents(p, was)
	if err != nil {
		return err
	}
	defer done()
	if dir := path.Dir(p); dir != "." {
		if err := g.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	temp := path.Join(path.Dir(p), ".restore-"+rand.Text())
	f, err := g.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), from)
	if err == nil && !bytes.Equal(sum.Sum(nil), was.sum[:]) {
		err = errors.New("the bytes kept for it are not the ones it had")
	}
	if err == nil {
		err = f.Chmod(was.mode)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = g.root.Rename(temp, p)
	}
	if err != nil {
		_ = g.root.Remove(temp)
	}
	return err
}

// contents opens the former bytes of a file.
func (g *guard) contents(p string, was picture) (io.Reader, func(), error) {
	none := func() {}
	switch {
	case was.inMem:
		return bytes.NewReader(was.data), none, nil
	case was.copy != "":
		f, err := os.Open(was.copy)
		if err != nil {
			return nil, none, err
		}
		return f, func() { _ = f.Close() }, nil
	case g.runner.Restore != nil:
		data, err := g.runner.Restore(p)
		return bytes.NewReader(data), none, err
	}
	return nil, none, fs.ErrNotExist
}
