//go:build unix

package turnmark

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func project(t *testing.T) *os.Root {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".agentxchain", "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func hold(t *testing.T, root *os.Root, turn string) *Mark {
	t.Helper()
	m, err := Hold(root, turn)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHoldIsExclusive(t *testing.T) {
	root := project(t)
	m := hold(t, root, "turn_1")
	if _, err := Hold(root, "turn_1"); !errors.Is(err, ErrHeld) {
		t.Errorf("held twice: %v", err)
	}
	hold(t, root, "turn_2").Release()
	m.Release()
	m.Release()
	if _, err := root.Lstat(Path("turn_1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	again := hold(t, root, "turn_1")
	if again.Found {
		t.Error("a mark that was given back counts as left behind")
	}
	again.Release()
}

func TestHoldWhatWasLeftBehind(t *testing.T) {
	root := project(t)
	if err := root.WriteFile(Path("turn_1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := hold(t, root, "turn_1")
	defer m.Release()
	if !m.Found {
		t.Error("it is not reported that a process had it")
	}
}

// TestHeldByAnHeir holds a mark through a program that outlives its owner.
func TestHeldByAnHeir(t *testing.T) {
	root := project(t)
	id := fmt.Sprintf("turn_%d", os.Getpid()) // other tests that run now hold marks as well
	m := hold(t, root, id)
	cmd := exec.Command("sleep", "60")
	cmd.ExtraFiles = []*os.File{m.File()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if runtime.GOOS == "linux" {
		if got := Owner(id); got != os.Getpid() {
			t.Errorf("owner %d", got)
		}
		if got := Processes(id); len(got) != 1 || got[0] != cmd.Process.Pid {
			t.Errorf("processes %v, want %d", got, cmd.Process.Pid)
		}
	}
	// As when the holder is killed: its descriptor is closed, the lock stays.
	held.Lock()
	delete(held.files, m.own)
	delete(held.files, m.heir)
	held.Unlock()
	_ = m.own.Close()
	_ = m.heir.Close()
	if _, err := Hold(root, id); !errors.Is(err, ErrHeld) {
		t.Errorf("an heir's lock was taken: %v", err)
	}
}

func TestHoldRefuses(t *testing.T) {
	root := project(t)
	for _, id := range []string{"../x", "a/b", "a\x00b", `a\b`} {
		if m, err := Hold(root, id); err == nil {
			m.Release()
			t.Errorf("%q was taken", id)
		}
	}
	if err := root.WriteFile("precious", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := root.Symlink("../../precious", Path("turn_1")); err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(root, "turn_1"); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestTurnOfFile(t *testing.T) {
	for name, want := range map[string]string{
		"/p/.agentxchain/locks/dispatch-turn_1.lock":           "turn_1",
		"/p/.agentxchain/locks/dispatch-turn_1.lock (deleted)": "turn_1",
		"/p/.agentxchain/locks/accept-turn.lock":               "",
		"/p/locks/dispatch-turn_1.lock":                        "",
		"/p/.agentxchain/locks/dispatch-.lock":                 "",
		"socket:[1]":                                           "",
		"":                                                     "",
	} {
		if got := turnOfFile(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestInsideByVariable(t *testing.T) {
	if got := Inside(func(name string) string {
		return strings.TrimPrefix(name,
			Variable) + "turn_9"
	}); got != "turn_9" {
		t.Errorf("%q", got)
	}
}

func TestList(t *testing.T) {
	root := project(t)
	if held, left := List(root); len(held)+len(left) != 0 {
		t.Errorf("%v %v", held, left)
	}
	m := hold(t, root, "turn_1")
	defer m.Release()
	if err := root.WriteFile(Path("turn_2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(lockDir+"/accept-turn.lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, left := List(root)
	if len(held) != 1 || held[0] != "turn_1" || len(left) != 1 || left[0] != "turn_2" {
		t.Errorf("held %v, left %v", held, left)
	}
	m.Release()
	if held, _ := List(root); len(held) != 0 {
		t.Errorf("%v", held)
	}
}
