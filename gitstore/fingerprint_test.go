//go:build unix

// Tests of fingerprints: kinds of files, containment.

package gitstore

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

func TestFingerprint(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write := func(path, s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	write(in("file"), "content")
	write(in("empty"), "")
	write(in("big"), strings.Repeat("0123456789", 50_000))
	write(filepath.Join(outside, "secret"), "secret")
	if err := os.Mkdir(in("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"link": "file", "dirlink": "dir", "dangling": "none", "out": filepath.Join(outside,
			"secret"), "outdir": outside,
		"loop": "loop", "up": "../" + filepath.Base(outside) + "/secret", "dir/back": "../file",
	} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	sum := func(s string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s))) }
	for path, want := range map[string]string{
		"file":  sum("content"),
		"empty": sum(""),
		"big":   sum(strings.Repeat("0123456789", 50_000)),
		"link": sum(
			"content"),
		"dir/back":      sum("content"),
		"dir/../file":   sum("content"),
		"none":          "deleted",
		"none/deeper":   "deleted",
		"file/deeper":   "deleted",
		"dangling":      "deleted",
		"dir":           "unreadable",
		"dir/":          "unreadable",
		"dirlink":       "unreadable",
		"out":           "unreadable",
		"outdir/secret": "unreadable",
		"up":            "unreadable",
		"loop":          "unreadable",
		"pipe":          "unreadable",
		"":              "unreadable",
		".":             "unreadable",
		"..":            "unreadable",
		"../" + filepath.Base(outside) + "/secret": "unreadable",
		outside +
			"/secret": "unreadable",
		"a\x00b": "unreadable",
	} {
		if got := fingerprint(root, path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(in("file"), 0); err != nil {
			t.Fatal(err)
		}
		if got := fingerprint(root, "file"); got != "unreadable" {
			t.Errorf("without permission: %s", got)
		}
	}
}

func TestFingerprintIsTheHashOfTheBytes(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	rapid.Check(t, func(rt *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
		if err := os.WriteFile(filepath.Join(dir, "f"), data, 0o644); err != nil {
			rt.Fatal(err)
		}
		if got := fingerprint(root, "f"); got != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) {
			rt.Fatal(got)
		}
	})
}

// TestFingerprintOddNames checks that a name is taken as its bytes, whatever they mean elsewhere.
func TestFingerprintOddNames(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{"with space", " lead", "trail ", "new\nline", "tab\tx", "quote\"s", "back\\slash",
		"-dash", "ünï", "日本", "\xff\xfe-invalid", "star*", "[x]", ":(top)y", "a -> b", "?", "# comment", "\x01control"} {
		if err := root.WriteFile(name, []byte("2"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := fingerprint(root, name); got != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("2"))) {
			t.Errorf("%q: %s", name, got)
		}
	}
}
