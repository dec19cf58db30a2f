// What a turn's programs inherit: the same file with its own lock, so that an agent cannot release the lock of the
// process that carries out the turn.

package turnmark

import (
	"os"

	"golang.org/x/sys/unix"
)

// openHeir opens the locked file own a second time for the turn's programs. Its lock is of another kind
// (F_OFD_SETLK), which does not conflict with flock(2), and lasts until the last program has closed it. If that is
// not possible the programs get own itself.
func openHeir(root *os.Root, name string, own *os.File) *os.File {
	f, err := root.OpenFile(name, os.O_RDWR|openFlags, 0)
	if err != nil {
		return own
	}
	a, err1 := own.Stat()
	b, err2 := f.Stat()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err1 != nil || err2 != nil || !os.SameFile(a, b) || unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock) != nil {
		_ = f.Close()
		return own
	}
	return f
}

// heirs reports whether programs that inherited the file still have it.
func heirs(f *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

func unlockHeir(f *os.File) {
	lock := unix.Flock_t{Type: unix.F_UNLCK}
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
}

// covered reports whether something is mounted over the marks' directory.
func covered(root *os.Root) bool {
	dir, err := root.Open(".")
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	fd, err := unix.Openat2(int(dir.Fd()), lockDir,
		&unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_XDEV})
	if err == nil {
		_ = unix.Close(fd)
	}
	return err == unix.EXDEV
}
