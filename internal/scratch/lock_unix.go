//go:build unix && !solaris && !aix

// The lock of a directory: flock(2), which the kernel gives back when its holder dies.

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// hold takes the lock and reports whether it could.
func hold(f *os.File) bool {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}

// ours reports a directory of the person this process works for.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
