//go:build unix && !solaris && !aix

// The lock of a turn: flock(2), which the kernel gives back when its last holder dies.

package turnmark

import (
	"errors"
	"os"
	"syscall"
)

// openFlags keep us from following a link or waiting at a pipe in the file's place.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return nil // a file system without locks: the progress file has to do
		default:
			return err
		}
	}
}

// unlock frees the lock for everybody who inherited it.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
