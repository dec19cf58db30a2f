package gitcommit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestHeldIsWhatGitCommits checks, for any committed paths and anything else staged, that what is held beforehand
// is everything git's commit has besides itself, by git's own list; whether git computes it, or the files are read
// here and the tree is known in advance.
func TestHeldIsWhatGitCommits(t *testing.T) {
	testrepo.Thorough(t)
	rounds := 10
	if testrepo.All(t.Name()) {
		rounds = 60
	}
	for _, o := range []testrepo.Options{{}, {Unborn: true}, {
		ObjectFormat:   object.FormatSHA256,
		LinkedWorktree: true,
	}, {Subdir: "sub/project"}} {
		t.Run(o.Name(), func(t *testing.T) {
			r := testrepo.New(t, o)
			r.Git("config", "maintenance.auto", "false") // it would continue after the test
			r.Git("config", "gc.auto", "0")
			repo, err := git.Discover(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = repo.Close() }()
			rnd := rand.New(rand.NewPCG(7, uint64(len(o.Name()))))
			here := 0
			for round := range rounds {
				paths := scramble(t, r, rnd, round, round%3 == 0)
				hooks, err := repo.HooksDir(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				committer := repo.Git.WithHooks(hooks)
				seen, err := gitstatus.Of(t.Context(), repo, repo.Prefix)
				if err != nil {
					t.Fatal(err)
				}
				byGit, err := holdPaths(t.Context(), repo, committer, repo.Head(t.Context()), paths, seen, false)
				if err != nil {
					t.Fatalf("round %d, %q: %v", round, paths, err)
				}
				byGit.release()
				asIs, _ := repo.CommittedAsIs()
				held, err := holdPaths(t.Context(), repo, committer, repo.Head(t.Context()), paths, seen, asIs)
				if err != nil {
					t.Fatalf("round %d, %q: %v", round, paths, err)
				}
				held.release()
				oid, after, err := PathsAs(t.Context(), repo, paths, fmt.Sprint("round ", round), As{Status: seen})
				if err != nil {
					t.Fatalf("round %d, %q: %v", round, paths, err)
				}
				made, err := madeBy(t.Context(), repo, oid)
				if err != nil {
					t.Fatal(err)
				}
				for id := range strings.FieldsSeq(
					r.Git("rev-list", "--objects", "--no-object-names", string(oid), "--not", string(oid)+"^@")) {
					if (!held.ids[object.OID(id)] || !byGit.ids[object.OID(id)]) && object.OID(id) != oid {
						t.Errorf("round %d, %q: %s was not held", round, paths, id)
					}
					if !made[object.OID(id)] {
						t.Errorf("round %d, %q: %s is of the commit and was not found", round, paths, id)
					}
				}
				if after != nil {
					is, err := gitstatus.Of(t.Context(), repo, repo.Prefix)
					if err != nil || !reflect.DeepEqual(after, is) {
						t.Errorf("round %d, %q: the work tree is %+v, %v, and %+v was worked out", round, paths, is, err, after)
					}
				}
				if held.tree != "" {
					if here++; after == nil {
						t.Errorf("round %d, %q: it was not worked out how the work tree is then", round, paths)
					}
					if is := r.Git("rev-parse", string(oid)+"^{tree}"); is != string(held.tree) {
						t.Errorf("round %d, %q: the tree is %s, and %s was worked out", round, paths, is, held.tree)
					}
				}
				if t.Failed() {
					return
				}
				if len(r.Git("status", "--porcelain")) > 2000 {
					r.Git("add", "-A")
					r.Git("commit", "-q", "-m", "the rest")
				}
			}
			r.Fsck()
			if want := o.Subdir == "" && runtime.GOOS == "linux"; (here > 0) != want {
				t.Errorf("%d of %d commits were worked out here", here, rounds)
			}
		})
	}
}

// scramble changes some files, stages some others if allowed, and returns paths to commit.
func scramble(t *testing.T, r *testrepo.Repo, rnd *rand.Rand, round int, stage bool) []string {
	t.Helper()
	names := []string{"a.txt", "d/e.txt", "d/deep/er/f.txt", "d/deep/g.txt", "d.x", "d-", "new/n.txt", "z", "b c.txt",
		"\u00e4.txt", "run.sh", "link"}
	remove := func(name string) {
		if err := os.RemoveAll(r.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, name := range names {
		switch rnd.IntN(6) {
		case 0:
			remove(name)
		case 1, 2:
			if fi, err := os.Lstat(r.Path(name)); err == nil && !fi.Mode().IsRegular() {
				remove(name)
			}
			r.Write(name, strings.Repeat(fmt.Sprintln("round", round, name), 1+rnd.IntN(20)))
			if name == "run.sh" {
				_ = os.Chmod(r.Path(name), 0o755)
			}
		case 3:
			if name == "link" {
				remove(name)
				if err := os.Symlink(fmt.Sprint("to", round), r.Path(name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if rnd.IntN(8) == 0 && stage {
			_, _ = r.TryGit("add", "-A", "--", name) // stays staged unless it is chosen
		}
	}
	// Paths that differ from HEAD can be committed.
	out, err := r.TryGit("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", ".")
	if err != nil {
		t.Fatal(err)
	}
	prefix, _ := filepath.Rel(r.Top, r.Dir)
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) < 4 || rnd.IntN(3) == 0 {
			continue
		}
		path := strings.TrimPrefix(entry[3:], filepath.ToSlash(prefix)+"/")
		_, missing := os.Lstat(r.Path(path))
		if missing != nil && entry[0] == 'D' || missing != nil && entry[0] == 'A' { // gone for git
			continue
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	if paths = slices.Compact(paths); len(paths) == 0 {
		r.Write("always.txt", fmt.Sprint(round))
		paths = []string{"always.txt"}
	}
	return paths
}

// TestMuchIsPackedByGit checks that contents too large for memory are packed all the same, with the trees that only
// the commit has.
func TestMuchIsPackedByGit(t *testing.T) {
	testrepo.Thorough(t)
	r := testrepo.New(t, testrepo.Options{})
	repo, err := git.Discover(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	r.Write("staged.txt", "of the person\n")
	r.Git("add", "staged.txt")
	r.Write("d/large", strings.Repeat("0123456789abcde\n", maxHeldHere/16+1))
	hooks, err := repo.HooksDir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	committer := repo.Git.WithHooks(hooks)
	held, err := holdPaths(t.Context(), repo, committer, repo.Head(t.Context()), []string{"d/large"}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(repo.ObjectsDir, "pack", "*"+git.KeepExt))
	if err != nil || len(packs) != 2 {
		t.Errorf("held are %q, %v; expected git's pack and one of trees", packs, err)
	}
	for id := range held.ids {
		if !repo.Objects().Has(t.Context(), id) {
			t.Errorf("%s is in no pack", id)
		}
	}
	held.release()
	if _, err := Paths(t.Context(), repo, []string{"d/large"}, "large"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(repo.ObjectsDir, "pack", "*"+git.KeepExt)); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	r.Fsck()
}
