package git

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestLookUpOrdinary checks that ordinary repositories are found without a git process, as git finds them.
func TestLookUpOrdinary(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, r *testrepo.Repo) {
		if strings.Contains(t.Name(), "reftable") {
			if _, ok := lookUp(r.Dir, os.Environ()); ok {
				t.Error("a reftable repository is git's to judge")
			}
			return
		}
		for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "d")} {
			if ok := asGit(t, "ordinary", dir); !ok {
				t.Errorf("git was asked about %s", dir)
			}
		}
	})
}

// asGit compares lookUp with git, and reports whether lookUp answered.
func asGit(t *testing.T, what, dir string) bool {
	t.Helper()
	env := os.Environ()
	ans, ok := lookUp(dir, env)
	if !ok {
		return false
	}
	want, err := Ask(t.Context(), newGit(dir, env))
	if err != nil {
		t.Errorf("%s in %s: expected what git says, %v; got %q", what, dir, err, ans)
		return true
	}
	got, err := newRepository(newGit(dir, env), ans)
	if err != nil {
		t.Errorf("%s in %s: %v", what, dir, err)
		return true
	}
	show := func(r *Repository) string {
		return fmt.Sprintf("%q", []string{r.TopLevel, r.ProjectDir, r.Prefix, r.GitDir, r.CommonDir, r.ObjectsDir,
			r.ObjectFormat, r.RefFormat})
	}
	if show(got) != show(want) {
		t.Errorf("%s in %s:\nexpected %s\ngot      %s", what, dir, show(want), show(got))
	}
	return true
}

// TestLookUpOdd checks that with any change to a repository, and any two of them, either git is asked or the answer
// equals git's.
func TestLookUpOdd(t *testing.T) {
	testrepo.Thorough(t)
	set := func(key, value string) func(*testrepo.Repo) {
		return func(r *testrepo.Repo) { _, _ = r.TryGit("config", key, value) }
	}
	write := func(name, text string) func(*testrepo.Repo) {
		return func(r *testrepo.Repo) {
			at := filepath.Join(place(r), name)
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			_ = os.WriteFile(at, []byte(text), 0o644)
		}
	}
	add := func(name, text string) func(*testrepo.Repo) {
		return func(r *testrepo.Repo) {
			old, _ := os.ReadFile(filepath.Join(place(r), name))
			write(name, string(old)+text)(r)
		}
	}
	remove := func(name string) func(*testrepo.Repo) {
		return func(r *testrepo.Repo) { _ = os.RemoveAll(filepath.Join(place(r), name)) }
	}
	odd := map[string]func(*testrepo.Repo){
		"nothing":               func(*testrepo.Repo) {},
		"bare":                  set("core.bare", "true"),
		"bare, without a value": add("config", "[core]\n\tbare\n"),
		"not bare, in words":    set("core.bare", "no"),
		"a work tree elsewhere": set("core.worktree", "/"),
		"a work tree here":      set("core.worktree", ".."),
		"version 1":             set("core.repositoryformatversion", "1"),
		"version 2":             set("core.repositoryformatversion", "2"),
		"version in hex":        set("core.repositoryformatversion", "0x1"),
		"no version": func(r *testrepo.Repo) {
			_, _ = r.TryGit("config", "--unset", "core.repositoryformatversion")
		},
		"sha256 in version 0": func(r *testrepo.Repo) { set("extensions.objectformat", "sha256")(r) },
		"unknown format":      set("extensions.objectFormat", "md5"),
		"unknown extension":   set("extensions.future", "true"),
		"noop":                set("extensions.noop", "true"),
		"worktree config": func(r *testrepo.Repo) {
			set("extensions.worktreeConfig", "true")(r)
			write("config.worktree", "[core]\n\tbare = true\n")(r)
		},
		"partial clone": set("extensions.partialClone", "origin"),
		"an include": func(r *testrepo.Repo) {
			set("include.path", "more")(r)
			write("more", "[core]\n\tworktree = /tmp\n")(r)
		},
		"a conditional include": func(r *testrepo.Repo) {
			set("includeIf.gitdir:/.path", "more")(r)
			write("more", "[core]\n\tbare = true\n")(r)
		},
		"broken config":      add("config", "[core\n"),
		"config in capitals": add("config", "[CORE]\n\tBARE = true\n"),
		"old dotted section": add("config", "[core.bare]\n\tx = true\n[extensions.objectFormat]\n\tx = 1\n"),
		"no config":          remove("config"),
		"empty config":       write("config", ""),
		"byte order mark": func(r *testrepo.Repo) {
			old, _ := os.ReadFile(filepath.Join(place(r), "config"))
			write("config", "\ufeff"+string(old))(r)
		},
		"no HEAD":           remove("HEAD"),
		"empty HEAD":        write("HEAD", ""),
		"HEAD of words":     write("HEAD", "main\n"),
		"HEAD beside refs":  write("HEAD", "ref: heads/main\n"),
		"HEAD, more spaces": write("HEAD", "ref:    refs/heads/main\n"),
		"HEAD of two lines": write("HEAD", "ref: refs/heads/main\nmore\n"),
		"HEAD, short":       write("HEAD", "0123456789abcdef\n"),
		"HEAD, detached":    func(r *testrepo.Repo) { _, _ = r.TryGit("checkout", "-q", "--detach") },
		"HEAD is a link": func(r *testrepo.Repo) {
			remove("HEAD")(r)
			_ = os.Symlink("refs/heads/main", filepath.Join(place(r), "HEAD"))
		},
		"no refs":       remove("refs"),
		"no objects":    remove("objects"),
		"refs a file":   func(r *testrepo.Repo) { remove("refs")(r); write("refs", "")(r) },
		"a commondir":   write("commondir", "../elsewhere\n"),
		"own commondir": write("commondir", ".\n"),
		".git is a link": func(r *testrepo.Repo) {
			if os.Rename(filepath.Join(r.Dir, ".git"), filepath.Join(r.Dir, "moved")) == nil {
				_ = os.Symlink("moved", filepath.Join(r.Dir, ".git"))
			}
		},
		".git is a file": func(r *testrepo.Repo) {
			if os.Rename(filepath.Join(r.Dir, ".git"), filepath.Join(r.Dir, "moved")) == nil {
				_ = os.WriteFile(filepath.Join(r.Dir, ".git"), []byte("gitdir: moved\n"), 0o644)
			}
		},
		".git names nothing": func(r *testrepo.Repo) {
			if os.Rename(filepath.Join(r.Dir, ".git"), filepath.Join(r.Dir, "moved")) == nil {
				_ = os.WriteFile(filepath.Join(r.Dir, ".git"), []byte("gitdir: gone\n"), 0o644)
			}
		},
		".git is empty": func(r *testrepo.Repo) {
			if os.Rename(filepath.Join(r.Dir, ".git"), filepath.Join(r.Dir, "moved")) == nil {
				_ = os.Mkdir(filepath.Join(r.Dir, ".git"), 0o755)
			}
		},
		"a repository within": func(r *testrepo.Repo) { _, _ = r.TryGit("init", "-q", "d") },
		"a HEAD file below":   func(r *testrepo.Repo) { r.Write("d/HEAD", "ref: refs/heads/main\n") },
		"a bare one below": func(r *testrepo.Repo) {
			_, _ = r.TryGit("init", "-q", "--bare", "bare.git")
			_ = os.CopyFS(filepath.Join(r.Dir, "d"), os.DirFS(filepath.Join(r.Dir, "bare.git")))
		},
		"of another user":        func(r *testrepo.Repo) { _ = os.Lchown(filepath.Join(r.Dir, ".git"), 4321, -1) },
		"in another's directory": func(r *testrepo.Repo) { _ = os.Lchown(r.Dir, 4321, -1) },
	}
	names := slices.Sorted(maps.Keys(odd))
	looked, said := 0, 0
	try := func(o testrepo.Options, what string, does ...func(*testrepo.Repo)) {
		r := testrepo.New(t, o)
		for _, do := range does {
			do(r)
		}
		for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "d"), filepath.Join(r.Dir, ".git"),
			filepath.Join(r.Dir, ".git", "refs"), filepath.Dir(r.Dir)} {
			if !IsDir(dir) {
				continue
			}
			looked++
			if asGit(t, what, dir) {
				said++
			}
		}
	}
	kinds := []testrepo.Options{{ObjectFormat: "sha1"}, {ObjectFormat: "sha256"}, {
		ObjectFormat:   "sha1",
		LinkedWorktree: true,
	}}
	// By default, each oddity is combined with one other.
	for i, name := range names {
		for k, kind := range kinds {
			if !testrepo.All(t.Name()) && k != i%len(kinds) {
				continue
			}
			try(kind, kind.Name()+", "+name, odd[name])
		}
	}
	pairs := 1
	if testrepo.All(t.Name()) {
		pairs = 12
	}
	for i, a := range names {
		for k := range pairs {
			b := names[(i*7+k*11+3)%len(names)]
			try(testrepo.Options{ObjectFormat: "sha1"}, a+" and "+b, odd[a], odd[b])
		}
	}
	if said < 30 || said == looked {
		t.Errorf("of %d questions %d were answered here: expected ordinary and odd ones", looked, said)
	}
	t.Logf("%d questions, %d answered without git", looked, said)
}

// place returns the git directory that a test changes.
func place(r *testrepo.Repo) string {
	dir, err := r.TryGit("rev-parse", "--absolute-git-dir")
	if err != nil {
		return filepath.Join(r.Dir, ".git")
	}
	return dir
}

// TestLookUpEnvironment checks that a variable that says where the repository is leaves the question to git.
func TestLookUpEnvironment(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	plain := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_AUTHOR_NAME=A", "GIT_TRACE=0"}
	if _, ok := lookUp(r.Dir, plain); !ok {
		t.Error("an ordinary environment: expected an answer")
	}
	for _, v := range []string{"GIT_DIR=x", "GIT_WORK_TREE=x", "GIT_COMMON_DIR=x", "GIT_OBJECT_DIRECTORY=x",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM=1", "GIT_CONFIG_PARAMETERS='core.bare=true'", "GIT_CONFIG_COUNT=1",
		"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"} {
		if _, ok := lookUp(r.Dir, append(slices.Clip(plain), v)); ok {
			t.Errorf("%s: expected the question to be git's", v)
		}
	}
}

// TestLookUpCeilings checks that a repository in the starting directory is found whatever the ceilings; for one
// further up, git is asked.
func TestLookUpCeilings(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	below := filepath.Join(r.Dir, "d")
	link := filepath.Join(t.TempDir(), "link")
	for _, err := range []error{os.MkdirAll(below, 0o755), os.Symlink(r.Dir, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, ceilings := range []string{
		"", "/", r.Dir, filepath.Dir(r.Dir), below, link, "x", ":" + r.Dir, ":" + link + ":/", "/nothing/here",
	} {
		t.Setenv("GIT_CEILING_DIRECTORIES", ceilings)
		for _, dir := range []string{r.Dir, link} {
			if !asGit(t, "ceilings "+ceilings, dir) {
				t.Errorf("ceilings %q: git was asked about %s", ceilings, dir)
			}
		}
		if asGit(t, "ceilings "+ceilings, below) {
			t.Errorf("ceilings %q: expected the question of %s to be git's", ceilings, below)
		}
	}
}
