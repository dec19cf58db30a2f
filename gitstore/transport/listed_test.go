package transport

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestWhatIsListedIsFetchedAsGitWould changes a server of many records in every way, and compares what a clone then
// knows with what git's own fetch brings.
func TestWhatIsListedIsFetchedAsGitWould(t *testing.T) {
	testrepo.Serving(t)
	testrepo.Matrix(t, func(t *testing.T, ours *testrepo.Repo) {
		ctx := t.Context()
		o := testrepo.Options{ObjectFormat: ours.Options.ObjectFormat}
		server := testrepo.New(t, o)
		server.Write("a", "1")
		server.CommitAll("first")
		at := func(i int) string {
			tree := server.Git("rev-parse", "HEAD^{tree}")
			return server.Git("commit-tree", "-m", fmt.Sprint("operation ", i), tree)
		}
		runRef := func(i int) string { return git.RunRefPrefix + fmt.Sprintf("run_%04d", i) }
		first := at(0)
		var in strings.Builder
		for i := range listFirst {
			fmt.Fprintf(&in, "create %s %s\n", runRef(i), first)
		}
		server.GitInput(in.String(), "update-ref", "--stdin")

		theirs := testrepo.New(t, o)
		for _, r := range []*testrepo.Repo{ours, theirs} {
			r.Git("remote", "add", "origin", server.Dir)
			for _, spec := range runRefspecs("origin") {
				r.Git("config", "--add", "remote.origin.fetch", spec)
			}
		}
		repo, err := git.Discover(ctx, ours.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = repo.Close() }()
		others := []string{"+refs/heads/*:refs/remotes/origin/*"}
		sync := func(step string, listed bool) {
			t.Helper()
			if listed != fetchListed(ctx, repo, "origin", others) {
				t.Errorf("%s: listed first is %v, want %v", step, !listed, listed)
			}
			if !listed {
				if err := FetchRuns(ctx, repo, "origin", others); err != nil {
					t.Fatal(err)
				}
			}
			theirs.Git(append([]string{"fetch", "-q", "--prune", "--no-tags", "origin"}, runRefspecs("origin")...)...)
			theirs.Git(append([]string{"fetch", "-q", "--no-tags", "origin"}, others...)...)
			const format = "--format=%(objectname) %(refname)"
			if got, want := ours.Git("for-each-ref", format, "refs/remotes"),
				theirs.Git("for-each-ref", format, "refs/remotes"); got != want {
				t.Errorf("%s: known of the server are\n%s\nand git knows\n%s", step, diffLines(got, want),
					diffLines(want, got))
			}
		}
		sync("the first time, nothing is known", false)
		sync("nothing new", true)
		if c, ok := changesOf(ctx, repo, "origin", others); !ok || len(c.fetch)+len(c.gone) > 0 {
			t.Errorf("nothing is new, and found were %+v, %v", c, ok)
		}
		server.Git("update-ref", runRef(3), at(1))
		server.Git("update-ref", runRef(listFirst), at(2))
		server.Git("update-ref", record.ConflictRefPrefix+"run_0001/"+first, at(3))
		server.Git("update-ref", record.InitiativeRefPrefix+"srun_1", at(4))
		sync("a record moved, and others are new", true)
		server.Git("update-ref", "-d", runRef(7))
		server.Git("update-ref", "-d", record.ConflictRefPrefix+"run_0001/"+first)
		sync("records are gone", true)
		server.Write("a", "2")
		server.CommitAll("second")
		server.Git("branch", "side")
		server.Git("update-ref", "refs/pull/1/head", at(5))
		server.Git("update-ref", runRef(4), at(6))
		sync("branches moved along", true)
		server.Git("branch", "-q", "-D", "side")
		sync("a branch is gone, which only its person prunes", true)
		server.Git("update-ref", runRef(4), first)
		sync("a record went back", true)

		for _, spec := range []string{"refs/heads/*:refs/heads/*", "^refs/heads/wip", "+refs/tags/*:refs/tags/*",
			"main"} {
			if _, ok := changesOf(ctx, repo, "origin", []string{spec}); ok {
				t.Errorf("refspec %s was taken for one that brings tracking names", spec)
			}
		}
		if _, ok := changesOf(context.Background(), repo, "nowhere", others); ok {
			t.Error("a remote that does not exist was listed")
		}
	})
}

// diffLines returns the lines of one text that another lacks.
func diffLines(a, b string) string {
	have := strings.Split(b, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(a, "\n"),
		func(l string) bool { return slices.Contains(have, l) }), "\n")
}
