//go:build unix

// Whose a directory is, on Unix.

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports a directory of the person this process works for.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
