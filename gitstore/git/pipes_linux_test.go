package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestPipesInThePlaceOfFiles covers pipes, from an unpacked directory or an agent, in place of files that git or we
// read.
func TestPipesInThePlaceOfFiles(t *testing.T) {
	testrepo.Thorough(t)
	if at, err := os.ReadFile("/proc/self/wchan"); err != nil || len(at) == 0 {
		t.Skip("the kernel does not tell what a process waits in")
	}
	for _, name := range []string{".git/info/exclude", ".git/index", ".git/objects/info/alternates", "d/.gitignore"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			r := testrepo.New(t, testrepo.Options{})
			r.Write("d/new.txt", "x")
			repo, err := Discover(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			pipe(t, r.Path(name))
			_, err = repo.Git.Run(t.Context(), nil, "status", "--porcelain")
			if fail.CodeOf(err) != fail.CodeUnreadable {
				t.Fatal(err)
			}
			if msg := err.Error(); !strings.Contains(msg, "git status waited for the other end of a pipe") {
				t.Error(msg)
			}
		})
	}
}

// TestOurReadsPassPipesOver checks that our own reads of git's files do not block either.
func TestOurReadsPassPipesOver(t *testing.T) {
	testrepo.Thorough(t)
	r := testrepo.New(t, testrepo.Options{})
	oid := object.OID(r.Git("rev-parse", "HEAD"))
	r.Git("pack-refs", "--all")
	repo, err := Discover(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	pipe(t, r.Path(".git/objects/pack/pack-"+strings.Repeat("1", 40)+".idx"))
	pipe(t, r.Path(".git/objects/pack/multi-pack-index"))
	pipe(t, r.Path(".git/objects/"+string(oid[:2])+"/"+string(oid[2:])))
	pipe(t, r.Path(".git/packed-refs"))
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _, _ = repo.Objects().Read(ctx, oid)
		_, _, _ = repo.scanPacked("refs/heads/main")
	}()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("a pipe is waited for")
	}
}

func pipe(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(name)
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}
