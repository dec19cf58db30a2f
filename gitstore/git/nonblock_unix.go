//go:build unix

// Who owns the files of another clone, on Unix.

package git

import (
	"os"
	"strconv"
	"syscall"
)

// OpenNonblock keeps the opening of a pipe that was put in place of a file from
// waiting for its other end.
const OpenNonblock = syscall.O_NONBLOCK

// OwnedByUs reports whether the user this process works for owns the file at path
// itself, links not followed, as git judges it: under sudo the files of who called
// it count as ours too.
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
