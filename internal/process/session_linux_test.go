// Tests of sessions, orphans and streams: what a program in its own session may leave behind.

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// adoptOrphans is undone at the end: other tests rely on orphans going elsewhere.
func adoptOrphans(t *testing.T) {
	t.Helper()
	if err := AdoptOrphans(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(abandonOrphans)
}

func session(script string) Spec {
	s := sh(script)
	s.Session = true
	return s
}

func TestOrphansAreFound(t *testing.T) {
	adoptOrphans(t)
	for name, script := range map[string]string{
		"clean environment":    `(env -i PATH=$PATH setsid sh -c 'echo $$ > PID; exec sleep 60' >/dev/null 2>&1 &); while [ ! -s PID ]; do sleep 0.01; done`,
		"detached twice":       `(env -i PATH=$PATH setsid sh -c '(env -i PATH=$PATH setsid sh -c "echo \$\$ > PID; exec sleep 60" &)' >/dev/null 2>&1 &); while [ ! -s PID ]; do sleep 0.01; done`,
		"another group":        `set -m; sleep 60 >/dev/null 2>&1 & echo $! > PID`,
		"a tree":               `(env -i PATH=$PATH setsid sh -c 'sleep 60 & echo $! > PID; wait' >/dev/null 2>&1 &); while [ ! -s PID ]; do sleep 0.01; done`,
		"dead before its time": `(env -i PATH=$PATH setsid sh -c 'echo $$ > PID' >/dev/null 2>&1 &); while [ ! -s PID ]; do sleep 0.01; done; sleep 0.1`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := session(strings.ReplaceAll(script, "PID", filepath.Join(dir, "pid")))
			s.Dir = dir
			if r := Run(context.Background(), s); !r.OK() || r.Survivors != 0 {
				t.Fatalf("%+v", r)
			}
			if !gone(t, filepath.Join(dir, "pid")) {
				t.Error("it lives on")
			}
			data, _ := os.ReadFile(filepath.Join(dir, "pid"))
			pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
			for n := 0; syscall.Kill(pid, 0) == nil; n++ {
				if n == 100 {
					t.Fatal("its remains were not adopted")
				}
				// An orphan that dies a moment later is collected at the end of the next program.
				Run(context.Background(), session("sleep 0.01"))
			}
		})
	}
}

// TestOthersAreSpared checks that processes of other programs, and those started on purpose, stay.
func TestOthersAreSpared(t *testing.T) {
	adoptOrphans(t)
	dir := t.TempDir()
	daemon := sh(`(setsid sh -c 'echo $$ > daemon; exec sleep 60' >/dev/null 2>&1 &); while [ ! -s daemon ]; do sleep 0.01; done`)
	daemon.KeepDetached, daemon.Dir = true, dir
	if r := Run(context.Background(), daemon); !r.OK() {
		t.Fatalf("%+v", r)
	}
	other := session(`(env -i PATH=$PATH setsid sh -c 'echo $$ > helper; exec sleep 60' >/dev/null 2>&1 &); while [ ! -e go ]; do sleep 0.01; done; kill -0 $(cat helper)`)
	other.Dir = dir
	done := make(chan *Result)
	go func() { done <- Run(context.Background(), other) }()
	for range 500 {
		if _, err := os.Stat(filepath.Join(dir, "helper")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if r := Run(context.Background(), session("true")); !r.OK() {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-done; !r.OK() {
		t.Errorf("a helper of a program at work was ended: %+v", r)
	}
	if !gone(t, filepath.Join(dir, "helper")) {
		t.Error("the helper outlived its program")
	}
	if gone(t, filepath.Join(dir, "daemon")) {
		t.Error("a daemon that was to live on was ended")
	}
	data, _ := os.ReadFile(filepath.Join(dir, "daemon"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// TestLastOneOutEndsStrays has a program leave an unmarked process while another one, which began later, is still
// running.
func TestLastOneOutEndsStrays(t *testing.T) {
	adoptOrphans(t)
	dir := t.TempDir()
	late := make(chan *Result)
	first := session(`(env -i PATH=$PATH setsid sh -c 'echo $$ > stray; exec sleep 60' >/dev/null 2>&1 &); while [ ! -s stray ]; do sleep 0.01; done; sleep 0.1; touch left; while [ ! -e second ]; do sleep 0.01; done`)
	first.Dir = dir
	go func() {
		for range 500 {
			if _, err := os.Stat(filepath.Join(dir, "left")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		second := session("touch second; while [ ! -e go ]; do sleep 0.01; done")
		second.Dir = dir
		late <- Run(context.Background(), second)
	}()
	if r := Run(context.Background(), first); !r.OK() {
		t.Errorf("%+v", r)
	}
	if gone(t, filepath.Join(dir, "stray")) {
		t.Error("it was ended while it could have been the other program's")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-late; !r.OK() {
		t.Errorf("%+v", r)
	}
	if !gone(t, filepath.Join(dir, "stray")) {
		t.Error("it was not ended")
	}
}

func TestSessionHasNoTerminal(t *testing.T) {
	r := run(t, session(`ps -o sid= -p $$ | tr -d ' '; echo $$; (exec </dev/tty) 2>/dev/null && echo terminal`))
	lines := strings.Fields(string(r.Stdout))
	if len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("%q", r.Stdout)
	}
}

func TestStreamsAndStart(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out, errs bytes.Buffer
	pid := 0
	s := session("echo $$; yes x | head -c 1000000; echo bad >&2; echo to-file >&3")
	s.Stdout, s.Stderr, s.Files, s.Limit, s.Started = &out, &errs, []*os.File{f}, 10, func(p int) { pid = p }
	r := run(t, s)
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !r.OK() || first != strconv.Itoa(pid) || len(rest) != 1_000_000 || len(r.Stdout) != 10 ||
		errs.String() != "bad\n" {
		t.Errorf("%+v, first %q of process %d, %d bytes, %q", r, first, pid, len(rest), errs.String())
	}
	if data, _ := os.ReadFile(f.Name()); string(data) != "to-file\n" {
		t.Errorf("descriptor 3 got %q", data)
	}
}

// TestInputIsHandedOver gives a pipe as standard input.
func TestInputIsHandedOver(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	go func() { _, _ = w.WriteString("one\ntwo\n"); _ = w.Close() }()
	s := sh("cat")
	s.Input = r
	if res := run(t, s); string(res.Stdout) != "one\ntwo\n" {
		t.Errorf("%q", res.Stdout)
	}
}

type patient struct{ error }

func (patient) Grace() time.Duration { return 5 * time.Second }

// TestCauseSetsGrace has the cause of a cancellation set the program's grace period.
func TestCauseSetsGrace(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := sh("trap 'sleep 0.6; echo tidied; exit 0' TERM; echo up; while :; do sleep 0.01; done")
	s.Grace = time.Millisecond
	s.Stdout = writer(func([]byte) { cancel(patient{errors.New("enough")}) })
	s.Dir = t.TempDir()
	if r := Run(ctx, s); !r.Canceled || !strings.Contains(string(r.Stdout), "tidied") {
		t.Errorf("%+v %q", r, r.Stdout)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }
