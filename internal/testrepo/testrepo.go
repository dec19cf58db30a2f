// A repository of a test, and git commands in it.

package testrepo

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Options selects the kind of repository.
type Options struct {
	ObjectFormat   string // "sha1" (also "") or "sha256"
	RefFormat      string // "files" (also "") or "reftable"
	LinkedWorktree bool   // Dir is a linked work tree on its own branch
	Subdir         string // Dir is this directory below the work tree's root
	Unborn         bool   // no commit yet; not with LinkedWorktree
}

// Repo is a repository in a temporary directory.
type Repo struct {
	Dir  string // the project directory
	Top  string // root of the work tree
	Main string // root of the main work tree
	Options

	t testing.TB
}

// Isolate keeps the developer's git configuration, and the repository a hook may be running in, out of the tests of
// this process. New calls it.
func Isolate() { isolate() }

var isolate = sync.OnceFunc(func() {
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(k, "GIT_") {
			_ = os.Unsetenv(k)
		}
	}
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ann Author", "GIT_AUTHOR_EMAIL": "ann@example.org",
		"GIT_COMMITTER_NAME": "Carl Committer", "GIT_COMMITTER_EMAIL": "carl@example.org",
		"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
		"GIT_TERMINAL_PROMPT": "0",
	} {
		_ = os.Setenv(k, v)
	}
	InMemory()
})

// InMemory puts the temporary directories of this process and its children into memory, if there is room: tests
// make thousands of repositories and sync every write, which takes a third of the time there. Set TMPDIR to use a
// disk instead. Isolate calls it.
func InMemory() {
	if os.Getenv("TMPDIR") == "" && roomInMemory() {
		_ = os.Setenv("TMPDIR", memory)
	}
}

const (
	memory    = "/dev/shm"
	memoryMin = 4 << 30 // bytes that must be free there
)

// New makes a repository of two commits: a.txt, "b c.txt" and d/e.txt.
func New(t testing.TB, o Options) *Repo {
	t.Helper()
	isolate()
	if o.ObjectFormat == "" {
		o.ObjectFormat = "sha1"
	}
	if o.RefFormat == "" {
		o.RefFormat = "files"
	}
	// Git reports paths with symbolic links resolved.
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{Options: o, t: t, Main: filepath.Join(base, "main")}
	args := []string{"init", "-q", "--initial-branch=main", "--object-format=" + o.ObjectFormat}
	if o.RefFormat != "files" {
		args = append(args, "--ref-format="+o.RefFormat)
	}
	r.run(base, append(args, r.Main)...)
	keepInForeground(t, filepath.Join(r.Main, ".git"))
	r.Top = r.Main
	r.Dir = filepath.Join(r.Top, filepath.FromSlash(o.Subdir))
	r.mkdir(r.Dir)
	if o.Unborn {
		return r
	}
	r.writeAt(r.Top, "a.txt", "one\n")
	r.writeAt(r.Top, "d/e.txt", "deep\n")
	if o.Subdir != "" {
		r.Write("in.txt", "inside\n")
	}
	r.CommitAll("first")
	r.writeAt(r.Top, "a.txt", "one\ntwo\n")
	r.writeAt(r.Top, "b c.txt", "space\n")
	r.CommitAll("second")
	if o.LinkedWorktree {
		r.Top = filepath.Join(base, "linked")
		r.run(r.Main, "worktree", "add", "-q", "-b", "side", r.Top)
		r.Dir = filepath.Join(r.Top, filepath.FromSlash(o.Subdir))
	}
	return r
}

// UpkeepNow is a configuration with which git does its maintenance within the command that starts it: from version
// 2.47 on it otherwise continues beside the test.
const UpkeepNow = "[maintenance]\n\tautoDetach = false\n[gc]\n\tautoDetach = false\n"

func keepInForeground(t testing.TB, gitDir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(gitDir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(UpkeepNow)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Git runs git in the project directory and returns its output without the
// final newline. A failure ends the test.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.run(r.Dir, args...)
}

// TryGit is Git that returns the failure.
func (r *Repo) TryGit(args ...string) (string, error) { return try(r.Dir, nil, args...) }

// GitInput is Git with standard input.
func (r *Repo) GitInput(stdin string, args ...string) string {
	r.t.Helper()
	out, err := try(r.Dir, strings.NewReader(stdin), args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Write makes a file below the project directory, with its directories.
func (r *Repo) Write(name, content string) {
	r.t.Helper()
	r.writeAt(r.Dir, name, content)
}

// Remove deletes a file below the project directory.
func (r *Repo) Remove(name string) {
	r.t.Helper()
	if err := os.Remove(r.Path(name)); err != nil {
		r.t.Fatal(err)
	}
}

// Path returns the path of a file below the project directory.
func (r *Repo) Path(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }

// CommitAll commits everything in the work tree and returns the commit's id.
func (r *Repo) CommitAll(message string) string {
	r.t.Helper()
	r.run(r.Top, "add", "-A", ".")
	r.run(r.Top, "commit", "-q", "--allow-empty", "--no-verify", "-m", message)
	return r.run(r.Top, "rev-parse", "HEAD")
}

// Fsck fails the test when git fsck --strict finds anything.
func (r *Repo) Fsck() {
	r.t.Helper()
	out, err := try(r.Dir, nil, "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	if err != nil || out != "" {
		r.t.Fatalf("git fsck: %v\n%s", err, out)
	}
}

func (r *Repo) writeAt(dir, name, content string) {
	r.t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	r.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *Repo) mkdir(dir string) {
	r.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r *Repo) run(dir string, args ...string) string {
	r.t.Helper()
	out, err := try(dir, nil, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func try(dir string, stdin *strings.Reader, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), err
}
