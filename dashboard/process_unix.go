//go:build unix

// Processes, where there are signals.

package dashboard

import (
	"errors"
	"os"
	"syscall"
)

// end asks a process to end.
func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// lives reports whether a process of that number exists.
func lives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
