//go:build unix

// Ownership of a directory, on Unix.

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a directory belongs to this process's user.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
