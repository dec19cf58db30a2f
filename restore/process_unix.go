// Whether a process exists, on Unix.

//go:build unix

package restore

import (
	"errors"
	"syscall"
)

// processLives reports a process that exists, whoever's it is.
func processLives(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
