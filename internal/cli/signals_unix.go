//go:build unix

// Signals that ask a command to end.

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals returns the signals on which a command ends cleanly. A closed terminal is one of them,
// unless our parent ignores it, as nohup does.
func endSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
