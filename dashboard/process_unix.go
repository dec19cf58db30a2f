//go:build unix

// Processes on systems with signals.

package dashboard

import (
	"os"
	"syscall"
)

// end asks a process to end.
func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
