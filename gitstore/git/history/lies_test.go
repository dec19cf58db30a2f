// Caches beside the commits and grafts made by hand do not change what is read.

package history

import (
	"bytes"
	"context"
	"crypto/sha1"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestLies writes a commit graph that gives the newest commit the tree of an older one, and grafts that give it
// another parent.
func TestLies(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.Write("a.txt", "a")
	r.CommitAll("first")
	r.Write("planted.txt", "p")
	r.CommitAll("second")
	r.Write("b.txt", "b")
	r.CommitAll("third")
	old, tip := object.OID(r.Git("rev-parse", "HEAD~2")), object.OID(r.Git("rev-parse", "HEAD"))
	look := func() {
		t.Helper()
		repo, ctx := open(t, r), context.Background()
		names, err := ChangedBetween(ctx, repo, old, tip)
		if err != nil || strings.Join(names, " ") != "b.txt planted.txt" {
			t.Error(names, err)
		}
		if n, err := CommitsBetween(ctx, repo, old, tip); err != nil || n != 2 {
			t.Error(n, err)
		}
	}
	look()

	r.Git("commit-graph", "write", "--reachable")
	name := filepath.Join(r.Dir, ".git", "objects", "info", "commit-graph")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tree := func(commit string) []byte {
		raw, _ := object.OID(r.Git("rev-parse", commit+"^{tree}")).Raw()
		return raw
	}
	data = bytes.ReplaceAll(data[:len(data)-sha1.Size], tree("HEAD"), tree("HEAD~2"))
	sum := sha1.Sum(data)
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(data, sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	look()

	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	grafts := string(tip) + " " + string(old) + "\n"
	if err := os.WriteFile(filepath.Join(r.Dir, ".git", "info", "grafts"), []byte(grafts), 0o600); err != nil {
		t.Fatal(err)
	}
	look()
}

// TestShallowFile cuts the history where the environment says: a missing parent there is not an error.
func TestShallowFile(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	r.Write("a.txt", "a")
	r.CommitAll("first")
	r.Write("a.txt", "b")
	tip := object.OID(r.CommitAll("second"))
	name := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(name, []byte(tip+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SHALLOW_FILE", name)
	if cut := ShallowCommits(open(t, r)); len(cut) != 1 || !cut[tip] {
		t.Error(cut)
	}
}

// TestShallowPipe puts a pipe without a writer in place of the list.
func TestShallowPipe(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	if err := exec.Command("mkfifo", filepath.Join(r.Dir, ".git", "shallow")).Run(); err != nil {
		t.Skip(err)
	}
	if cut := ShallowCommits(repo); cut != nil {
		t.Error(cut)
	}
}
