// Kills at every step of a decision over several clones: of the coordinator, and of each of its gits.

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const childConfig = `{"schema_version":"1.0","project":{"id":"demo","name":"Demo","default_branch":"main"},
"roles":{"qa":{"title":"QA","mandate":"Review.","write_authority":"review_only","runtime":"m"}},
"runtimes":{"m":{"type":"manual"}},"routing":{"review":{"entry_role":"qa","allowed_next_roles":["qa","human"]}},"gates":{},"hooks":{}}
`

// operate runs one operation in the repository at dir.
func operate(ctx context.Context, dir string, publish decision.Publish, seed string,
	op func(*gitstore.View) protocol.Operation) error {
	s, err := gitstore.OpenForeign(ctx, dir,
		gitstore.Options{Publish: publish, Actor: &evidence.Actor{Name: "Ada", Email: "ada@example.org"}})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	tx, err := s.Begin(ctx, "test", 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Close() }()
	o, e := op(tx.View()), at(seed)
	tr, refusal := protocol.Apply(tx.View().Snapshot(), o, e)
	if refusal != nil {
		return refusal
	}
	_, err = tx.Commit(ctx, gitstore.Change{Record: protocol.NewRecord(o, e), Transition: tr})
	return err
}

func startRun(v *gitstore.View) protocol.Operation {
	return &protocol.InitRun{Prior: evidence.NewBlob(v.StateBytes)}
}

func giveTurn(*gitstore.View) protocol.Operation {
	return &protocol.AssignTurn{Role: "qa", Baseline: &run.Baseline{
		Kind:       "git_worktree",
		Clean:      true,
		CapturedAt: "2026-01-02T03:04:05.000Z",
	}}
}

var childTemplate = sync.OnceValues(func() (string, error) {
	testrepo.Isolate()
	dir, err := os.MkdirTemp("", "coordinator-child-")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("git", "init", "-q", "--initial-branch=main", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	cfg, _, err := config.Decode([]byte(childConfig))
	if err != nil {
		return "", err
	}
	s, err := gitstore.OpenAt(context.Background(), dir, gitstore.Options{})
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	if err := s.WriteNew([]gitstore.NewFile{
		{Path: wire.ConfigPath, Data: []byte(childConfig)},
		{Path: string(wire.DocState), Data: run.FreshState(cfg, "").Encode()},
		{Path: wire.LedgerHistory.Path()},
		{Path: wire.LedgerDecisions.Path()},
		{Path: wire.LedgerTalk.Path(), Data: []byte("# Talk\n")},
	}); err != nil {
		return "", err
	}
	return dir, operate(context.Background(), dir, nil, "init", startRun)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := childTemplate(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// clones makes a workspace whose repositories are real clones with a run each.
func clones(t testing.TB) string {
	t.Helper()
	from, err := childTemplate()
	if err != nil {
		t.Fatal(err)
	}
	dir := workspaceDir(t)
	for _, repo := range []string{"web", "api", "docs"} {
		if err := os.CopyFS(filepath.Join(dir, "repos", repo), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// decideAll decides to assign a turn in every repository and to block the initiative.
func decideAll(dir string) (*Decided, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	tx, err := s.lock(context.Background(), "test", 5*time.Second, false)
	if err != nil {
		return nil, err
	}
	defer tx.close()
	var parts []Participant
	for _, repo := range []string{"web", "api", "docs"} {
		path, _ := tx.Docs.Roots.Path(repo)
		parts = append(parts, Participant{
			Repo: repo,
			Ops:  []string{"assign_turn"},
			Act: func(ctx context.Context, publish decision.Publish) error {
				return operate(ctx, path, publish, "assign-"+repo, giveTurn)
			},
		})
	}
	return tx.decide(context.Background(), initiative.Block(&tx.Docs.Workspace, "decided", at("block")), parts)
}

// where returns which of the runs have moved, and whether the initiative's own files have, judging by refs and
// files alone.
func where(t testing.TB, dir string) (moved []string, blocked bool) {
	t.Helper()
	for _, repo := range []string{"web", "api", "docs"} {
		out, err := exec.Command("git", "-C", filepath.Join(dir, "repos", repo), "for-each-ref", "--format=%(subject)",
			"refs/agentxchain/runs").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "run") { // the subject of init_run
			moved = append(moved, repo)
		}
	}
	return moved, strings.Contains(contents(t, dir, initiative.StatePath), `"status": "blocked"`)
}

// settledAll fails unless all have moved or none, nothing is left over, and the repositories and the workspace can
// continue.
func settledAll(t testing.TB, dir string) (moved bool) {
	t.Helper()
	repos, blocked := where(t, dir)
	if len(repos) != 0 && len(repos) != 3 || blocked != (len(repos) == 3) {
		t.Fatalf("moved %v, initiative moved: %v", repos, blocked)
	}
	for _, repo := range []string{"web", "api", "docs"} {
		at := filepath.Join(dir, "repos", repo)
		if locks, _ := filepath.Glob(filepath.Join(at, ".git/refs/agentxchain/runs/*.lock")); len(locks) > 0 {
			t.Fatalf("left locked: %v", locks)
		}
		s, err := gitstore.OpenForeign(context.Background(), at, gitstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tx, err := s.Begin(context.Background(), "check", 5*time.Second)
		if err != nil {
			t.Fatalf("%s: %+v", repo, err)
		}
		if n := tx.View().State.ActiveTurns.Len(); (n == 1) != (len(repos) == 3) {
			t.Fatalf("%s has %d active turns", repo, n)
		}
		if err := errors.Join(tx.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		// A note without a record is dropped by the next command there.
		if _, err := os.Lstat(filepath.Join(at, ".git/agentxchain/decisions")); err == nil {
			t.Fatalf("a note is left in %s", repo)
		}
	}
	for _, name := range []string{decision.DecisionFile, pendingPath} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Fatalf("%s is left", name)
		}
	}
	return blocked
}

func TestDecideMovesAll(t *testing.T) {
	dir := clones(t)
	decided, err := decideAll(dir)
	if err != nil || len(decided.Moved) != 3 || len(decided.Late) != 0 {
		t.Fatalf("%+v %+v", decided, err)
	}
	if !settledAll(t, dir) {
		t.Fatal("nothing moved")
	}
}

func TestDecideUndoesWhenOneRefuses(t *testing.T) {
	dir := clones(t)
	// A turn is active already, so no other can be assigned there.
	if err := operate(context.Background(), filepath.Join(dir, "repos", "api"), nil, "x", giveTurn); err != nil {
		t.Fatal(err)
	}
	_, err := decideAll(dir)
	if code(err) != decision.CodeDecisionUndone || !strings.Contains(err.Error(), "repository api") {
		t.Fatal(err)
	}
	if moved, blocked := where(t, dir); len(moved) != 1 || moved[0] != "api" || blocked {
		t.Fatal(moved, blocked)
	}
}

func TestDecideUndoesWhenOneRefIsLocked(t *testing.T) {
	testrepo.Thorough(t)
	dir := clones(t)
	refs, err := filepath.Glob(filepath.Join(dir, "repos/docs/.git/refs/agentxchain/runs/*"))
	if err != nil || len(refs) != 1 {
		t.Fatal(refs, err)
	}
	old := time.Now().Add(-time.Minute)
	if err := errors.Join(os.WriteFile(refs[0]+".lock", nil, 0o666),
		os.Chtimes(refs[0]+".lock", old, old)); err != nil {
		t.Fatal(err)
	}
	_, err = decideAll(dir)
	if code(err) != decision.CodeDecisionUndone {
		t.Fatal(err)
	}
	// The lock is not ours. It stays, and nothing else changes.
	if _, err := os.Lstat(refs[0] + ".lock"); err != nil {
		t.Fatal("a foreign lock was removed")
	}
	if moved, blocked := where(t, dir); len(moved) != 0 || blocked {
		t.Fatal(moved, blocked)
	}
	if err := os.Remove(refs[0] + ".lock"); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	tx, err := s.lock(context.Background(), "next", time.Second, false)
	if err != nil {
		t.Fatal(err)
	}
	tx.close()
	settledAll(t, dir)
}

// Environment of the process that decides and is killed.
const (
	envDecide  = "AGENTXCHAIN_TEST_DECIDE"   // workspace
	envKillGit = "AGENTXCHAIN_TEST_KILL_GIT" // step:participant
)

// TestDecideHelper is that process.
func TestDecideHelper(t *testing.T) {
	dir := os.Getenv(envDecide)
	if dir == "" {
		t.Skip("only as a process of its own")
	}
	if step, n, ok := strings.Cut(os.Getenv(envKillGit), ":"); ok {
		index, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		afterStep = func(name string, pending []*decision.Pending) {
			if name != step {
				return
			}
			pid := pending[index].Owner().PID
			p, err := os.FindProcess(pid)
			if err == nil {
				err = p.Kill()
			}
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		}
	}
	if _, err := decideAll(dir); err != nil {
		t.Log(err)
		os.Exit(3)
	}
	os.Exit(0)
}

func decideProcess(t testing.TB, dir string, env ...string) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDecideHelper$", "-test.v")
	cmd.Env = append(append(os.Environ(), envDecide+"="+dir), env...)
	out, err := cmd.CombinedOutput()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	if ee != nil && ee.ExitCode() != 3 && ee.ExitCode() != -1 {
		t.Fatalf("%v\n%s", err, out)
	}
	return ee != nil && ee.ExitCode() == -1
}

// TestDecisionKilled kills the deciding process at every fault point, one of its gits at every step, and both.
func TestDecisionKilled(t *testing.T) {
	testrepo.Serving(t)
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("kills are by process number")
	}
	type kill struct{ point, git, next string }
	var cases []kill
	points := []string{"decision.gathered", "decision.started", "coordinator.change.files", "decision.noted",
		"decision.written", "decision.prepared:1", "decision.prepared:2", "decision.prepared:3", "decision.made",
		"decision.moving:1", "decision.moving:2", "decision.moving:3", "decision.moved", "decision.settled",
		"coordinator.change.begun", "coordinator.change.step:1", "coordinator.change.step:2", "decision.files"}
	gits := []string{"decision.started", "decision.noted", "decision.written", "decision.prepared", "decision.made",
		"decision.moved"}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	for i, p := range points {
		if long {
			cases = append(cases, kill{p, "", "workspace"}, kill{p, "", "api"})
		} else {
			cases = append(cases, kill{p, "", []string{"workspace", "api"}[i%2]})
		}
	}
	for i, g := range gits {
		for n := range 3 {
			if long || n == i%3 {
				git := fmt.Sprintf("%s:%d", g, n)
				cases = append(cases, kill{"", git, "workspace"})
				for j, p := range points[5:15] {
					if long || j == (i*2)%10 {
						cases = append(cases, kill{p, git, []string{"workspace", "web"}[j%2]})
					}
				}
			}
		}
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s git %s then %s", c.point, c.git, c.next), func(t *testing.T) {
			t.Parallel()
			dir := clones(t)
			killed := decideProcess(t, dir, faults.Env+"="+c.point, envKillGit+"="+c.git)
			if c.point != "" && c.git == "" && !killed {
				t.Fatal("the point is not passed")
			}
			if c.next != "workspace" {
				// The next command is one in a repository.
				s, err := gitstore.OpenForeign(context.Background(), filepath.Join(dir, "repos", c.next),
					gitstore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tx, err := s.Begin(context.Background(), "next", 5*time.Second)
				if err != nil {
					t.Fatalf("%+v", err)
				}
				if err := errors.Join(tx.Close(), s.Close()); err != nil {
					t.Fatal(err)
				}
				if moved, _ := where(t, dir); len(moved) != 0 && len(moved) != 3 {
					t.Fatalf("after a command in %s: moved %v", c.next, moved)
				}
			}
			if killed || c.next != "workspace" {
				s := open(t, dir)
				tx, err := s.lock(context.Background(), "next", 5*time.Second, false)
				if err != nil {
					t.Fatalf("%+v", err)
				}
				tx.close()
			}
			if settledAll(t, dir) {
				return
			}
			// What was undone can be decided again.
			if _, err := decideAll(dir); err != nil {
				t.Fatalf("%+v", err)
			}
			if !settledAll(t, dir) {
				t.Fatal("the second time nothing moved")
			}
		})
	}
}

// TestDecisionKilledByAnotherClock has a killed git's lock on a file system whose clock is an hour behind.
func TestDecisionKilledByAnotherClock(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("kills are by process number")
	}
	dir := clones(t)
	if !decideProcess(t, dir, faults.Env+"=decision.prepared:3", envKillGit+"=decision.prepared:0") {
		t.Fatal("the point is not passed")
	}
	locks := 0
	err := filepath.WalkDir(filepath.Join(dir, "repos"), func(name string, e os.DirEntry, err error) error {
		lock := strings.HasSuffix(name, ".lock")
		if err == nil && (e.IsDir() || !lock && filepath.Base(filepath.Dir(name)) != "decisions") {
			return nil
		}
		at := time.Now().Add(-time.Hour)
		if err == nil {
			err = os.Chtimes(name, at, at)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the two surviving gits remove their own locks meanwhile
		}
		if lock && err == nil {
			locks++
		}
		return err
	})
	if err != nil || locks == 0 {
		t.Fatalf("%d locks are left, %v", locks, err)
	}
	s := open(t, dir)
	tx, err := s.lock(context.Background(), "next", 5*time.Second, false)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	tx.close()
	settledAll(t, dir)
	if _, err := decideAll(dir); err != nil {
		t.Fatalf("%+v", err)
	}
}
