//go:build unix

package gitstore

import (
	"syscall"
	"testing"
)

func mkfifo(t testing.TB, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
}
