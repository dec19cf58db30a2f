// Shared helpers of the restore tests.

package restore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func testGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func withRunner(t *testing.T, dir string, f func(r *runner.Runner)) {
	t.Helper()
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	f(r)
}

func assign(t *testing.T, dir string) {
	t.Helper()
	withRunner(t, dir, func(r *runner.Runner) {
		if _, err := r.AssignTurn(t.Context(), runner.AssignOptions{Role: "pm"}); err != nil {
			t.Fatal(err)
		}
	})
}

// goOn accepts the active turn and assigns the next one.
func goOn(t *testing.T, dir string) {
	t.Helper()
	withRunner(t, dir, func(r *runner.Runner) {
		v, err := r.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		turn := v.State.OnlyTurn()
		if turn == nil {
			t.Fatal("no active turn")
		}
		doc, err := r.Template(t.Context(), turn.TurnID)
		if err != nil {
			t.Fatal(err)
		}
		doc = doc.Clone()
		doc.Set("decisions", []any{})
		doc.Set("summary", "done as asked")
		doc.Set("proposed_next_role", "human")
		doc.Set("files_changed", []any{})
		for _, o := range doc.Objects("objections") {
			o.Set("statement", "the scope is not settled yet")
		}
		write(t, dir, wire.StagingPath(turn.TurnID), string(ojson.Pretty(doc)))
		if _, err := r.AcceptTurn(t.Context(), runner.AcceptOptions{TurnID: turn.TurnID}); err != nil {
			t.Fatal(err)
		}
	})
	assign(t, dir)
}

// sound checks that the run passes fsck with replay and that nothing is left over.
func sound(t *testing.T, dir string) {
	t.Helper()
	s, err := gitstore.Open(t.Context(), dir, gitstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	report, err := s.Fsck(t.Context(), proof.Options{Run: "*", Replay: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		// A restored clone has an origin that was not asked.
		if !f.Note && f.Code != proof.FindUnfetched {
			t.Fatalf("%s: %+v", dir, report.Findings)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".agentxchain/transactions/restore-*/new"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/agentxchain/e3b0c44298fc/restore")); err == nil {
		t.Error("the journal is left over")
	}
}

// governedBytes returns the files that an artifact carries, by path.
func governedBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, root := range restoreRoots() {
		_ = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(root)),
			func(p string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					data, err := os.ReadFile(p)
					if err != nil {
						t.Fatal(err)
					}
					rel, _ := filepath.Rel(dir, p)
					out[filepath.ToSlash(rel)] = string(data)
				}
				return nil
			})
	}
	return out
}
