//go:build unix

// Entries that would block a reader.

package dispatch

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

func TestPipesAreNotWaitedFor(t *testing.T) {
	root, dir := sealedBundle(t, threeFiles())
	if err := os.Remove(dir + "/PROMPT.md"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/PROMPT.md", "/extra"} {
		if err := syscall.Mkfifo(dir+name, 0o600); err != nil {
			t.Skip(err)
		}
	}
	if got := verifyKinds(t, root); !slices.Equal(got, []string{"invalid_manifest PROMPT.md",
		"unexpected_file extra"}) {
		t.Error(got)
	}
	if _, err := OpenVerified(root, testBundle, sealID); codeOf(err) != CodeBundleInvalid {
		t.Error(err)
	}
	if _, err := Finalize(root, testBundle, sealID, "t"); codeOf(err) != CodeBundleUnreadable {
		t.Error(err)
	}
	c, err := Collect(root, testBundle, Limits{})
	if want := []OddFile{{"PROMPT.md", KindFIFO}, {"extra", KindFIFO}}; err != nil || !slices.Equal(c.Odd, want) {
		t.Errorf("%q %v", c.Odd, err)
	}
	// A pipe that replaces a file after the directory was listed.
	f := found{path: "PROMPT.md"}
	if f.info, err = root.Lstat(testBundle + "/CONTEXT.md"); err != nil {
		t.Fatal(err)
	}
	d, err := root.OpenRoot(testBundle)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if file, err := f.open(d); err == nil {
		_ = file.Close()
		t.Error("a pipe was opened as a file")
	}
	if err := os.Remove(dir + "/MANIFEST.json"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/MANIFEST.json", 0o600); err != nil {
		t.Fatal(err)
	}
	if got := verifyKinds(t, root); !slices.Equal(got, []string{"invalid_manifest MANIFEST.json"}) {
		t.Error(got)
	}
}
