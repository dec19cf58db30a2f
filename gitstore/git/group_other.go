//go:build !unix

// Process control and liveness where there are no process groups.

package git

import (
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// SweepGroup does nothing: there is no group to kill.
func SweepGroup(*exec.Cmd) {}

// IsNotDir reports whether a component of a path was not a directory; Windows reports that as a path that does not
// exist.
func IsNotDir(error) bool { return false }
