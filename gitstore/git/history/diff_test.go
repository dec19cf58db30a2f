// Diffs for people: what a commit changed, how files differ now, and nothing else
// happening for it.

package history_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestCommitDiff(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{Subdir: "project dir"})
	repo, err := git.Discover(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	r.Write("one.txt", "a\nb\n")
	r.Write("bin", "a\x00b")
	r.Write("odd \"näme\"\n.txt", "x\n")
	first := r.CommitAll("first")
	if err := os.Rename(r.Path("one.txt"), r.Path("two.txt")); err != nil {
		t.Fatal(err)
	}
	second := r.CommitAll("second")
	// Programs a repository may name are not run.
	r.Git("config", "diff.external", "touch "+r.Path("ran"))
	r.Git("config", "diff.evil.textconv", "touch "+r.Path("ran")+" #")
	r.Write(".gitattributes", "*.txt diff=evil\n")

	files, patch, cut, err := history.CommitDiff(t.Context(), repo, first, 1<<20)
	if err != nil || cut || len(files) != 3 || !strings.Contains(string(patch), "+b\n") {
		t.Errorf("%+v %v %v\n%s", files, cut, err, patch)
	}
	if !slices.Contains(files, history.FileStat{
		Path:  "one.txt",
		Added: 2,
	}) || !slices.Contains(files, history.FileStat{Path: "bin", Added: -1, Removed: -1}) ||
		!slices.Contains(files, history.FileStat{Path: "odd \"näme\"\n.txt", Added: 1}) {
		t.Errorf("files %+v", files)
	}
	files, _, _, err = history.CommitDiff(t.Context(), repo, second, 1<<20)
	if err != nil || len(files) != 1 || files[0] != (history.FileStat{Path: "two.txt", From: "one.txt"}) {
		t.Errorf("%+v %v", files, err)
	}
	if _, patch, cut, err := history.CommitDiff(t.Context(), repo, first, 10); err != nil || !cut || patch != nil {
		t.Errorf("a long one: %q %v %v", patch, cut, err)
	}
	for _, bad := range []string{"", "HEAD", "--output=x", "0123456789abcdef0123456789abcdef01234567",
		strings.Repeat("a", 65), "zzzz"} {
		if _, _, _, err := history.CommitDiff(t.Context(), repo, bad, 100); fail.CodeOf(err) != "not_found" {
			t.Errorf("%q: %v", bad, err)
		}
	}

	index := r.Git("hash-object", "--no-filters", r.Git("rev-parse", "--git-path", "index"))
	r.Write("two.txt", "a\nc\n")
	r.Write("new.txt", "n\n")
	files, patch, cut, err = history.WorkDiff(t.Context(), repo, first, []string{"two.txt", "new.txt", ":(top)", "*"},
		1<<20)
	if err != nil || cut || len(files) != 1 || files[0].Path != "two.txt" || !strings.Contains(string(patch), "+c\n") {
		t.Errorf("%+v %v %v\n%s", files, cut, err, patch)
	}
	if files, _, _, err := history.WorkDiff(t.Context(), repo, first, nil, 100); err != nil || files != nil {
		t.Errorf("of nothing: %+v %v", files, err)
	}
	if after := r.Git("hash-object", "--no-filters", r.Git("rev-parse", "--git-path", "index")); after != index {
		t.Error("the index has changed")
	}
	if _, err := os.Stat(r.Path("ran")); err == nil {
		t.Error("a program of the repository's configuration was run")
	}
}
