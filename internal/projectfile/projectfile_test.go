package projectfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinks checks that a link may lead to another file of the project, but neither out of it nor into .git.
func TestLinks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "p")
	for name, data := range map[string]string{
		".git/config": "token", "d/file": "x", "sub/.git/config": "token", "../out": "x",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"file": "d/file", "dir": "d", "git": ".git", "config": ".git/config", "d/config": "../git/config",
		"module": "sub/.git/config", "out": "../out", "loop": "loop",
	} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(root, link)); err != nil {
			t.Skip(err) // Windows without the privilege to make links
		}
	}
	for path, want := range map[string]string{
		"d/file": "x", "file": "x", "dir/file": "x", "none": "", "dir/none": "",
		"git/config": "git's own directory", "config": "git's own directory", "d/config": "git's own directory",
		"dir/config": "git's own directory", "module": "git's own directory", "out": "escapes", "loop": "links",
		"d": "not a regular file",
	} {
		data, err := Read(root, path, 10)
		got := string(data)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
