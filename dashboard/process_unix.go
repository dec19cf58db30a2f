//go:build unix

// Processes, where there are signals.

package dashboard

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// claim keeps the session's files of dir from other processes until release is
// called: a lock on the directory itself, which nothing is written for and which the
// kernel gives back when its holder dies. A file system without such locks, and one
// that somebody holds for long, is not waited for.
func claim(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range 500 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { _ = f.Close() }
}

// end asks a process to end.
func end(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// lives reports whether a process of that number exists.
func lives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
