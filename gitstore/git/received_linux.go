package git

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitFiles limits the size of files that a process and its future children write to limit bytes.
func limitFiles(pid int, limit int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)}, nil)
}

// fileLimitMet reports whether git says that it, or its child, has reached the limit.
func fileLimitMet(complaint string) bool {
	return strings.Contains(complaint, "died of signal "+strconv.Itoa(int(syscall.SIGXFSZ))) ||
		strings.Contains(complaint, "File too large")
}
