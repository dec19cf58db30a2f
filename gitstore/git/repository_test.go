// Tests of finding repositories, and of refusing what is not one.

package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestDiscover(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		repo := open(t, r)
		if repo.TopLevel != r.Top || repo.ProjectDir != r.Dir || repo.Prefix != "" {
			t.Errorf("%+v", repo)
		}
		if repo.CommonDir != filepath.Join(r.Main, ".git") ||
			repo.ObjectsDir != filepath.Join(r.Main, ".git", "objects") {
			t.Errorf("common %s objects %s", repo.CommonDir, repo.ObjectsDir)
		}
		if linked := repo.GitDir != repo.CommonDir; linked != r.LinkedWorktree {
			t.Errorf("git dir %s", repo.GitDir)
		}
		if repo.ObjectFormat != r.ObjectFormat || repo.RefFormat != r.RefFormat {
			t.Errorf("formats %s %s", repo.ObjectFormat, repo.RefFormat)
		}
	})
}

func TestDiscoverOddDirectories(t *testing.T) {
	for _, sub := range []string{"sub", "a b/c", "new\nline", "ünï", "trailing \n", "--show-toplevel", ":(top)x",
		"*"} {
		t.Run(sub, func(t *testing.T) {
			r := testrepo.New(t, testrepo.Options{Subdir: sub})
			repo := open(t, r)
			if repo.Prefix != sub+"/" || repo.ProjectDir != r.Dir {
				t.Fatalf("prefix %q project %q", repo.Prefix, repo.ProjectDir)
			}
			r.Write("x", "1")
			s, err := repo.Git.Run(context.Background(), nil, "status", "--porcelain", "--short", ".")
			if err != nil || string(s) != "?? x\n" {
				t.Fatalf("%q %v", s, err)
			}
			names, err := repo.Git.Run(context.Background(), nil, "diff", "--name-only", "--relative", "HEAD~1")
			if err != nil || len(names) != 0 {
				t.Fatalf("%q %v", names, err)
			}
		})
	}
}

func TestDiscoverRefuses(t *testing.T) {
	ctx := context.Background()
	testrepo.Isolate()
	plain := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(plain))
	if _, err := Discover(ctx, plain); fail.CodeOf(err) != fail.CodeNotRepository {
		t.Errorf("plain directory: %v", err)
	}
	if _, err := Discover(ctx, filepath.Join(plain, "none")); fail.CodeOf(err) != fail.CodeNotRepository {
		t.Errorf("missing directory: %v", err)
	}
	r := testrepo.New(t, testrepo.Options{})
	bare := filepath.Join(plain, "bare.git")
	r.Git("clone", "-q", "--bare", r.Main, bare)
	if _, err := Discover(ctx, bare); fail.CodeOf(err) != fail.CodeBareRepository {
		t.Errorf("bare: %v", err)
	}
	repo, err := DiscoverBare(ctx, bare)
	if err != nil || repo.TopLevel != "" || !strings.HasSuffix(repo.ObjectsDir, "bare.git/objects") {
		t.Errorf("bare: %+v %v", repo, err)
	} else if kind, _, err := repo.Objects().Read(ctx, object.OID(r.Git("rev-parse", "HEAD"))); err != nil ||
		kind != object.KindCommit {
		t.Errorf("bare read: %v", err)
	}
	if _, err := Discover(ctx, filepath.Join(r.Dir, ".git", "refs")); fail.CodeOf(err) != fail.CodeNotRepository {
		t.Errorf("inside .git: %v", err)
	}
	r.Git("config", "core.repositoryformatversion", "1")
	r.Git("config", "extensions.fromTheFuture", "1")
	if _, err := Discover(ctx, r.Dir); fail.CodeOf(err) != fail.CodeUnsupportedFormat {
		t.Errorf("unknown extension: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Discover(canceled, r.Dir); err == nil {
		t.Error("canceled")
	}
}

func TestDiscoverDubiousOwnership(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("changing an owner needs root")
	}
	r := testrepo.New(t, testrepo.Options{})
	for _, p := range []string{r.Dir, filepath.Join(r.Dir, ".git")} {
		if err := os.Chown(p, 12345, 12345); err != nil {
			t.Skip(err)
		}
	}
	if !testrepo.HasGit(2, 36) {
		t.Skip("git asks who owns a repository since 2.35.2")
	}
	_, err := Discover(context.Background(), r.Dir)
	var hint string
	if e, ok := err.(*fail.Error); ok {
		hint = e.Hint
	}
	if fail.CodeOf(err) != fail.CodeDubiousOwnership ||
		!strings.Contains(hint, "git config --global --add safe.directory "+r.Dir) {
		t.Fatalf("%v, hint %q", err, hint)
	}
}

// A hook runs with GIT_DIR and a temporary index; the project may be in a
// subdirectory.
func TestDiscoverInsideAHook(t *testing.T) {
	for _, linked := range []bool{false, true} {
		r := testrepo.New(t, testrepo.Options{Subdir: "sub", LinkedWorktree: linked})
		gitDir := r.Git("rev-parse", "--path-format=absolute", "--git-dir")
		index := filepath.Join(t.TempDir(), "index")
		data, err := os.ReadFile(filepath.Join(gitDir, "index"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, data, 0o644); err != nil {
			t.Fatal(err)
		}
		r.Write("staged.txt", "x")
		r.Git("add", "staged.txt")
		func() {
			t.Chdir(r.Top)
			t.Setenv("GIT_DIR", gitDir)
			t.Setenv("GIT_INDEX_FILE", index)
			repo := open(t, r)
			if repo.TopLevel != r.Top || repo.Prefix != "sub/" {
				t.Errorf("top %s prefix %s", repo.TopLevel, repo.Prefix)
			}
			s, err := repo.Git.Run(context.Background(), nil, "status", "--porcelain", "-z")
			if err != nil || !strings.Contains(string(s), "?? sub/staged.txt\x00") {
				t.Errorf("the hook's index is not used: %q %v", s, err)
			}
			for _, k := range []string{"GIT_DIR", "GIT_INDEX_FILE"} {
				if err := os.Unsetenv(k); err != nil {
					t.Fatal(err)
				}
			}
		}()
	}
}

func TestDiscoverWithWorkTreeVariables(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{Subdir: "sub"})
	gitDir := filepath.Join(t.TempDir(), "elsewhere.git")
	if err := os.Rename(filepath.Join(r.Top, ".git"), gitDir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_DIR", gitDir)
	t.Setenv("GIT_WORK_TREE", r.Top)
	repo := open(t, r)
	if repo.TopLevel != r.Top || repo.Prefix != "sub/" || repo.GitDir != gitDir {
		t.Fatalf("%+v", repo)
	}
	if err := os.Unsetenv("GIT_WORK_TREE"); err != nil {
		t.Fatal(err)
	}
	repo, err := Discover(context.Background(), r.Top)
	if err != nil || repo.TopLevel != r.Top || repo.GitDir != gitDir {
		t.Fatalf("%+v %v", repo, err)
	}
}

func TestDiscoverForeign(t *testing.T) {
	own, other := testrepo.New(t, testrepo.Options{}), testrepo.New(t, testrepo.Options{Subdir: "p"})
	t.Setenv("GIT_DIR", filepath.Join(own.Dir, ".git"))
	repo, err := DiscoverForeign(context.Background(), other.Dir)
	if err != nil || repo.TopLevel != other.Top || repo.Prefix != "p/" {
		t.Fatalf("%+v %v", repo, err)
	}
	// The outer repository's configuration must not start programs.
	mark := filepath.Join(t.TempDir(), "ran")
	if err := os.Unsetenv("GIT_DIR"); err != nil {
		t.Fatal(err)
	}
	other.Git("config", "core.fsmonitor", "touch '"+mark+"' #")
	if _, err := repo.Git.Run(context.Background(), nil, "status"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("the other repository's fsmonitor ran")
	}
}
