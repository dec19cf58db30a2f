// Tests of durable writes: content, permissions, containment, size checks.

package durable

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFileReplaces(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []string{"one", "two longer", ""} {
		if err := WriteFile(dir, "f", []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil || string(got) != s {
			t.Fatalf("read %q, %v", got, err)
		}
	}
	if n := names(t, dir); len(n) != 1 {
		t.Fatalf("left behind: %v", n)
	}
	fi, _ := os.Stat(filepath.Join(dir, "f"))
	if fi.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v", fi.Mode())
	}
}

func TestWriteFileReplacesASymlinkInsteadOfFollowing(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(dir, "f", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "keep" {
		t.Fatalf("the link's target became %q", b)
	}
}

func TestWriteFileRootContainment(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(dir, "leak")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := WriteFileRoot(root, "sub/f", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "sub", "f")); string(b) != "x" {
		t.Fatalf("read %q", b)
	}
	for _, bad := range []string{"../f", "leak/f", "sub/../../f", filepath.Join(out, "f")} {
		if err := WriteFileRoot(root, bad, []byte("x"), 0o644); err == nil {
			t.Errorf("%s was written", bad)
		}
	}
	if n := names(t, out); len(n) != 0 {
		t.Fatalf("outside: %v", n)
	}
	if n := names(t, dir); len(n) != 2 {
		t.Fatalf("inside: %v", n)
	}
	if err := WriteFileRoot(root, "none/f", nil, 0o644); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("missing directory: %v", err)
	}
}

func TestRemoveUnfinished(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"f": "new", ".f1": "ne", ".f23": "", ".f": "n", ".f4x": "n", ".f5": "of a person", ".g6": "n", "d/.f7": "n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	RemoveUnfinished(root, "f", []byte("new"))
	if got := strings.Join(names(t, dir), " "); got != ".f .f4x .f5 .g6 d f" {
		t.Errorf("left: %s", got)
	}
	RemoveUnfinished(root, "d/f", []byte("new"))
	if got := names(t, filepath.Join(dir, "d")); len(got) != 0 {
		t.Errorf("left in d: %v", got)
	}
	RemoveUnfinished(root, "../f", nil)
}

func TestAppendChecksTheSize(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := AppendRoot(root, "l", 5, []byte("x"), 0o644); !asSize(err) {
		t.Fatalf("append to a missing file: %v", err)
	}
	if err := AppendRoot(root, "l", 0, []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := AppendRoot(root, "l", 4, []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{0, 4, 9} {
		if err := AppendRoot(root, "l", n, []byte("x"), 0o644); !asSize(err) {
			t.Fatalf("size %d: %v", n, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "l")); string(b) != "one\ntwo\n" {
		t.Fatalf("read %q", b)
	}
	if err := AppendRoot(root, ".", 0, []byte("x"), 0o644); err == nil {
		t.Fatal("appended to a directory")
	}
}

func asSize(err error) bool { var e *SizeError; return errors.As(err, &e) }

func TestAppendRoot(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	_ = os.Mkdir(filepath.Join(dir, "d"), 0o755)
	rapid.Check(t, func(rt *rapid.T) {
		_ = os.Remove(filepath.Join(dir, "d", "l"))
		var want []byte
		for _, c := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 1, 6).Draw(rt, "chunks") {
			if err := AppendRoot(root, "d/l", int64(len(want)), c, 0o644); err != nil {
				rt.Fatal(err)
			}
			want = append(want, c...)
		}
		got, _ := os.ReadFile(filepath.Join(dir, "d", "l"))
		if !bytes.Equal(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
	})
	if err := AppendRoot(root, "../l", 0, []byte("x"), 0o644); err == nil {
		t.Fatal("escaped")
	}
}

// A kill at any point leaves the old or the new content.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	if dir := os.Getenv("DURABLE_CHILD"); dir != "" {
		_ = WriteFile(dir, "f", []byte("new"), 0o644)
		os.Exit(0)
	}
	for _, c := range []struct{ point, want string }{
		{"durable.write.before", "old"}, {"durable.write.renamed", "new"}, {"durable.write.after", "new"},
	} {
		dir := t.TempDir()
		if err := WriteFile(dir, "f", []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterLeavesOldOrNew$")
		cmd.Env = append(os.Environ(), "DURABLE_CHILD="+dir, faults.Env+"="+c.point)
		if err := cmd.Run(); err == nil {
			t.Fatalf("%s: the child was not killed", c.point)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != c.want {
			t.Errorf("%s: content %q, want %q", c.point, b, c.want)
		}
	}
}
