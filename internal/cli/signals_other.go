//go:build !unix

// Signals that ask a command to end.

package cli

import (
	"os"
	"syscall"
)

func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
