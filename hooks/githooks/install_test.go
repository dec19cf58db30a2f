package githooks

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// world is a repository with a stand-in for git-agentxchain that records its calls, and fails when a file tells it
// to.
type world struct {
	t    *testing.T
	dir  string
	bin  string
	log  string
	repo *git.Repository
}

func newWorld(t *testing.T, bare bool) *world {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, k := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		t.Setenv(k+"_NAME", "Tester")
		t.Setenv(k+"_EMAIL", "tester@example.com")
	}
	home := t.TempDir()
	w := &world{
		t:   t,
		dir: filepath.Join(home, "a repo's place"),
		bin: filepath.Join(home, "it's here", "git-agentxchain"),
		log: filepath.Join(home, "log"),
	}
	w.write(w.bin, "#!/bin/sh\nprintf '%s\\n' \"$*\" >>'"+w.log+
		"'\ncase $3 in pre-push|reference-transaction|pre-receive) sed 's/^/in: /' >>'"+w.log+
		"';; esac\n[ ! -e '"+w.log+".no' ]\n", 0o755)
	args := []string{"init", "-q", "-b", "main", w.dir}
	if bare {
		args = append(args, "--bare")
	}
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.repo, err = git.DiscoverBare(context.Background(), w.dir); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string, mode fs.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (w *world) install() *Result {
	w.t.Helper()
	r, err := Install(context.Background(), w.repo, Options{Binary: w.bin})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// called returns the stand-in's calls since the last time.
func (w *world) called() string {
	data, _ := os.ReadFile(w.log)
	_ = os.Remove(w.log)
	return string(data)
}

// snapshot returns every file of the git directory that hooks may touch, and the work tree, with modes.
func (w *world) snapshot() string {
	var b strings.Builder
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, path)
		if err != nil || strings.HasPrefix(rel, ".git/objects") || strings.HasPrefix(rel, ".git/logs") ||
			strings.HasPrefix(rel, ".git/refs") || strings.HasSuffix(rel, ".sample") || rel == ".git/packed-refs" ||
			rel == ".git/index" || rel == ".git/COMMIT_EDITMSG" {
			return nil
		}
		info, _ := d.Info()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %s\n", rel, to)
		case d.IsDir():
			fmt.Fprintf(&b, "%s/ %v\n", rel, info.Mode())
		default:
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %v %s\n", rel, info.Mode(), wire.SHA256(data))
		}
		return nil
	})
	return b.String()
}

func configHooks(t *testing.T, w *world) bool {
	v, err := w.repo.Git.Version(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v.AtLeast(2, 54)
}

func TestInstallIsUndoneToTheByte(t *testing.T) {
	testrepo.Serving(t)
	hook := "#!/bin/sh\n# an older hook\necho theirs >>\"$PWD/theirs\"\n"
	for name, prepare := range map[string]func(*world){
		"nothing there":   func(*world) {},
		"no hooks folder": func(w *world) { _ = os.RemoveAll(filepath.Join(w.dir, ".git/hooks")) },
		"a hook there":    func(w *world) { w.write(filepath.Join(w.dir, ".git/hooks/pre-commit"), hook, 0o755) },
		"a hook that is off": func(w *world) {
			w.write(filepath.Join(w.dir, ".git/hooks/pre-commit"), hook, 0o644)
		},
		"a linked hook": func(w *world) {
			w.write(filepath.Join(w.dir, "tools/check"), hook, 0o755)
			_ = os.Symlink("../../tools/check", filepath.Join(w.dir, ".git/hooks/pre-commit"))
		},
		"core.hooksPath relative": func(w *world) {
			w.write(filepath.Join(w.dir, ".husky/_/pre-commit"), hook, 0o755)
			w.git("config", "core.hooksPath", ".husky/_")
		},
		"core.hooksPath of the person": func(w *world) {
			global := filepath.Join(w.t.TempDir(), "gitconfig")
			w.write(filepath.Join(filepath.Dir(global), "hooks/pre-commit"), hook, 0o755)
			w.write(global, "[core]\n\thooksPath = "+filepath.Join(filepath.Dir(global), "hooks")+"\n", 0o644)
			w.t.Setenv("GIT_CONFIG_GLOBAL", global)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, false)
			prepare(w)
			w.open()
			before := w.snapshot()
			if w.install().Changes == nil {
				t.Fatal("nothing was done")
			}
			installed := w.snapshot()
			if r := w.install(); r.Changes != nil || w.snapshot() != installed {
				t.Fatalf("a second installation changed %v", r.Changes)
			}
			st, err := Check(context.Background(), w.repo)
			if err != nil || len(st.Guards) != 5 || len(st.Silent()) != 0 {
				t.Fatalf("%v %+v", err, st)
			}

			w.write(filepath.Join(w.dir, "file"), "x\n", 0o644)
			w.git("add", "file")
			w.called()
			w.git("commit", "-q", "-m", "one")
			got := w.called()
			for _, want := range []string{"hooks run pre-commit\n",
				"hooks run prepare-commit-msg .git/COMMIT_EDITMSG message\n",
				"hooks run commit-msg .git/COMMIT_EDITMSG\n", "hooks run reference-transaction prepared\n",
				" refs/heads/main\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("git commit did not lead to %q:\n%s", want, got)
				}
			}
			ran, _ := os.ReadFile(filepath.Join(w.dir, "theirs"))
			if want := strings.Contains(name, "hook there") || strings.Contains(name, "linked") ||
				strings.Contains(name, "hooksPath"); want != (string(ran) == "theirs\n") {
				t.Errorf("the hook that was there wrote %q", ran)
			}
			_ = os.Remove(filepath.Join(w.dir, "theirs"))
			w.git("update-ref", "refs/other/x", "HEAD")
			w.git("tag", "v1")
			if got := w.called(); got != "" {
				t.Errorf("refs that are not governed started %s", got)
			}

			// --no-verify does not skip the hard stop.
			w.write(w.log+".no", "", 0o644)
			if out, err := w.try("commit", "-q", "--no-verify", "--allow-empty", "-m", "two"); err == nil {
				t.Errorf("git commit --no-verify went through:\n%s", out)
			}
			_ = os.Remove(w.log + ".no")

			// A guard whose program is gone says so, and how to restore it.
			gone := w.bin + ".gone"
			_ = os.Rename(w.bin, gone)
			if out, err := w.try("commit", "-q", "--allow-empty", "-m", "three"); err == nil ||
				!strings.Contains(out, "git-agentxchain hooks install") {
				t.Errorf("without the program: %v\n%s", err, out)
			}
			st, _ = Check(context.Background(), w.repo)
			if len(st.Silent()) != 5 {
				t.Errorf("without the program: %+v", st)
			}
			_ = os.Rename(gone, w.bin)

			w.git("update-ref", "-d", "refs/other/x")
			w.git("tag", "-d", "v1")
			w.git("update-ref", "-d", "refs/heads/main")
			_ = os.Remove(filepath.Join(w.dir, "file"))
			w.git("rm", "-q", "--cached", "file")
			_ = os.Remove(filepath.Join(w.dir, "theirs"))
			if _, err := Uninstall(context.Background(), w.repo, ""); err != nil {
				t.Fatal(err)
			}
			if after := w.snapshot(); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
			if r, err := Uninstall(context.Background(), w.repo, ""); err != nil || r.Changes != nil {
				t.Errorf("a second time: %v %v", r, err)
			}
		})
	}
}

func TestUninstallKeepsWhatWasSetSince(t *testing.T) {
	w := newWorld(t, false)
	w.git("config", "core.hooksPath", ".githooks")
	w.install()
	w.git("config", "user.nickname", "kept")
	w.install() // once more: settings made in between are not part of the installation
	if _, err := Uninstall(context.Background(), w.repo, ""); err != nil {
		t.Fatal(err)
	}
	if got := w.git("config",
		"user.nickname") + w.git("config", "--local", "core.hooksPath"); got != "kept\n.githooks\n" {
		t.Errorf("the configuration says %q", got)
	}
	if out, err := w.try("config", "--get-regexp", `^(hook|merge|diff)\.`); err == nil {
		t.Errorf("left behind: %s", out)
	}
}

func TestUnknownTextIsNeverOverwritten(t *testing.T) {
	w := newWorld(t, false)
	w.install()
	rec, err := loadRecord(w.repo.CommonDir)
	if err != nil || rec.Way == WayRedirect {
		t.Fatal(rec, err)
	}
	path := filepath.Join(rec.Dir, PreCommit)
	text, _ := os.ReadFile(path)
	edited := string(text) + "echo mine\n"
	w.write(path, edited, 0o755)
	if rec.Way == WayDirectory {
		// Lines at its beginning too, where the manual of git-lfs puts its own: such a script is not another's hook.
		for _, text := range []string{"#!/bin/sh\necho mine\n" + strings.TrimPrefix(string(text), "#!/bin/sh\n"), edited} {
			w.write(path, text, 0o755)
			if _, err := Install(context.Background(), w.repo, Options{Binary: w.bin}); err == nil {
				t.Error("an edited script was written over")
			}
		}
	}
	if _, err := Uninstall(context.Background(), w.repo, ""); err == nil {
		t.Error("an edited script was removed")
	}
	if got, _ := os.ReadFile(path); string(got) != edited {
		t.Errorf("the edited script is now\n%s", got)
	}
	st, err := Check(context.Background(), w.repo)
	if err != nil || len(st.Silent()) != 1 || st.Silent()[0].Name != PreCommit {
		t.Errorf("%+v %v", st, err)
	}
}

func TestAHookPutOverOursIsChained(t *testing.T) {
	w := newWorld(t, false)
	if configHooks(t, w) {
		t.Skip("nothing is put over hooks of the configuration")
	}
	w.install()
	path := filepath.Join(w.dir, ".git/hooks/pre-commit")
	w.write(path, "#!/bin/sh\ntouch manager\n", 0o755)
	st, _ := Check(context.Background(), w.repo)
	if len(st.Silent()) != 1 {
		t.Fatalf("%+v", st)
	}
	if r := w.install(); r.Chained[PreCommit] == "" {
		t.Fatalf("%+v", r)
	}
	w.called()
	w.git("commit", "-q", "--allow-empty", "-m", "one")
	if _, err := os.Stat(filepath.Join(w.dir, "manager")); err != nil ||
		!strings.Contains(w.called(), "hooks run pre-commit") {
		t.Error("one of the two did not run")
	}
}

func TestServerHook(t *testing.T) {
	w := newWorld(t, true)
	if _, err := Install(context.Background(), w.repo, Options{Binary: w.bin, Server: true}); err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(filepath.Dir(w.dir), "clone")
	if out, err := exec.Command("git", "clone", "-q", w.dir, clone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.dir = clone
	w.git("commit", "-q", "--allow-empty", "-m", "one")
	w.called()
	w.git("push", "-q", "origin", "HEAD:main")
	if got := w.called(); !strings.Contains(got, "hooks run pre-receive\nin: 0000") {
		t.Errorf("a push led to %q", got)
	}
	w.write(w.log+".no", "", 0o644)
	if out, err := w.try("push", "-q", "origin", "HEAD:other"); err == nil {
		t.Errorf("a refused push went through:\n%s", out)
	}
}

func TestScriptText(t *testing.T) {
	s := script{Name: PrePush, Binary: "/it's/$HOME/`x`", Next: "/a b"}
	text := s.text()
	if !ours([]byte(text)) || !looksLikeOurs([]byte(text)) || ours([]byte(text+"\n")) || ours([]byte("#!/bin/sh\n")) {
		t.Error("a script is not known again")
	}
	if got := (script{Name: PrePush}).parse([]byte(text)); got != s {
		t.Errorf("got %+v", got)
	}
	for _, name := range append(Names(), "post-commit") {
		cmd := exec.Command("sh", "-n")
		s := script{Name: name, Next: "/x"}
		if KnownName(name) {
			s.Binary = "/y"
		}
		cmd.Stdin = strings.NewReader(s.text())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, out, s.text())
		}
	}
}
