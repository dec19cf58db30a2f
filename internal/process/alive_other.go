//go:build !unix

// Whether a process exists, where only opening it can tell.

package process

import "os"

// Alive reports whether a process has this number.
func Alive(pid int) bool {
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
