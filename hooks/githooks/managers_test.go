package githooks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// manager is a program that manages git hooks, as people have it installed.
type manager struct {
	name    string
	prepare func(*world)    // its configuration: pre-commit writes "theirs" into a file of that name
	install func() []string // the command that installs its hooks
}

func managers() []manager {
	return []manager{
		{"husky", func(w *world) {
			w.write(filepath.Join(w.dir, ".husky/pre-commit"), "echo theirs >theirs\n", 0o644)
		}, func() []string { return []string{"husky"} }},
		{"lefthook", func(w *world) {
			w.write(filepath.Join(w.dir, "lefthook.yml"),
				"pre-commit:\n  jobs:\n    - run: echo theirs >theirs\n      glob: '*'\n", 0o644)
		}, func() []string { return []string{"lefthook", "install"} }},
		{"pre-commit", func(w *world) {
			w.t.Setenv("PRE_COMMIT_HOME", w.t.TempDir())
			w.write(filepath.Join(w.dir, ".pre-commit-config.yaml"),
				"repos:\n- repo: local\n  hooks:\n  - {id: t, name: t, language: system, entry: sh -c 'echo theirs >theirs', always_run: true, pass_filenames: false}\n",
				0o644)
			w.git("add", ".pre-commit-config.yaml") // it refuses to run with an unstaged configuration
		}, func() []string { return []string{"pre-commit", "install"} }},
	}
}

// manage runs the manager's own installation.
func (w *world) manage(m manager) {
	w.t.Helper()
	line := m.install()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
}

// bothRun commits and checks that the manager's hook and ours ran.
func (w *world) bothRun(when string) {
	w.t.Helper()
	_ = os.Remove(filepath.Join(w.dir, "theirs"))
	w.called()
	w.write(filepath.Join(w.dir, "file"), when+"\n", 0o644)
	w.git("add", "file")
	out := w.git("commit", "-q", "-m", when)
	if _, err := os.Stat(filepath.Join(w.dir, "theirs")); err != nil {
		w.t.Errorf("%s: the manager's hook did not run\n%s", when, out)
	}
	called := w.called()
	for _, name := range []string{PreCommit, CommitMsg, ReferenceTransaction} {
		if !strings.Contains(called, "hooks run "+name) {
			w.t.Errorf("%s: the guard %s did not run:\n%s", when, name, called)
		}
	}
	st, err := Check(context.Background(), w.repo)
	if err != nil || len(st.Silent()) > 0 {
		w.t.Errorf("%s: %v %+v", when, err, st)
	}
}

// TestManagers installs guards beside popular hook managers, in both orders, with the real programs. It skips a
// manager that is not on PATH, unless AGENTXCHAIN_TEST_MANAGERS requires all of them.
func TestManagers(t *testing.T) {
	testrepo.Serving(t)
	for _, m := range managers() {
		t.Run(m.name, func(t *testing.T) {
			if _, err := exec.LookPath(m.name); err != nil {
				if os.Getenv("AGENTXCHAIN_TEST_MANAGERS") != "" {
					t.Fatalf("%s is not on PATH", m.name)
				}
				t.Skipf("%s is not on PATH", m.name)
			}
			t.Run("first", func(t *testing.T) {
				w := newWorld(t, false)
				m.prepare(w)
				w.manage(m)
				w.write(filepath.Join(w.dir, "file"), "zero\n", 0o644)
				w.git("add", "file")
				w.git("commit", "-q", "-m", "zero") // its first run is then done
				before := w.hooksAndConfig()
				w.install()
				w.bothRun("after ours")
				w.manage(m) // as with every npm install, or when its configuration changed
				w.install()
				w.bothRun("after both once more")
				w.uninstall()
				if after := w.hooksAndConfig(); after != before {
					t.Errorf("before\n%s\nafter\n%s", before, after)
				}
			})
			t.Run("second", func(t *testing.T) {
				w := newWorld(t, false)
				before := w.hooksAndConfig()
				w.install()
				m.prepare(w)
				w.manage(m)
				if st, _ := Check(context.Background(), w.repo); len(st.Silent()) == 0 {
					w.bothRun("while nothing is silent")
				}
				w.install()
				w.bothRun("after ours")
				w.uninstall()
				w.called()
				_ = os.Remove(filepath.Join(w.dir, "theirs"))
				w.write(filepath.Join(w.dir, "file"), "last\n", 0o644)
				w.git("commit", "-q", "-a", "-m", "last")
				if _, err := os.Stat(filepath.Join(w.dir, "theirs")); err != nil {
					t.Error("the manager's hook is gone with ours")
				}
				if got := w.called(); got != "" {
					t.Errorf("still called: %s", got)
				}
				if strings.Contains(w.hooksAndConfig(), "agentxchain") {
					t.Errorf("left behind beside\n%s\n%s", before, w.hooksAndConfig())
				}
			})
		})
	}
}

func (w *world) uninstall() {
	w.t.Helper()
	if _, err := Uninstall(context.Background(), w.repo, ""); err != nil {
		w.t.Fatal(err)
	}
}

// hooksAndConfig returns every hook file with its content, and the configuration.
func (w *world) hooksAndConfig() string {
	var b strings.Builder
	for _, pattern := range []string{".git/hooks/*", ".husky/_/*", ".git/config", ".git/agentxchain/*"} {
		files, _ := filepath.Glob(filepath.Join(w.dir, pattern))
		for _, f := range files {
			if strings.HasSuffix(f, ".sample") {
				continue
			}
			data, _ := os.ReadFile(f)
			info, _ := os.Lstat(f)
			b.WriteString(strings.TrimPrefix(f, w.dir) + " " + info.Mode().String() + "\n" + string(data) + "\n")
		}
	}
	return b.String()
}
