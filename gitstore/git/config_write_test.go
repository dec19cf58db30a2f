package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestConfigure changes the configuration through a link, keeps its permissions, and does what git would.
func TestConfigure(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(r.CommonDir, "config")
		if runtime.GOOS != "windows" {
			there := filepath.Join(t.TempDir(), "elsewhere")
			if err := errors.Join(os.Rename(name, there), os.Symlink(there, name), os.Chmod(there, 0o640)); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"test.one", "1"}, {"--add", "test.one", "2"}, {"test.two", "3"},
			{"--unset-all", "test.two"}} {
			if err := r.Configure(t.Context(), args...); err != nil {
				t.Fatal(err)
			}
		}
		if got := tr.Git("config", "--local", "--get-regexp", "^test[.]"); got != "test.one 1\ntest.one 2" {
			t.Errorf("it holds %q", got)
		}
		if err := r.Configure(t.Context(), "--unset-all", "test.two"); ExitCode(err) != 5 {
			t.Errorf("what is not there: %v, expected git's status 5", err)
		}
		if err := r.Configure(t.Context(), "no key", "1"); ExitCode(err) < 1 {
			t.Errorf("what is no key: %v, expected git's refusal", err)
		}
		if left, _ := filepath.Glob(name + ".*"); len(left) > 0 || len(r.LockNotes()) > 0 {
			t.Errorf("left %v and %d notes", left, len(r.LockNotes()))
		}
		if fi, err := os.Lstat(name); runtime.GOOS != "windows" && (err != nil || fi.Mode()&fs.ModeSymlink == 0) {
			t.Errorf("the link is gone: %v, %v", fi, err)
		}
		if fi, err := os.Stat(name); runtime.GOOS != "windows" && (err != nil || fi.Mode().Perm() != 0o640) {
			t.Errorf("permissions: %v, %v", fi.Mode(), err)
		}
	})
}

// TestConfigureBesideAnother checks that another process's lock is not removed.
func TestConfigureBesideAnother(t *testing.T) {
	testrepo.Thorough(t)
	tr := testrepo.New(t, testrepo.Options{})
	r, err := Discover(t.Context(), tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(r.CommonDir, "config.lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	err = r.Configure(t.Context(), "test.one", "1")
	if err == nil || !strings.Contains(err.Error(), "config.lock") {
		t.Errorf("expected a refusal that names the lock, got %v", err)
	}
	if notes := r.LockNotes(); len(notes) > 0 {
		t.Errorf("a note claims the lock: %+v", notes[0])
	}
	r.SweepLocks(t.Context(), nil)
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock of another process: %v", err)
	}
}
