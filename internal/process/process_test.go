//go:build unix

// Tests of programs within limits: their end, time, output, leftovers.

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestEnds(t *testing.T) {
	zero, three := 0, 3
	for name, tc := range map[string]struct {
		spec   Spec
		exit   *int
		signal string
		out    string
	}{
		"by itself":        {sh("echo out; echo err >&2"), &zero, "", "out\n"},
		"with a status":    {sh("exit 3"), &three, "", ""},
		"by a signal":      {sh("kill -TERM $$"), nil, "SIGTERM", ""},
		"with standard in": {func() Spec { s := sh("cat"); s.Stdin = []byte("in"); return s }(), &zero, "", "in"},
		"stdin never read": {func() Spec {
			s := sh("exit 0")
			s.Stdin = make([]byte, 4<<20)
			return s
		}(), &zero, "", ""},
		"no standard in": {sh("cat"), &zero, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, tc.spec)
			if r.StartErr != nil || r.TimedOut || r.Canceled || r.Overflow || r.Survivors != 0 {
				t.Fatalf("%+v", r)
			}
			if (r.Exit == nil) != (tc.exit == nil) || r.Exit != nil && *r.Exit != *tc.exit || r.Signal != tc.signal {
				t.Errorf("exit %v signal %q", r.Exit, r.Signal)
			}
			if string(r.Stdout) != tc.out {
				t.Errorf("stdout %q", r.Stdout)
			}
			if r.OK() != (tc.exit == &zero) {
				t.Errorf("OK is %v", r.OK())
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{nil, {""}, {"no-such-program-anywhere"}, {"/no/such/file"}, {plain}} {
		if r := run(t, Spec{Argv: argv}); r.StartErr == nil || r.Exit != nil || r.OK() {
			t.Errorf("%q: %+v", argv, r)
		}
	}
	if r := run(t, Spec{Argv: []string{"no-such-program-anywhere"}}); !Missing(r.StartErr) ||
		!errors.Is(r.StartErr, exec.ErrNotFound) {
		t.Errorf("%v", r.StartErr)
	}
}

// TestPathOfTheProgram checks that a bare name is looked up on the program's own PATH, not on ours.
func TestPathOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "probe-tool"), []byte("#!/bin/sh\necho found\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := run(t, Spec{Argv: []string{"probe-tool"}, Env: []string{"PATH=" + dir + ":/bin:/usr/bin"}, Limit: 100})
	if string(r.Stdout) != "found\n" {
		t.Errorf("%+v", r)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	if r := run(t, Spec{Argv: []string{"probe-tool"}, Env: []string{"PATH=/bin"}}); !Missing(r.StartErr) {
		t.Errorf("%+v", r)
	}
	if r := run(t, Spec{Argv: []string{"probe-tool"}, Env: []string{"A=b"}}); !r.OK() {
		t.Errorf("%+v", r)
	}
}

func TestTimeout(t *testing.T) {
	for name, script := range map[string]string{
		"listens":          "sleep 60",
		"ignores SIGTERM":  "trap '' TERM; while :; do sleep 1; done",
		"is stopped":       "kill -STOP $$; sleep 60",
		"child ignores":    "(trap '' TERM; sleep 60) & wait",
		"reads a terminal": "sleep 60 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			s := sh(script)
			s.Timeout = 100 * time.Millisecond
			r := run(t, s)
			if !r.TimedOut || r.Exit != nil && *r.Exit == 0 || r.Survivors != 0 || r.OK() {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(dir, "up")); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	s := sh("touch up; sleep 60")
	s.Dir = dir
	if r := Run(ctx, s); !r.Canceled || r.TimedOut || r.Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
	if r := Run(ctx, s); !r.Canceled || r.Duration != 0 {
		t.Errorf("started although the caller is gone: %+v", r)
	}
}

// TestLeftBehind checks that everything a program starts is gone when Run returns, even processes that hold the
// pipes or left the group.
func TestLeftBehind(t *testing.T) {
	scripts := map[string]string{
		"background":          "sleep 60 & echo $! > pid",
		"ignoring SIGTERM":    "(trap '' TERM HUP; sleep 60) & echo $! > pid",
		"own group":           "set -m; sleep 60 & echo $! > pid",
		"grandchild":          "sh -c 'sleep 60 & echo $! > pid' &\nwait",
		"after a long output": "yes | head -c 3000000; sleep 60 & echo $! > pid",
	}
	if runtime.GOOS == "linux" {
		scripts["own session"] = "setsid sh -c 'echo $$ > pid; sleep 60' & while ! [ -s pid ]; do sleep 0.01; done"
		scripts["own session, closed"] = "setsid sh -c 'echo $$ > pid; exec sleep 60' <&- >&- 2>&- & while ! [ -s pid ]; do sleep 0.01; done"
		scripts["session of a session"] = "setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid; sleep 60\" & sleep 60' & while ! [ -s pid ]; do sleep 0.01; done"
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			s := sh(script)
			s.Dir = t.TempDir()
			r := run(t, s)
			if !r.OK() || r.Survivors != 0 {
				t.Errorf("%+v", r)
			}
			if !gone(t, filepath.Join(s.Dir, "pid")) {
				t.Error("it is still there")
			}
		})
	}
}

// TestKeepDetached checks that a daemon started on purpose stays, even while it holds our pipe.
func TestKeepDetached(t *testing.T) {
	testrepo.Serving(t)
	if runtime.GOOS != "linux" {
		t.Skip("the marker is for Linux")
	}
	s := sh("setsid sh -c 'echo $$ > pid; sleep 60' & while ! [ -s pid ]; do sleep 0.01; done; echo done")
	s.Dir, s.KeepDetached = t.TempDir(), true
	r := run(t, s)
	if !r.OK() || string(r.Stdout) != "done\n" {
		t.Errorf("%+v", r)
	}
	if gone(t, filepath.Join(s.Dir, "pid")) {
		t.Error("it was ended")
	}
	// The mark still finds it: end it.
	data, _ := os.ReadFile(filepath.Join(s.Dir, "pid"))
	_ = exec.Command("kill", "-KILL", "--", "-"+strings.TrimSpace(string(data))).Run()
}

func TestFlood(t *testing.T) {
	testrepo.Serving(t)
	for name, tc := range map[string]struct {
		script string
		kill   bool
	}{
		"1 GB of standard output":    {"head -c 1000000000 /dev/zero", false},
		"1 GB of standard error":     {"head -c 1000000000 /dev/zero >&2", false},
		"ended at the limit":         {"yes", true},
		"ended at the limit, stderr": {"yes >&2", true},
		"ended though it does not go": {
			"trap '' TERM PIPE; while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := sh(tc.script)
			s.KillOnOverflow = tc.kill
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := run(t, s)
			runtime.ReadMemStats(&after)
			if r.Overflow != tc.kill || r.OK() == tc.kill || r.TimedOut {
				t.Errorf("overflow %v, exit %v, signal %q", r.Overflow, r.Exit, r.Signal)
			}
			if n := max(len(r.Stdout), len(r.Stderr)); n != s.Limit {
				t.Errorf("kept %d bytes", n)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("%d bytes were allocated", grown)
			}
		})
	}
}

// TestOverflowAtTheEnd checks that too much output is reported even when the program ends at once.
func TestOverflowAtTheEnd(t *testing.T) {
	for range 20 {
		s := sh("head -c 65537 /dev/zero")
		s.KillOnOverflow = true
		if r := run(t, s); !r.Overflow || r.OK() {
			t.Fatalf("overflow %v, exit %v", r.Overflow, r.Exit)
		}
	}
	s := sh("head -c 65536 /dev/zero")
	s.KillOnOverflow = true
	if r := run(t, s); r.Overflow || !r.OK() || len(r.Stdout) != 65536 {
		t.Errorf("overflow %v, exit %v, %d bytes", r.Overflow, r.Exit, len(r.Stdout))
	}
}

func TestTail(t *testing.T) {
	s := sh("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done")
	s.Limit, s.KeepTail = 100, true
	r := run(t, s)
	if len(r.Stdout) != 100 || !bytes.HasSuffix(r.Stdout, []byte("line 2998\nline 2999\n")) {
		t.Errorf("%q", r.Stdout)
	}
}

// TestLeaks checks that no goroutine or descriptor is left behind.
func TestLeaks(t *testing.T) {
	testrepo.Serving(t)
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	count := func() (int, int) {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return runtime.NumGoroutine(), len(fds)
	}
	one := func(i int) {
		s := sh([]string{"cat", "sleep 60 & exit 1", "kill -9 $$", "setsid sleep 60 &", "exec sleep 60"}[i%5])
		s.Stdin = []byte("hello")
		if i%5 == 4 {
			s.Timeout = 5 * time.Millisecond
		}
		run(t, s)
		run(t, Spec{Argv: []string{"/no/such/program"}})
	}
	one(0)
	goroutines, fds := count()
	for i := range 200 {
		one(i)
	}
	for range 100 { // goroutines end a moment after they have reported
		if g, _ := count(); g <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if g, f := count(); g > goroutines || f > fds {
		t.Errorf("goroutines %d -> %d, descriptors %d -> %d", goroutines, g, fds, f)
	}
}
