//go:build unix

// Whether a process exists, on Unix.

package process

import (
	"errors"
	"syscall"
)

// Alive reports whether a process of any user has this number: another user's answers "not permitted". A zombie
// counts (see Dead).
func Alive(pid int) bool {
	if pid <= 0 {
		return false // 0 and negative numbers address groups
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
