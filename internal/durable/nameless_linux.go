// Files without a name, which leave nothing after a crash, and naming them.

package durable

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Nameless creates a file in dir that has no name yet and is gone when it is closed without one. File systems
// without support return an error.
func Nameless(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), "a file in "+dir), nil // never a path: a caller might remove it
}

// Name gives a file of Nameless a name, which must not exist.
func Name(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(f.Fd())), unix.AT_FDCWD, path,
		unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
	}
	return nil
}

// StartWriting makes the system begin to write a part of a file to the disk, so that a later sync takes less time.
// It guarantees nothing.
func StartWriting(f *os.File, offset, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE)
}
