// Tests of the acceptance lock: judgement, takeover, mutual exclusion between real processes, some of them killed.

package lockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
)

func TestMain(m *testing.M) {
	testtrace.Helper()
	os.Exit(m.Run())
}

func lockPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), ".agentxchain", "locks", "accept-turn.lock")
}

func acquire(t testing.TB, path string) *Lock {
	t.Helper()
	l, err := Acquire(context.Background(), path, "accept", 0)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLockShape(t *testing.T) {
	path := lockPath(t)
	l := acquire(t, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	if pid, _ := o.Int("owner_pid"); pid != os.Getpid() || o.String("purpose") != "accept" {
		t.Errorf("%s", data)
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", o.String("acquired_at")); err != nil ||
		time.Since(at) > time.Minute {
		t.Errorf("%s: %v", data, err)
	}
	if !bytes.HasPrefix(data, []byte("{\n  \"owner_pid\": ")) || bytes.HasSuffix(data, []byte("\n")) {
		t.Errorf("layout %q", data)
	}
	if err := l.renew(); err != nil {
		t.Error(err)
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left behind %v", left)
	}
}

func TestLockHeldNamesItsOwner(t *testing.T) {
	path := lockPath(t)
	l := acquire(t, path)
	defer func() { _ = l.Release() }()
	_, err := Acquire(context.Background(), path, "reject", 30*time.Millisecond)
	var held *git.LockedError
	if fail.CodeOf(err) != fail.CodeLocked || !errors.As(err, &held) {
		t.Fatal(err)
	}
	if held.PID != os.Getpid() || held.Purpose != "accept" || held.Age > time.Minute ||
		!strings.Contains(err.Error(), fmt.Sprintf("process %d (accept)", os.Getpid())) {
		t.Fatalf("%+v: %v", held, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	if _, err := Acquire(ctx, path, "reject", time.Hour); !errors.Is(err, why) {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, func() { _ = l.Release() })
	next, err := Acquire(context.Background(), path, "reject", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_ = next.Release()
}

// deadPID returns the number of an ended process.
func deadPID(t testing.TB) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestLockJudgement(t *testing.T) {
	dead, self := deadPID(t), os.Getpid()
	now := time.Now()
	me := git.NewOwner("x")
	own := func(change func(o *git.LockOwner)) string {
		o := me
		o.Acquired = now.Add(-time.Hour)
		change(&o)
		return string(o.Encode())
	}
	foreign := func(pid int, age time.Duration) string {
		return fmt.Sprintf("{\n  \"owner_pid\": %d,\n  \"acquired_at\": \"%s\"\n}", pid,
			now.Add(-age).UTC().Format(git.LockTime))
	}
	for name, c := range map[string]struct {
		content string
		held    bool
	}{
		"ours, alive, however old": {own(func(*git.LockOwner) {}), true},
		"ours, dead":               {own(func(o *git.LockOwner) { o.PID = dead }), false},
		"ours, number reused":      {own(func(o *git.LockOwner) { o.Started = "boot:1" }), false},
		"ours, start unknown":      {own(func(o *git.LockOwner) { o.Started = "" }), true},
		"other machine, young": {own(
			func(o *git.LockOwner) { o.Host, o.PID, o.Acquired = "elsewhere", dead, now }), true},
		"other machine, old": {own(func(o *git.LockOwner) { o.Host = "elsewhere" }), false},
		"other container, young": {own(
			func(o *git.LockOwner) { o.Space, o.PID, o.Acquired = "pid:[1]", dead, now }), true},
		"other container, old":          {own(func(o *git.LockOwner) { o.Space = "pid:[1]" }), false},
		"reference, alive, young":       {foreign(self, 29*time.Second), true},
		"reference, alive, old":         {foreign(self, 31*time.Second), false},
		"reference, dead, young":        {foreign(dead, 0), false},
		"reference, far future":         {foreign(self, -time.Hour), true}, // the file itself is new
		"reference, no time":            {fmt.Sprintf(`{"owner_pid": %d}`, self), false},
		"reference, pid 0":              {foreign(0, 0), false},
		"reference, pid -1":             {foreign(-1, 0), false},
		"garbage, being written":        {"{", true},
		"empty, being written":          {"", true},
		"no number, being written":      {`{"owner_pid": "7"}`, true},
		"other JSON, being written too": {`[]`, true},
	} {
		path := lockPath(t)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Acquire(context.Background(), path, "x", 0)
		if held := fail.CodeOf(err) == fail.CodeLocked; held != c.held {
			t.Errorf("%s: held %v, %v", name, held, err)
		}
		after, _ := os.ReadFile(path)
		if c.held != (string(after) == c.content) {
			t.Errorf("%s: content is now %s", name, after)
		}
		if l != nil {
			_ = l.Release()
		}
	}
	for _, content := range []string{"{", "", foreign(self, -time.Hour)} {
		path := lockPath(t)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		old := now.Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		acquire(t, path)
	}
}

func TestZombieDoesNotHold(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	path := lockPath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	o := git.NewOwner("x")
	o.PID, o.Started, o.Acquired = cmd.Process.Pid, process.Started(cmd.Process.Pid), time.Now()
	if err := os.WriteFile(path, o.Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(context.Background(), path, "x", 0); fail.CodeOf(err) != fail.CodeLocked {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	l, err := Acquire(context.Background(), path, "x", time.Minute) // it must not wait
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Release()
	_ = cmd.Wait()
}

func TestLockTakenOverByAnother(t *testing.T) {
	path := lockPath(t)
	for _, content := range []string{`{"owner_pid": 1, "acquired_at": "2026-01-01T00:00:00.000Z"}`, ""} {
		l := acquire(t, path)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := l.renew(); fail.CodeOf(err) != fail.CodeLockLost {
			t.Errorf("renewed another's lock: %v", err)
		}
		select {
		case <-l.Lost():
		default:
			t.Error("the loss was not signalled")
		}
		if err := l.Release(); fail.CodeOf(err) != fail.CodeLockLost {
			t.Errorf("released another's lock: %v", err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("another's lock is now %q, %v", b, err)
		}
		_ = os.Remove(path)
	}
	l := acquire(t, path)
	_ = os.Remove(path)
	if err := l.Check(); fail.CodeOf(err) != fail.CodeLockLost {
		t.Error(err)
	}
	_ = l.Release()
}

func TestLockUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(context.Background(), filepath.Join(file, "x.lock"), "x", 0); fail.CodeOf(err) != fail.CodeIO {
		t.Fatal(err)
	}
	path := lockPath(t)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(context.Background(), path, "x", 0); fail.CodeOf(err) != fail.CodeIO {
		t.Fatal(err)
	}
}

// An error about permissions says what would help.
func TestUnwritableSaysWhatHelps(t *testing.T) {
	path := filepath.Join("p", ".agentxchain", "locks", "x.lock")
	for err, want := range map[error]string{
		&fs.PathError{Err: syscall.EACCES}: "make " + filepath.Join("p", ".agentxchain") + " and what is in it writable",
		&fs.PathError{Err: syscall.EROFS}:  "mounted read-only",
		&fs.PathError{Err: syscall.ENOSPC}: "make room there",
		&fs.PathError{Err: syscall.EIO}:    "git agentxchain doctor",
	} {
		var e *fail.Error
		if err := Unwritable(path, err); !errors.As(err, &e) || !strings.Contains(e.Hint, want) {
			t.Errorf("%v: %+v, want %q", err, e, want)
		}
	}
}

func TestGuardByFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	release, ok, err := guardByFile(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, err := guardByFile(path); ok || err != nil {
		t.Fatal("two guards", err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path+".guard", old, old); err != nil {
		t.Fatal(err)
	}
	_, _, _ = guardByFile(path) // breaks the old guard
	if _, ok, err := guardByFile(path); !ok || err != nil {
		t.Fatal("an abandoned guard stays", err)
	}
	release()
}

// TestGuardByAnotherClock has the guard on a disk whose clock differs from the machine's.
func TestGuardByAnotherClock(t *testing.T) {
	if !testtrace.MountAvailable() {
		t.Skip("no disk can be simulated here")
	}
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			dir := t.TempDir()
			disk, err := testtrace.NewMount(dir, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := disk.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := disk.Jump(ahead); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "x.lock")
			if _, ok, err := guardByFile(path); !ok || err != nil {
				t.Fatal(ok, err)
			}
			for range 2 {
				if _, ok, err := guardByFile(path); ok || err != nil {
					t.Fatal("two guards", err)
				}
			}
			if err := disk.Jump(2 * guardMaxAge); err != nil {
				t.Fatal(err)
			}
			_, _, _ = guardByFile(path) // breaks the old guard
			release, ok, err := guardByFile(path)
			if !ok || err != nil {
				t.Fatal("an abandoned guard stays", err)
			}
			release()
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Fatal("left behind:", entries, err)
			}
		})
	}
}

// lockChild takes the lock again and again, and logs when it enters and leaves. On entering, it checks that the
// last process that entered has left or is dead.
func lockChild(path, log string, rounds int) error {
	for range rounds {
		l, err := Acquire(context.Background(), path, "test", time.Minute)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		lines := strings.Fields(string(data))
		if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "in:") {
			pid, _ := strconv.Atoi(strings.TrimPrefix(lines[n-1], "in:"))
			if process.Alive(pid) && !process.Dead(pid) {
				return fmt.Errorf("process %d is inside too", pid)
			}
		}
		say := func(what string) error {
			f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "%s:%d\n", what, os.Getpid())
			return errors.Join(err, f.Close())
		}
		if err := say("in"); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Microsecond)
		if err := say("out"); err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}

// Many processes, a stale lock at the start, and owners killed inside: never two inside, no process waits for a
// dead one, nothing is left behind.
func TestLockManyProcesses(t *testing.T) {
	testrepo.Serving(t)
	if path := os.Getenv("LOCK_CHILD"); path != "" {
		if err := lockChild(path, os.Getenv("LOCK_LOG"), 25); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill=%v", kill), func(t *testing.T) {
			path := lockPath(t)
			log := filepath.Join(t.TempDir(), "log")
			stale := git.NewOwner("crashed")
			stale.PID, stale.Acquired = deadPID(t), time.Now()
			if err := errors.Join(
				os.MkdirAll(filepath.Dir(path), 0o755),
				os.WriteFile(path, stale.Encode(), 0o644),
				os.WriteFile(log, nil, 0o644),
			); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			killed := 0
			for i := range 16 {
				cmd := exec.Command(os.Args[0], "-test.run=^TestLockManyProcesses$")
				cmd.Env = append(os.Environ(), "LOCK_CHILD="+path, "LOCK_LOG="+log)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				victim := kill && i%2 == 0
				ended := make(chan struct{})
				if victim {
					killed++
					wg.Go(func() {
						// Wait until it was inside once, then kill it anywhere.
						for mark := fmt.Sprintf("in:%d\n", cmd.Process.Pid); ; {
							if b, _ := os.ReadFile(log); strings.Contains(string(b), mark) {
								break
							}
							select {
							case <-ended:
								return // it failed and reports that itself
							case <-time.After(time.Millisecond):
							}
						}
						time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
						_ = cmd.Process.Kill()
					})
				}
				wg.Go(func() {
					defer close(ended)
					if err := cmd.Wait(); err != nil && (!victim || !strings.Contains(err.Error(), "killed")) {
						t.Errorf("%v\n%s", err, out.String())
					}
				})
			}
			wg.Wait()
			data, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			in, out := strings.Count(string(data), "in:"), strings.Count(string(data), "out:")
			if in-out > killed || in < (16-killed)*25 {
				t.Errorf("%d in, %d out, %d killed", in, out, killed)
			}
			// The next owner also removes what the killed ones left.
			_ = acquire(t, path).Release()
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
				t.Errorf("left behind %v", left)
			}
		})
	}
}

func FuzzReadLock(f *testing.F) {
	o := git.NewOwner("x")
	f.Add(o.Encode())
	f.Add([]byte(`{"owner_pid": 1e99}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "lock")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := git.ReadLock(path)
		if err != nil {
			t.Fatal(err)
		}
		if h := l.Held(time.Now()); h != nil {
			_ = h.Error()
		}
	})
}

func BenchmarkLock(b *testing.B) {
	path := lockPath(b)
	for b.Loop() {
		l, err := Acquire(context.Background(), path, "x", 0)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(); err != nil {
			b.Fatal(err)
		}
	}
}
