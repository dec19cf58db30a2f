package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestLostHeadOfOthers: a branch that named a missing commit before is refused, and stays where it is.
func TestLostHeadOfOthers(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.headNow(t.Context()), tr.Git("rev-parse", "HEAD"); got != OID(want) {
			t.Errorf("HEAD is %s, expected %s", got, want)
		}
		tr.Write("lost.txt", "lost\n")
		lost := tr.CommitAll("lost")
		if err := os.Remove(filepath.Join(r.CommonDir, "objects", lost[:2], lost[2:])); err != nil {
			t.Fatal(err)
		}
		tr.Write("a.txt", "changed\n")
		if oid, err := r.CommitPaths(t.Context(), []string{"a.txt"}, "checkpoint"); err == nil {
			t.Errorf("a commit on a missing one: expected a refusal, got %s", oid)
		}
		if got := tr.Git("rev-parse", "HEAD"); got != lost {
			t.Errorf("the branch is at %s, expected it where it was, %s", got, lost)
		}
	})
}
