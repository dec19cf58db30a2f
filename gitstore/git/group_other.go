//go:build !unix

// Process control and liveness where there are no process groups.

package git

import (
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func sweepGroup(*exec.Cmd) {}

// isNotDir reports whether a component of a path was no directory; Windows
// reports that as a path that does not exist.
func isNotDir(error) bool { return false }
