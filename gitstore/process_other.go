//go:build !unix

// Process control and liveness where there are no process groups.
package gitstore

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func sweepGroup(*exec.Cmd) {}

// pidAlive reports whether a process has this id.
func pidAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

// isNotDir reports whether a component of a path was no directory; Windows
// reports that as a path that does not exist.
func isNotDir(error) bool { return false }
