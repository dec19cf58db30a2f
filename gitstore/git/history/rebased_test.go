package history_test

import (
	"context"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestRebased checks that a branch counts as rebased only if every commit of it is there again unchanged.
func TestRebased(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		repo, err := git.Discover(context.Background(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Write("base", "base\n")
		r.CommitAll("base")
		r.Git("branch", "upstream")
		r.Write("one", "one\n")
		r.CommitAll("one\n\nAgentxchain-Turn: turn_1")
		r.Write("two", "two\n")
		r.CommitAll("two")
		was := r.Git("rev-parse", "HEAD")
		r.Git("checkout", "-q", "upstream")
		r.Write("theirs", "theirs\n")
		r.CommitAll("theirs")
		for _, c := range []struct {
			name string
			want bool
			do   [][]string
		}{
			{"rebased", true, [][]string{{"rebase", "-q", "upstream"}}},
			{"rebased, and more on top", true,
				[][]string{{"rebase", "-q", "upstream"}, {"commit", "-q", "--allow-empty", "-m", "more"}}},
			{"another message", false,
				[][]string{{"rebase", "-q", "upstream"}, {"commit", "-q", "--amend", "-m", "other"}}},
			{"a commit dropped", false, [][]string{{"rebase", "-q", "--onto", "upstream", "HEAD~1"}}},
			{"another change", false, [][]string{{"rebase", "-q", "upstream"}, {"rm", "-q", "one"},
				{"commit", "-q", "--amend", "--no-edit"}}},
			{"squashed", false, [][]string{{"reset", "-q", "--soft", "HEAD~2"}, {"commit", "-q", "-m", "two"},
				{"rebase", "-q", "upstream"}}},
			{"gone back", false, [][]string{{"reset", "-q", "--hard", "HEAD~1"}}},
			{"another branch", false, [][]string{{"reset", "-q", "--hard", "upstream"}}},
		} {
			r.Git("checkout", "-q", "-B", "work", was)
			for _, args := range c.do {
				r.Git(args...)
			}
			is := r.Git("rev-parse", "HEAD")
			if got, err := history.Rebased(context.Background(), repo, object.OID(was),
				object.OID(is)); err != nil || got != c.want {
				t.Errorf("%s: expected %v, got %v, %v", c.name, c.want, got, err)
			}
		}
		r.Git("checkout", "-q", "-B", "merged", was)
		r.Git("merge", "-q", "--no-ff", "-m", "merge", "upstream")
		merged := r.Git("rev-parse", "HEAD")
		r.Git("checkout", "-q", "upstream")
		r.Git("cherry-pick", was+"~1", was)
		if got, err := history.Rebased(context.Background(), repo, object.OID(merged),
			object.OID(r.Git("rev-parse", "HEAD"))); err != nil || got {
			t.Errorf("with a merge: expected false, got %v, %v", got, err)
		}
	})
}

// TestCommitsMadeHere distinguishes what a clone committed from what it only took over.
func TestCommitsMadeHere(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		repo, err := git.Discover(ctx, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Write("base", "base\n")
		base := r.CommitAll("base")
		// Objects made outside any branch, like those of a fetch.
		theirs := r.Git("commit-tree", "-p", base, "-m", "theirs", base+"^{tree}")
		more := r.Git("commit-tree", "-p", theirs, "-m", "more", base+"^{tree}")
		r.Git("merge", "-q", "--ff-only", theirs)
		r.Git("checkout", "-q", "-b", "elsewhere")
		ours := r.Git("rev-parse", "HEAD")
		r.Write("ours", "ours\n")
		mine := r.CommitAll("ours")
		r.Git("reset", "-q", "--hard", more)
		made, known, err := history.CommitsMadeHere(ctx, repo, object.OID(more))
		if err != nil || !known {
			t.Fatalf("expected a reflog that tells, got %v, %v", known, err)
		}
		for id, want := range map[string]bool{base: true, mine: true, theirs: false, more: false, ours: false} {
			if made[object.OID(id)] != want {
				t.Errorf("%s was made here: expected %v, got %v", r.Git("log", "-1", "--format=%s", id), want, !want)
			}
		}
		r.Git("cherry-pick", "--allow-empty", mine)
		picked := r.Git("rev-parse", "HEAD")
		if made, known, err = history.CommitsMadeHere(ctx, repo, object.OID(picked)); err != nil || !known ||
			!made[object.OID(picked)] {
			t.Errorf("a picked commit: expected made here, got %v, %v, %v", made[object.OID(picked)], known, err)
		}
		if _, known, err = history.CommitsMadeHere(ctx, repo, object.OID(theirs)); err != nil || known {
			t.Errorf("a reflog that leads elsewhere: expected unknown, got %v, %v", known, err)
		}
	})
}
