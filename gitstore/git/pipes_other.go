//go:build !linux

// Where the system does not say what a process waits for.

package git

func endAtPipe(int, func()) (done func() bool) { return func() bool { return false } }
