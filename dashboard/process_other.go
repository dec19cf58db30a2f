//go:build !unix

// Processes, where there are no signals.

package dashboard

import "os"

// claim does nothing: the session's files are looked at and written without a lock.
func claim(string) (release func()) { return func() {} }

// end ends a process; its session's files are then removed by whoever ended it.
func end(p *os.Process) error { return p.Kill() }

// lives reports whether a process of that number exists.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
