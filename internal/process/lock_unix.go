//go:build unix && !solaris && !aix

// flock(2): the kernel releases the lock when its last holder dies.

package process

import (
	"errors"
	"os"
	"syscall"
)

// TryLock takes the lock of an open file or directory without waiting for it. The descriptor may have been opened
// below an os.Root; programs that inherit it hold the lock as well. Errors: ErrLocked; errors.ErrUnsupported where
// the file system has no locks.
func TryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return errors.ErrUnsupported
		default:
			return err
		}
	}
}

// Unlock releases the lock, also for every process that inherited it.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
