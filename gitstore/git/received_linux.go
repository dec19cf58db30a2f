package git

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitFiles has a process and what it starts from now on write no file larger than so many bytes.
func limitFiles(pid int, limit int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}, nil)
}

// fileLimitMet reports that a git says it has met the limit, or that what it has started has.
func fileLimitMet(complaint string) bool {
	return strings.Contains(complaint, "died of signal "+strconv.Itoa(int(syscall.SIGXFSZ))) ||
		strings.Contains(complaint, "File too large")
}
