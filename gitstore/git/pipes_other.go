//go:build !linux

// Where the system does not tell what a process waits in.

package git

func endAtPipe(int, func()) (done func() bool) { return func() bool { return false } }
