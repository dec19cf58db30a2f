package history

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func open(t testing.TB, r *testrepo.Repo) *git.Repository {
	t.Helper()
	repo, err := git.Discover(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}

func TestBlame(t *testing.T) {
	for _, format := range []string{object.FormatSHA1, object.FormatSHA256} {
		t.Run(format, func(t *testing.T) {
			ctx := context.Background()
			r := testrepo.New(t, testrepo.Options{ObjectFormat: format})
			repo := open(t, r)
			name := "tab\tand \"quote\" ü.txt"
			r.Write(name, "one\ntwo\nthree\n")
			first := r.CommitAll("first of it")
			r.Git("mv", name, "moved.txt")
			r.Write("moved.txt", "one\nTWO\nthree\n")
			second := r.CommitAll("second")
			r.Write("moved.txt", "one\nTWO\nthree\nfour\n")
			lines, err := Blame(ctx, repo, "moved.txt", nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range lines {
				got = append(got, fmt.Sprintf("%d %d %q %q %q %v", l.Number, l.Original, l.Path, l.Previous, l.Text,
					l.Commit.Uncommitted()))
			}
			want := []string{
				fmt.Sprintf("1 1 %q %q %q false", name, "", "one"),
				fmt.Sprintf("2 2 %q %q %q false", "moved.txt", name, "TWO"),
				fmt.Sprintf("3 3 %q %q %q false", name, "", "three"),
				fmt.Sprintf("4 4 %q %q %q true", "moved.txt", "moved.txt", "four"),
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q\nwant\n%q", got, want)
			}
			if string(lines[0].Commit.OID) != first || string(lines[1].Commit.OID) != second ||
				lines[0].Commit != lines[2].Commit || lines[0].Commit.Author != "Ann Author" {
				t.Fatalf("%+v %+v", lines[0].Commit, lines[1].Commit)
			}
			if part, err := Blame(ctx, repo, "moved.txt", []LineRange{{2, 2}, {4, 0}}); err != nil || len(part) != 2 ||
				part[1].Number != 4 {
				t.Fatalf("%v %v", part, err)
			}
			for name, code := range map[string]string{
				"nothing":   wire.CodeNotFound,
				"moved.txt": wire.CodeInvalidArgument,
			} {
				if _, err := Blame(ctx, repo, name, []LineRange{{9, 9}}); fail.CodeOf(err) != code {
					t.Errorf("%s: %v", name, err)
				}
			}
			r.Write("new.txt", "x\n")
			if _, err := Blame(ctx, repo, "new.txt", nil); fail.CodeOf(err) != wire.CodeNotFound {
				t.Error(err)
			}
			names, err := FormerNames(ctx, repo, "moved.txt", 10)
			if err != nil || !slices.Equal(names, []string{name}) {
				t.Errorf("%q %v", names, err)
			}
			commits, err := CommitsOf(ctx, repo, []string{"moved.txt", name}, 10)
			if err != nil || !slices.Equal(commits, []object.OID{object.OID(second), object.OID(first)}) {
				t.Errorf("%q %v", commits, err)
			}
		})
	}
}

func TestAncestry(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t, testrepo.Options{})
	repo := open(t, r)
	r.Write(".gitattributes", "*.txt eol=crlf\n")
	r.CommitAll("attributes")
	if n, err := Ancestry(ctx, repo, []object.OID{object.OID(r.Git("rev-parse", "HEAD")),
		"0000000000000000000000000000000000000001"},
		10); err != nil || len(n) != 3 {
		t.Fatalf("%v %v", n, err)
	}
	if n, err := Ancestry(ctx, repo, []object.OID{object.OID(r.Git("rev-parse", "HEAD"))}, 2); err != nil || n != nil {
		t.Fatalf("%v %v", n, err)
	}
}

func TestShallowCommits(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	if cut := ShallowCommits(open(t, r)); cut != nil {
		t.Fatal(cut)
	}
	at := filepath.Join(t.TempDir(), "clone")
	r.Git("clone", "-q", "--depth=1", "file://"+r.Dir, at)
	repo, err := git.Discover(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	if cut := ShallowCommits(repo); len(cut) != 1 || !cut[object.OID(r.Git("rev-parse", "HEAD"))] {
		t.Fatal(cut)
	}
}

func FuzzParseBlame(f *testing.F) {
	r := testrepo.New(f, testrepo.Options{})
	out, err := git.NewGit(r.Dir).Run(context.Background(), nil, "blame", "--porcelain", "a.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(out)
	f.Add([]byte("0000000000000000000000000000000000000000 1 1 1\nfilename \"a\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := parseBlame(data, object.FormatSHA1)
		for _, l := range lines {
			if err == nil && (l.Path == "" || l.Commit == nil || l.Number < 1) {
				t.Fatalf("%+v", l)
			}
		}
	})
}

func TestUnquotePath(t *testing.T) {
	for in, want := range map[string]string{
		`a b`:        "a b",
		`"a\tb\"\\"`: "a\tb\"\\",
		`"\303\274"`: "ü",
		`"`:          `"`,
		`"\`:         `"\`,
		`"\9"`:       "9",
	} {
		if got := unquotePath(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
