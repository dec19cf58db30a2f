package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
)

// A session named like an existing directory or branch takes neither: both stay as they are, and
// the client is told.
func TestWhatIsSomebodysStays(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	work := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("directory/file")
	write("file")
	write("repository/.git/config")
	write("pretender/file")
	write("other/file")
	if err := os.WriteFile(filepath.Join(work, "pretender", ".git"), []byte("gitdir: "+work+"/repository/.git\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("directory", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	repo.Git("worktree", "add", "-q", "-b", "mine", filepath.Join(work, "worktree"))
	write("worktree/unsaved")
	if err := os.Mkdir(filepath.Join(work, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	v := start(t, repo.Dir, func(o *server.Options) { o.Workspaces = work })
	for _, id := range []string{"directory", "file", "repository", "pretender", "link", "worktree"} {
		a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", id))
		got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
		if err != nil || a.status != 422 || got.Error == nil || got.Error.Code != alx.CodeRunFailed ||
			!strings.Contains(got.Error.Message, id) {
			t.Errorf("%s: %v %d %s", id, err, a.status, a.raw)
			continue
		}
		events, ended := follow(t, v.url, got.ExecutionID, "", nil)
		if !ended || len(events) != 1 || events[0].Type != alx.RunFailed || events[0].OK == nil || *events[0].OK {
			t.Errorf("%s: %+v", id, events)
		}
	}
	for _, name := range []string{"directory/file", "file", "repository/.git/config", "pretender/file", "other/file",
		"worktree/unsaved"} {
		if data, err := os.ReadFile(filepath.Join(work, name)); err != nil || string(data) != "precious" {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(work, "link")); err != nil {
		t.Error(err)
	}
	if a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", "empty")); a.status != 400 ||
		a.code() != alx.CodeInvalidRequest || !strings.Contains(string(a.raw), `"success":false`) {
		t.Errorf("an empty directory: %d %s", a.status, a.raw)
	}

	repo.Git("branch", "agentxchain/solve/branch", "HEAD")
	if a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", "branch")); a.status != 400 ||
		a.code() != alx.CodeInvalidRequest {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if repo.Git("rev-parse", "agentxchain/solve/branch") != repo.Git("rev-parse", "HEAD") {
		t.Error("the existing branch has moved")
	}
	repo.Fsck()
}
