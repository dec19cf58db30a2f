//go:build unix

// Peak memory of a finished process, where the system reports it.

package measure

import (
	"os"
	"runtime"
	"syscall"
)

func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // in bytes there
	}
	return int64(u.Maxrss) << 10
}
