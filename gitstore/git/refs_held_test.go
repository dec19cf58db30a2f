package git

import (
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestHeldRefs checks that a held listing answers like git, except for concurrent changes by others; our own moves
// are visible at once.
func TestHeldRefs(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, tr *testrepo.Repo) {
		r, err := Discover(t.Context(), tr.Dir)
		if err != nil {
			t.Fatal(err)
		}
		head := tr.Git("rev-parse", "HEAD")
		set := func(names ...string) {
			t.Helper()
			for _, name := range names {
				tr.Git("update-ref", name, head)
			}
		}
		names := func(prefix string) (out []string) {
			t.Helper()
			refs, err := r.ListRefs(t.Context(), prefix)
			if err != nil {
				t.Fatal(err)
			}
			for _, ref := range refs {
				out = append(out, ref.Name)
			}
			return out
		}
		set("refs/agentxchain/runs/a", "refs/agentxchain/runsx/b", "refs/agentxchain/seen/origin/a", "refs/heads/x")
		release := r.HoldRefs(RefSpace, "refs/remotes/origin/agentxchain/")
		expect := func(when, prefix string, want ...string) {
			t.Helper()
			if got := names(prefix); !slices.Equal(got, want) {
				t.Errorf("%s, below %s: expected %q, got %q", when, prefix, want, got)
			}
		}
		expect("held", RunRefPrefix, "refs/agentxchain/runs/a")
		expect("held", "refs/agentxchain/seen/", "refs/agentxchain/seen/origin/a")
		expect("held", "refs/remotes/origin/agentxchain/runs/")
		set("refs/agentxchain/runs/b", "refs/heads/y")
		expect("another process made one", RunRefPrefix, "refs/agentxchain/runs/a")
		if got := names("refs/heads/"); !slices.Contains(got, "refs/heads/y") {
			t.Errorf("refs that are not held: %q", got)
		}
		move := []RefUpdate{{Name: "refs/agentxchain/runs/c", New: object.OID(head)}}
		if err := r.UpdateRefs(t.Context(), move, "test"); err != nil {
			t.Fatal(err)
		}
		expect("one was moved here", RunRefPrefix, "refs/agentxchain/runs/a", "refs/agentxchain/runs/b",
			"refs/agentxchain/runs/c")
		set("refs/agentxchain/runs/d")
		if err := r.UpdateRefs(t.Context(), move, "test"); err == nil {
			t.Error("a ref was made twice")
		}
		if got := names(RunRefPrefix); len(got) != 4 {
			t.Errorf("after a move that failed: %q", got)
		}
		set("refs/agentxchain/runs/e")
		release()
		if got := names(RunRefPrefix); len(got) != 5 {
			t.Errorf("after the release: %q", got)
		}
	})
}
