//go:build unix

// Ownership of another clone's files, on Unix.

package git

import (
	"os"
	"strconv"
	"syscall"
)

// OwnedByUs reports whether this process's user owns the file at path itself, not following links, as git judges
// it: under sudo the files of the calling user count as ours too.
func OwnedByUs(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if int(st.Uid) == os.Geteuid() {
		return true
	}
	caller, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	return os.Geteuid() == 0 && err == nil && st.Uid == uint32(caller)
}
