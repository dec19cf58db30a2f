// Temporary directories that do not stay around for long after a kill.

package scratch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// Dir is a directory of this process. Remove it, or leave it with Keep.
type Dir struct {
	Path string // absolute
	lock *os.File
}

// unsettled is the age a directory must reach before it can count as left behind: right after its creation it has
// no lock.
const unsettled = time.Hour

// New creates a directory in the system's temporary directory. Its name is prefix and digits, and no other code may
// use prefix. It first removes, as far as possible, directories with such a name that belong to the caller and that
// no process holds.
func New(prefix string) (*Dir, error) {
	sweep(os.TempDir(), prefix, time.Now().Add(-unsettled))
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	if f, err := os.Open(path); err == nil {
		if process.TryLock(f) == nil {
			d.lock = f
		} else {
			_ = f.Close()
		}
	}
	return d, nil
}

// Remove removes the directory with everything in it, read-only or not.
func (d *Dir) Remove() error {
	err := RemoveAll(d.Path)
	d.release()
	return err
}

// Keep leaves the directory to the person: its prefix becomes with, which no call of New may use.
func (d *Dir) Keep(with string) error {
	parent, name := filepath.Split(d.Path)
	to := filepath.Join(parent, with+name[strings.LastIndexByte(name, '-')+1:])
	// Do not rename onto something else: it would have to be an empty directory of the same person.
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	if err := os.Rename(d.Path, to); err != nil {
		return err
	}
	d.Path = to
	d.release()
	return nil
}

func (d *Dir) release() {
	if d.lock != nil {
		_ = d.lock.Close()
		d.lock = nil
	}
}

// RemoveAll removes a directory, making its own read-only ones writable first. It follows no links.
func RemoveAll(path string) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Base(path)
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(p, 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}

// sweep removes leftovers in dir: directories older than before, named prefix and digits, of the same person, that
// no process holds.
func sweep(dir, prefix string, before time.Time) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || !e.IsDir() {
			continue
		}
		fi, err := e.Info()
		if err != nil || !fi.ModTime().Before(before) || !ours(fi) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if now, err := f.Stat(); err == nil && os.SameFile(fi, now) && process.TryLock(f) == nil {
			_ = RemoveAll(path)
		}
		_ = f.Close()
	}
}
