//go:build unix

// Process groups and liveness on Unix.

package git

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup puts git and what it starts into one group, so that cancelling ends
// all of them and a Ctrl-C in the terminal reaches only us, who then cancel in
// order. SIGTERM first: git removes its lock files on it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return ignoreGone(syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM))
	}
}

// SweepGroup kills what is left of a cancelled process group.
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

// IsNotDir reports whether a component of a path was no directory.
func IsNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
