// Tests of reading the work tree, with every kind of file name.

package gitstatus

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var oddNames = []string{
	"plain.txt", "with space", " lead", "trail ", "new\nline", "tab\tx", "quote\"s", "back\\slash", "-dash", "ünï",
	"日本",
	"\xff\xfe-invalid", "star*", "[x]", ":(top)y", "dir with space/deep/ünï\nfile", "a -> b", "?", "# comment",
	"\x01control",
}

func opened(t testing.TB, r *testrepo.Repo) *git.Repository {
	t.Helper()
	repo, err := git.Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

func status(t *testing.T, repo *git.Repository) *Status {
	t.Helper()
	s, err := Of(context.Background(), repo, repo.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatusKinds(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		r.Write("gone.txt", "1")
		r.Write("cached.txt", "1")
		r.Write("both.txt", "1")
		r.Write(".gitignore", "*.ignored\n")
		head := r.CommitAll("base")
		repo := opened(t, r)
		if s := status(t, repo); len(s.Dirty) != 0 || string(s.Head) != head ||
			s.Branch != r.Git("branch", "--show-current") {
			t.Fatalf("%+v", s)
		}
		r.Write("a.txt", "changed")
		r.Remove("gone.txt")
		r.Git("rm", "-q", "--cached", "cached.txt")
		r.Git("rm", "-q", "b c.txt")
		r.Write("both.txt", "2")
		r.Git("add", "both.txt")
		r.Write("both.txt", "1")
		r.Write("staged.txt", "x")
		r.Git("add", "staged.txt")
		r.Write("untracked/x.txt", "x")
		r.Write("no.ignored", "x")
		r.Write("intent.txt", "x")
		r.Git("add", "-N", "intent.txt")
		want := map[string]DirtyPath{
			"a.txt":           {Tracked: true},
			"gone.txt":        {Tracked: true, Deleted: true},
			"cached.txt":      {Tracked: true, Staged: true, Untracked: true},
			"b c.txt":         {Tracked: true, Staged: true, Deleted: true},
			"both.txt":        {Tracked: true, Staged: true},
			"staged.txt":      {Tracked: true, Staged: true},
			"untracked/x.txt": {Untracked: true},
			"intent.txt":      {Tracked: true},
		}
		if d := cmp.Diff(want, status(t, repo).Dirty); d != "" {
			t.Error(d)
		}
	})
}

func TestStatusOddNames(t *testing.T) {
	for _, sub := range []string{"", "sub dir"} {
		r := testrepo.New(t, testrepo.Options{Subdir: sub})
		for i, n := range oddNames {
			if i%2 == 0 {
				r.Write(n, "1")
			}
		}
		base := object.OID(r.CommitAll("odd"))
		for _, n := range oddNames {
			r.Write(n, "2")
		}
		if err := os.WriteFile(filepath.Join(r.Top, "outside.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		repo := opened(t, r)
		s := status(t, repo)
		want := slices.Sorted(slices.Values(oddNames))
		got := s.Paths()
		if sub == "" {
			got = slices.DeleteFunc(got, func(p string) bool { return p == "outside.txt" })
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		var tracked []string
		for i, n := range oddNames {
			if s.Dirty[n].Untracked != (i%2 == 1) {
				t.Errorf("%q: %+v", n, s.Dirty[n])
			}
			if i%2 == 0 {
				tracked = append(tracked, n)
			}
		}
		slices.Sort(tracked)
		names, err := DiffNames(context.Background(), repo, base)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tracked, names); d != "" {
			t.Error(d)
		}
	}
}

func TestStatusUnbornDetachedConflict(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{Unborn: true})
	repo := opened(t, r)
	r.Write("a", "x")
	r.Write("b", "x")
	r.Git("add", "a")
	s := status(t, repo)
	if s.Head != "" || s.Branch != "main" || !s.Dirty["a"].Staged || !s.Dirty["b"].Untracked {
		t.Errorf("unborn: %+v", s)
	}

	r = testrepo.New(t, testrepo.Options{})
	repo = opened(t, r)
	r.Git("checkout", "-q", "--detach")
	if s := status(t, repo); s.Branch != "" || s.Head == "" {
		t.Errorf("detached: %+v", s)
	}
	r.Git("checkout", "-q", "-b", "one")
	r.Write("a.txt", "one")
	r.CommitAll("one")
	r.Git("checkout", "-q", "-b", "two", "HEAD~1")
	r.Write("a.txt", "two")
	r.CommitAll("two")
	if _, err := r.TryGit("merge", "one"); err == nil {
		t.Fatal("no conflict")
	}
	s = status(t, repo)
	if !slices.Equal(s.Unmerged, []string{"a.txt"}) || !s.Dirty["a.txt"].Unmerged || !s.Dirty["a.txt"].Tracked {
		t.Errorf("conflict: %+v", s)
	}
	if names, err := DiffNames(ctx, repo, s.Head); err != nil || !slices.Equal(names, []string{"a.txt"}) {
		t.Errorf("conflict names %q %v", names, err)
	}
}

func TestStatusIsNotFooledByConfiguration(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	for k, v := range map[string]string{
		"status.showUntrackedFiles": "no",
		"status.relativePaths":      "true",
		"status.renames":            "copies",
		"diff.renames":              "copies",
		"diff.ignoreSubmodules":     "all",
		"diff.external":             "false",
		"diff.noprefix":             "true",
		"color.ui":                  "always",
		"status.showStash":          "true",
		"core.quotePath":            "true",
		"diff.relative":             "false",
	} {
		r.Git("config", k, v)
	}
	r.Write("renamed.txt", "one\ntwo\n")
	r.Remove("a.txt")
	r.Git("add", "-A")
	r.Write("new.txt", "x")
	repo := opened(t, r)
	if got := status(t, repo).Paths(); !slices.Equal(got, []string{"a.txt", "new.txt", "renamed.txt"}) {
		t.Errorf("%q", got)
	}
	changes, err := DiffChanges(context.Background(), repo, object.OID(r.Git("rev-parse", "HEAD")))
	if d := cmp.Diff([]PathChange{{Path: "a.txt", Status: 'D'}, {Path: "renamed.txt", Status: 'A'}},
		changes); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestStatusSubmodule(t *testing.T) {
	inner, r := testrepo.New(t, testrepo.Options{}), testrepo.New(t, testrepo.Options{})
	r.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.Dir, "mod")
	// A committed file that asks git to hide changes.
	r.Git("config", "-f", ".gitmodules", "submodule.mod.ignore", "all")
	r.CommitAll("submodule")
	repo := opened(t, r)
	if s := status(t, repo); len(s.Dirty) != 0 {
		t.Fatalf("%+v", s)
	}
	r.Write("mod/new.txt", "x")
	if d := status(t, repo).Dirty["mod"]; !d.Submodule || !d.SubmoduleNewContent || d.SubmoduleModified ||
		d.SubmoduleCommit {
		t.Errorf("untracked in it: %+v", d)
	}
	r.Write("mod/a.txt", "x")
	if d := status(t, repo).Dirty["mod"]; !d.SubmoduleModified {
		t.Errorf("modified in it: %+v", d)
	}
	r.Git("-C", "mod", "commit", "-q", "-a", "-m", "x")
	if d := status(t, repo).Dirty["mod"]; !d.SubmoduleCommit {
		t.Errorf("moved: %+v", d)
	}
}

// A question git cannot answer is an error, not a clean tree.
func TestStatusErrors(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	for _, bad := range []object.OID{"", "HEAD", object.OID(strings.Repeat("03", 20)),
		object.OID(r.Git("rev-parse", "HEAD:a.txt")), object.OID(r.Git("rev-parse", "HEAD^{tree}"))} {
		if names, err := DiffNames(ctx, repo, bad); fail.CodeOf(err) != fail.CodeBaseMissing {
			t.Errorf("%s: %q %v", bad, names, err)
		}
	}
	if err := os.WriteFile(filepath.Join(repo.GitDir, "index"), []byte("garbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := Of(ctx, repo, ""); fail.CodeOf(err) != fail.CodeGitFailed {
		t.Errorf("broken index: %+v %v", s, err)
	}
	if names, err := DiffNames(ctx, repo, object.OID(r.Git("rev-parse",
		"HEAD"))); fail.CodeOf(err) != fail.CodeGitFailed {
		t.Errorf("broken index: %q %v", names, err)
	}
}

func TestDiffNamesAgainstBase(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		ctx := context.Background()
		base := object.OID(r.Git("rev-parse", "HEAD"))
		r.Write("new.txt", "x")
		r.Remove("d/e.txt")
		r.CommitAll("moved on")
		r.Write("a.txt", "again")
		r.Write("untracked.txt", "x")
		repo := opened(t, r)
		names, err := DiffNames(ctx, repo, base)
		if err != nil || !slices.Equal(names, []string{"a.txt", "d/e.txt", "new.txt"}) {
			t.Errorf("%q %v", names, err)
		}
		changes, err := DiffChanges(ctx, repo, base)
		if d := cmp.Diff([]PathChange{{
			Path:   "a.txt",
			Status: 'M',
		}, {Path: "d/e.txt", Status: 'D'}, {Path: "new.txt", Status: 'A'}}, changes); d != "" || err != nil {
			t.Error(d, err)
		}
		if changes, err := DiffChanges(ctx, repo, object.OID(r.Git("rev-parse", "HEAD"))); err != nil ||
			len(changes) != 1 {
			t.Errorf("%v %v", changes, err)
		}
		r.Git("checkout", "-q", "a.txt")
		if changes, err := DiffChanges(ctx, repo, object.OID(r.Git("rev-parse", "HEAD"))); err != nil ||
			len(changes) != 0 {
			t.Errorf("%v %v", changes, err)
		}
	})
}

func TestParseStatusRefuses(t *testing.T) {
	const head = "# branch.oid abc\x00"
	for name, in := range map[string]string{
		"nothing": "", "no end": head + "? x", "unknown kind": head + "z x\x00", "short": head + "1\x00",
		"few fields": head + "1 .M N... 1 2 3\x00", "no path": head + "? \x00", "bad xy": head +
			"1 M N... 1 2 3 4 5 p\x00",
		"rename without origin": head + "2 R. N... 1 2 3 4 5 R100 p\x00",
	} {
		if s, err := parse([]byte(in), ""); fail.CodeOf(err) != fail.CodeGitFailed {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
	s, err := parse([]byte(head+"2 R. N... 1 2 3 4 5 R100 new name\x00old name\x00! ignored\x00? x\x00"), "")
	if err != nil || !slices.Equal(s.Paths(), []string{"new name", "old name", "x"}) {
		t.Errorf("%+v %v", s, err)
	}
}

// TestStatusModel compares Status with a model under random edits.
func TestStatusModel(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo := opened(t, r)
	committed := map[string]string{"a.txt": "one\ntwo\n", "b c.txt": "space\n", "d/e.txt": "deep\n"}
	pool := []string{"a.txt", "b c.txt", "d/e.txt", "n1", "d/n2", "ü \n"}
	steps := 0
	rapid.Check(t, func(rt *rapid.T) {
		if steps++; steps > 25 {
			return // a process or two for each
		}
		r.Git("reset", "-q", "--hard")
		r.Git("clean", "-q", "-fdx")
		tree := maps.Clone(committed)
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(rt, "names") {
			switch rapid.SampledFrom([]string{"write", "restore", "remove"}).Draw(rt, "what") {
			case "write":
				tree[name] = "new " + name
				r.Write(name, tree[name])
			case "restore":
				if c, ok := committed[name]; ok {
					tree[name] = c
					r.Write(name, c)
				}
			case "remove":
				delete(tree, name)
				_ = os.Remove(r.Path(name))
			}
			if rapid.Bool().Draw(rt, "add") {
				r.Git("add", "-A")
				r.Git("reset", "-q")
			}
		}
		var want []string
		for _, name := range pool {
			if tree[name] != committed[name] {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		s, err := Of(context.Background(), repo, "")
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, s.Paths()); d != "" {
			rt.Fatal(d)
		}
	})
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x001 .M N... 100644 100644 100644 a b p q\x00? x\x00"), "p")
	f.Fuzz(func(t *testing.T, data []byte, prefix string) {
		s, err := parse(data, prefix)
		if err == nil && s == nil {
			t.Fatal("neither status nor error")
		}
	})
}
