package gitstatus

import (
	"os"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestIgnoredTakesAnyPath checks that whatever an agent names in its result, git answers for the other paths.
func TestIgnoredTakesAnyPath(t *testing.T) {
	tr, inner := testrepo.New(t, testrepo.Options{}), testrepo.New(t, testrepo.Options{})
	tr.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.Dir, "mod")
	tr.Write(".gitignore", "*.log\n!kept.log\n")
	tr.Write("tracked.log", "")
	tr.Git("add", "-f", "tracked.log")
	tr.CommitAll("base")
	if err := os.Symlink("mod", tr.Path("link")); err != nil {
		t.Skip(err) // Windows without the privilege to make links
	}
	r, err := git.Discover(t.Context(), tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	asked := []string{"a.log", "link/b.log", "link/d/b.log", "mod/c.log", "mod/d/c.log", ":(glob)**", ":^x.log",
		":(top)y.log", ":!z", "tracked.log", "kept.log", "d/e.log", "gone/f.txt", "-v.log", "link"}
	want := []string{"a.log", ":^x.log", ":(top)y.log", "d/e.log", "-v.log"}
	found, err := Ignored(t.Context(), r, asked, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Names(); !slices.Equal(got, want) {
		t.Errorf("ignored are %q, want %q", got, want)
	}
	if found[0].Rule != ".gitignore:1: *.log" {
		t.Errorf("the rule is %q", found[0].Rule)
	}
	found, err = Ignored(t.Context(), r, []string{"tracked.log", "link/b.log"}, true)
	if err != nil || !slices.Equal(found.Names(), []string{"tracked.log"}) {
		t.Errorf("by the rules alone ignored are %q: %v", found.Names(), err)
	}
}
