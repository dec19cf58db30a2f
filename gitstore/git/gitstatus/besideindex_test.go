package gitstatus

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestComparingLeavesTheIndex checks that comparing does not write a person's index, works while it is locked, and
// finds changes made in the same moment as the index was written.
func TestComparingLeavesTheIndex(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := git.Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		base := object.OID(tr.Git("rev-parse", "HEAD"))
		name := filepath.Join(r.GitDir, "index")
		hold := func(write func()) {
			t.Helper()
			before, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lock := name + ".lock"
			if err := os.WriteFile(lock, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			write()
			if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the index was written (%v)", err)
			}
			if err := os.Remove(lock); err != nil {
				t.Errorf("the lock of another git: %v", err)
			}
		}
		// A file with a new time and its old contents has not changed.
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(tr.Dir, "a.txt"), later, later); err != nil {
			t.Fatal(err)
		}
		hold(func() {
			if names, err := DiffNames(t.Context(), r, base); err != nil || len(names) > 0 {
				t.Errorf("expected no difference, got %q %v", names, err)
			}
		})
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DiffNames(t.Context(), r, base); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the index was written (%v)", err)
		}
		// Same length and same time: only the time of the index says that the file must be read.
		file := filepath.Join(tr.Dir, "a.txt")
		tr.Write("a.txt", "one\n")
		tr.Git("add", "a.txt")
		head := object.OID(tr.CommitAll("one"))
		fi, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{file, name} {
			if err := os.Chtimes(name, fi.ModTime(), fi.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
		hold(func() {
			if names, err := DiffNames(t.Context(), r, head); err != nil || !slices.Equal(names, []string{"a.txt"}) {
				t.Errorf("expected a.txt, got %q %v", names, err)
			}
		})
	})
}
