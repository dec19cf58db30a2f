//go:build unix && !solaris && !aix

// The guard around looking at and changing a lock file: flock(2) on its
// directory, which the kernel releases when the process dies.
package gitstore

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// guard tries to take the guard once. ok is false when another process has it.
func guard(path string) (release func(), ok bool, err error) {
	dir := filepath.Dir(path)
	// Two rounds: the directory may be removed and made anew meanwhile, and a
	// lock on the removed one guards nothing.
	for range 2 {
		f, err := os.Open(dir)
		if err != nil {
			return nil, false, err
		}
		err = flock(f)
		switch {
		case err == nil:
			if here, err := os.Stat(dir); err == nil {
				if fi, err := f.Stat(); err == nil && os.SameFile(fi, here) {
					return func() { _ = f.Close() }, true, nil
				}
			}
			_ = f.Close()
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			_ = f.Close()
			return nil, false, nil
		}
		_ = f.Close()
		// Some network file systems cannot lock a directory.
		return guardByFile(path)
	}
	return nil, false, nil
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
