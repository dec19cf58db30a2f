// Tests of diffs for people: what a commit changed, how files differ now, and no side effects.

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

// TestDiffUncovers checks that neither an attribute nor a byte hides a change of text, and that binary files stay
// binary.
func TestDiffUncovers(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{Subdir: "project dir"})
	repo, err := git.Discover(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	picture := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x02\x80\xff\xfe\n"
	r.Write("plan.md", strings.Repeat("a line of the plan\n", 20))
	r.Write("nul.md", "one\n")
	r.Write("picture", picture)
	r.Write("plain.txt", "p\n")
	first := r.CommitAll("first")
	r.Write(".gitattributes", "*.md -diff\nplain.txt diff=none\n")
	r.Git("config", "diff.none.binary", "true")
	r.Write("plan.md", strings.Repeat("a line of the plan\n", 20)+"ship it\n")
	r.Write("nul.md", "one and a long enough line\x00\ntwo, which nobody was to see\n")
	r.Write("picture", picture+picture)
	r.Write("plain.txt", "p\nq\n")
	names := []string{"nul.md", "picture", "plain.txt", "plan.md"}
	want := []history.FileStat{{Path: "nul.md", Added: 2, Removed: 1}, {Path: "picture", Added: -1, Removed: -1},
		{Path: "plain.txt", Added: 1}, {Path: "plan.md", Added: 1}}
	check := func(of string, files []history.FileStat, patch []byte, cut bool, err error) {
		t.Helper()
		files = slices.DeleteFunc(files, func(f history.FileStat) bool { return f.Path == ".gitattributes" })
		if err != nil || cut || !slices.Equal(files, want) {
			t.Errorf("%s: expected %+v, got %+v, cut %v, %v", of, want, files, cut, err)
		}
		for _, part := range []string{"+ship it\n", "+two, which", "+q\n", "Binary files a/picture and b/picture differ"} {
			if strings.Count(string(patch), part) != 1 {
				t.Errorf("%s: expected %q once in\n%s", of, part, patch)
			}
		}
		if n := strings.Count(string(patch), "Binary files"); n != 1 {
			t.Errorf("%s: expected one binary file, got %d in\n%s", of, n, patch)
		}
	}
	files, patch, cut, err := history.WorkDiff(t.Context(), repo, first, names, 1<<20)
	check("work tree", files, patch, cut, err)
	if files, patch, cut, err := history.WorkDiff(t.Context(), repo, first, names, 1); err != nil || !cut ||
		patch != nil || !slices.Equal(files, want) {
		t.Errorf("too long: %+v %q %v %v", files, patch, cut, err)
	}
	files, patch, cut, err = history.CommitDiff(t.Context(), repo, r.CommitAll("second"), 1<<20)
	check("commit", files, patch, cut, err)
}
