package gitcommit

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// TestPlainAsksGit checks that git is asked where attributes, settings or other changes may affect a commit of
// files, and that a predicted tree is what git commits unless afterCommit denies it.
func TestPlainAsksGit(t *testing.T) {
	testrepo.Thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("git is always asked elsewhere")
	}
	for name, c := range map[string]struct {
		set   func(t *testing.T, r *testrepo.Repo)
		paths []string // "d/a.txt" by default
		plain bool
	}{
		"nothing":  {plain: true},
		"unset":    {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "core.autocrlf", "no") }, plain: true},
		"autocrlf": {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "core.autocrlf", "true") }},
		"input":    {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "core.autocrlf", "input") }},
		"a key alone": {set: func(t *testing.T, r *testrepo.Repo) {
			appendTo(t, r.Path(".git/config"), "[core]\n\tautocrlf\n")
		}},
		"modes": {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "core.fileMode", "false") }},
		"links": {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "core.symlinks", "false") }},
		"attributes elsewhere": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Git("config", "core.attributesFile", "/none")
		}},
		"attributes of a tree": {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("config", "attr.tree", "HEAD") }},
		"attributes of the repository": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write(".git/info/attributes", "*.txt eol=crlf\n")
		}},
		"attributes of the person": {set: func(t *testing.T, _ *testrepo.Repo) {
			home := t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", home)
			if err := os.MkdirAll(filepath.Join(home, "git"), 0o700); err != nil {
				t.Fatal(err)
			}
			appendTo(t, filepath.Join(home, "git", "attributes"), "*.txt eol=crlf\n")
		}},
		"attributes above": {set: func(_ *testing.T, r *testrepo.Repo) { r.Write(".gitattributes", "*.txt text\n") }},
		"attributes beside": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("d/.gitattributes", "*.txt text\n")
		}},
		"attributes in another directory": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("e/.gitattributes", "*.txt text\n")
		}, plain: true},
		"attributes in the commit alone": {set: func(t *testing.T, r *testrepo.Repo) {
			r.Write("d/.gitattributes", "*.txt text\n")
			r.Git("add", "d/.gitattributes")
			r.Git("commit", "-q", "-m", "attributes")
			if err := os.Remove(r.Path("d/.gitattributes")); err != nil {
				t.Fatal(err)
			}
		}},
		"attributes committed": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("d/.gitattributes", "*.txt text\n")
		}, paths: []string{"d/.gitattributes"}},
		"something staged": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("staged", "of a person\n")
			r.Git("add", "staged")
		}},
		"something that differs": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("beside", "of a person\n")
		}, plain: true},
		"a file where a directory was": {set: func(t *testing.T, r *testrepo.Repo) {
			r.Write("was/in", "a directory\n")
			r.Git("add", "was")
			r.Git("commit", "-q", "-m", "directory")
			if err := os.RemoveAll(r.Path("was")); err != nil {
				t.Fatal(err)
			}
			r.Write("was", "a file\n")
		}, paths: []string{"was"}},
		"a directory where a file was": {set: func(t *testing.T, r *testrepo.Repo) {
			r.Write("was", "a file\n")
			r.Git("add", "was")
			r.Git("commit", "-q", "-m", "file")
			if err := os.Remove(r.Path("was")); err != nil {
				t.Fatal(err)
			}
			r.Write("was/in", "a directory\n")
		}, paths: []string{"was/in"}},
		"much": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("much", strings.Repeat("0123456789abcde\n", maxHeldHere/16+1))
		}, paths: []string{"much"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t, testrepo.Options{})
			r.Git("config", "maintenance.auto", "false")
			r.Write("d/a.txt", "with an end\r\n")
			if c.set != nil {
				c.set(t, r)
			}
			if c.paths == nil {
				c.paths = []string{"d/a.txt"}
			}
			repo, err := git.Discover(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = repo.Close() }()
			seen, err := gitstatus.Of(t.Context(), repo, repo.Prefix)
			if err != nil {
				t.Fatal(err)
			}
			hooks, err := repo.HooksDir(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			committer := repo.Git.WithHooks(hooks)
			asIs, _ := repo.CommittedAsIs()
			held, err := holdPaths(t.Context(), repo, committer, repo.Head(t.Context()), c.paths, seen, asIs)
			if err != nil {
				t.Fatal(err)
			}
			held.release()
			if (held.tree != "") != c.plain {
				t.Errorf("the tree that was worked out is %q", held.tree)
			}
			oid, _, err := PathsAs(t.Context(), repo, c.paths, "checkpoint", As{Status: seen})
			if err != nil {
				t.Fatal(err)
			}
			if is := r.Git("rev-parse", string(oid)+"^{tree}"); c.plain && is != string(held.tree) {
				t.Errorf("the tree is %s, and %s was worked out", is, held.tree)
			}
			r.Fsck()
		})
	}
}

// TestAfterCommitIsTheWorkTree checks that the derived status of the work tree after a commit equals git's, and
// that there is none where anything but the commit may have changed it.
func TestAfterCommitIsTheWorkTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("git is always asked elsewhere")
	}
	for name, c := range map[string]struct {
		set   func(t *testing.T, r *testrepo.Repo)
		git   string // shell commands that git runs before it commits
		later string // and those it runs after
		known bool
	}{
		"nothing":  {known: true},
		"detached": {set: func(_ *testing.T, r *testrepo.Repo) { r.Git("checkout", "-q", "--detach") }, known: true},
		"other files": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write("beside", "of a person\n")
			r.Write("a.txt", "changed\n")
		}, known: true},
		"a hook": {set: func(t *testing.T, r *testrepo.Repo) { hook(t, r.Path(".git/hooks/post-commit")) }},
		"a hook of the configuration": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Git("config", "hook.x.event", "post-commit")
			r.Git("config", "hook.x.command", "echo hook >>d/a.txt")
		}},
		"hooks elsewhere": {set: func(t *testing.T, r *testrepo.Repo) {
			dir := t.TempDir()
			hook(t, filepath.Join(dir, "post-commit"))
			r.Git("config", "core.hooksPath", dir)
		}},
		"a program that signs": {set: func(t *testing.T, r *testrepo.Repo) {
			r.Git("config", "commit.gpgSign", "yes")
			r.Git("config", "gpg.format", "ssh")
		}},
		"attributes": {set: func(_ *testing.T, r *testrepo.Repo) {
			r.Write(".gitattributes", "*.txt eol=crlf\n")
		}},
		"the file changes before git reads it": {git: "echo more >>d/a.txt"},
		"the file goes before git reads it":    {git: "rm d/a.txt; echo else >d/a.txt"},
		"the branch changes before":            {git: "git symbolic-ref HEAD refs/heads/else; git update-ref HEAD main"},
		"the branch changes then":              {later: "git checkout -q -b else"},
		"a commit then":                        {later: "git commit -q --allow-empty -m more"},
		"a commit before":                      {git: "git commit -q --allow-empty -m more"},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrepo.New(t, testrepo.Options{})
			r.Git("config", "maintenance.auto", "false")
			r.Write("d/a.txt", "text\n")
			if c.set != nil {
				c.set(t, r)
			}
			repo, err := git.Discover(t.Context(), r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = repo.Close() }()
			seen, err := gitstatus.Of(t.Context(), repo, repo.Prefix)
			if err != nil {
				t.Fatal(err)
			}
			if c.git != "" || c.later != "" {
				script := filepath.Join(t.TempDir(), "git")
				lines := "#!/bin/sh\nif test \"$1\" != commit; then exec " + repo.Git.Bin + " \"$@\"; fi\n" +
					"cat >" + script + ".in\n" + c.git + "\n" +
					repo.Git.Bin + " \"$@\" <" + script + ".in || exit\n" + c.later + "\n"
				if err := os.WriteFile(script, []byte(lines), 0o700); err != nil {
					t.Fatal(err)
				}
				repo.Git.Bin = script
			}
			_, after, err := PathsAs(t.Context(), repo, []string{"d/a.txt"}, "checkpoint", As{Status: seen})
			if err != nil && name != "a program that signs" {
				t.Fatal(err)
			}
			if (after != nil) != c.known {
				t.Fatalf("it is said to be %+v", after)
			}
			if !c.known {
				return
			}
			is, err := gitstatus.Of(t.Context(), repo, repo.Prefix)
			if err != nil || !reflect.DeepEqual(after, is) {
				t.Errorf("the work tree is %+v, %v, and %+v was worked out", is, err, after)
			}
		})
	}
}

func hook(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho hook >>d/a.txt\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}
