//go:build unix

// Process groups and liveness on Unix.

package git

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup puts git and its children into one group, so that cancelling ends all of them and a Ctrl-C in the
// terminal reaches only us; we then cancel in order. SIGTERM comes first: on it git removes its lock files.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return ignoreGone(syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM))
	}
}

// SweepGroup kills the remaining processes of a cancelled group.
func SweepGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// IsNotDir reports whether a component of a path was not a directory.
func IsNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
