//go:build unix

// Signals that ask a command to end.

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals are the ones a command ends cleanly on. A closed terminal is one of
// them, unless whoever started us has it ignored, as nohup does.
func endSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
