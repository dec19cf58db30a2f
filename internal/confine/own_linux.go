// Giving files to the user that an agent runs as, while an agent that still runs may move them around.

package confine

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// own gives a directory and its contents to a user. It runs as root, in a place that the user may already write: it
// follows no name out of the directory, and a file with several hard links keeps its owner.
func own(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ownOne(root, name, e.Type(), uid, gid)
		}
		if errors.Is(err, fs.ErrNotExist) && name != "." { // it has moved meanwhile
			return nil
		}
		return err
	})
}

func ownOne(root *os.Root, name string, kind fs.FileMode, uid, gid int) error {
	if kind.IsDir() {
		return root.Lchown(name, uid, gid)
	}
	if !kind.IsRegular() {
		return nil // a user who may write the directory may replace it
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO): // another file by now
		return nil
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || st.Nlink != 1 || int(st.Uid) == uid {
		return nil
	}
	return f.Chown(uid, gid)
}
