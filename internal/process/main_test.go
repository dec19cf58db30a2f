//go:build unix

// Test helpers: programs as shell text, and checks of what is running.

package process

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Spec {
	return Spec{
		Argv:    []string{"/bin/sh", "-c", script},
		Timeout: time.Minute,
		Grace:   200 * time.Millisecond,
		Limit:   1 << 16,
	}
}

func run(t *testing.T, s Spec) *Result {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	return Run(context.Background(), s)
}

// gone reports whether the process whose number is in the file has ended. An exiting process has freed its memory
// and no longer runs its program; when the kernel completes the rest is outside our control.
func gone(t *testing.T, file string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err == nil {
		const exiting = 4 // PF_EXITING
		p := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		flags, err := strconv.Atoi(p[6])
		return p[0] == "Z" || err == nil && flags&exiting != 0
	}
	return syscall.Kill(pid, 0) != nil
}
