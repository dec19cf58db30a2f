// A governed project in a real repository, for the doctor's tests.

package doctor

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// doctorRepo is the repository of a project under test.
type doctorRepo struct {
	t        *testing.T
	top, dir string // root of the work tree, project directory
}

func (p *doctorRepo) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.top
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (p *doctorRepo) Path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *doctorRepo) Write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.Path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.Path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *doctorRepo) Remove(name string) {
	p.t.Helper()
	if err := os.Remove(p.Path(name)); err != nil {
		p.t.Fatal(err)
	}
}

// doctorKind selects the kind of repository.
type doctorKind struct {
	format string // of objects; sha1 when ""
	sub    string // project directory below the root
	linked bool   // the project is in a linked work tree
	unborn bool   // no commit yet
}

// doctorProject makes a governed project in a repository of the given kind.
func doctorProject(t *testing.T, k doctorKind) (*runner.Runner, *doctorRepo) {
	t.Helper()
	for key, v := range map[string]string{
		"GIT_CONFIG_GLOBAL":   os.DevNull,
		"GIT_CONFIG_SYSTEM":   os.DevNull,
		"GIT_AUTHOR_NAME":     "Ada",
		"GIT_AUTHOR_EMAIL":    "ada@example.org",
		"GIT_COMMITTER_NAME":  "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.org",
		runner.TurnMarker:     "",
	} {
		t.Setenv(key, v)
	}
	p := &doctorRepo{t: t, top: t.TempDir()}
	p.git("init", "-q", "--initial-branch=main", "--object-format="+cmp.Or(k.format, "sha1"))
	if !k.unborn {
		p.git("commit", "-q", "--allow-empty", "-m", "first")
	}
	if k.linked {
		linked := filepath.Join(t.TempDir(), "linked")
		p.git("worktree", "add", "-q", "-b", "side", linked)
		p.top = linked
	}
	p.dir = filepath.Join(p.top, filepath.FromSlash(k.sub))
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := runner.InitProject(ctx, p.dir, runner.ProjectOptions{ID: "doc", Name: "Doc"}); err != nil {
		t.Fatal(err)
	}
	if !k.unborn {
		p.git("add", "-A", ".")
		p.git("commit", "-q", "-m", "governed")
	}
	r, err := runner.Open(ctx, p.dir, runner.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, p
}
