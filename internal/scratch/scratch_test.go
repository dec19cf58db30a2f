// Tests of what is swept and what is not, with processes that are really killed.

package scratch

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

const childVariable = "SCRATCH_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		d, err := New("test-scratch-")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(d.Path)
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or its parent is gone
		runtime.KeepAlive(d)                 // its lock goes with it
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child creates a directory in another process and returns it with a function that kills the process.
func child(t *testing.T) (dir string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line[:len(line)-1], kill
}

func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-2 * unsettled)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func TestWhatAKilledProcessLeavesGoes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no flock")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	left, kill := child(t)
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(left, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(deep, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(deep, 0o500); err != nil {
		t.Fatal(err)
	}
	// Names that a sweep must leave.
	others := []string{"test-scratch-kept", "test-scratch-", "test-scratch-12x", "other-12"}
	for _, name := range others {
		if err := os.Mkdir(filepath.Join(tmp, name), 0o700); err != nil {
			t.Fatal(err)
		}
		age(t, filepath.Join(tmp, name))
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(tmp, "test-scratch-77")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "test-scratch-78"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, left)

	use := func() {
		t.Helper()
		d, err := New("test-scratch-")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Remove(); err != nil || exists(d.Path) {
			t.Fatalf("it stays: %v", err)
		}
	}
	use()
	if !exists(left) {
		t.Fatal("the directory of a live process was removed")
	}
	kill()
	use()
	if exists(left) {
		t.Error("what the killed process left is still there")
	}
	for _, name := range append(others, "test-scratch-77", "test-scratch-78") {
		if !exists(filepath.Join(tmp, name)) {
			t.Errorf("%s was removed", name)
		}
	}
	if !exists(outside) {
		t.Error("a link was followed")
	}
	// The process of a recent one may not have taken its lock yet.
	young := filepath.Join(tmp, "test-scratch-99")
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	use()
	if !exists(young) {
		t.Error("a young directory was removed")
	}
}

func TestKeptDirectoriesStay(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := New("test-scratch-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Path, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := d.Keep("test-kept-"); err != nil {
		t.Fatal(err)
	}
	age(t, d.Path)
	again, err := New("test-scratch-")
	if err != nil {
		t.Fatal(err)
	}
	if !exists(d.Path) {
		t.Error("a kept directory was removed")
	}
	for _, x := range []*Dir{again, d} {
		if err := x.Remove(); err != nil || exists(x.Path) {
			t.Errorf("%s stays: %v", x.Path, err)
		}
	}
}
