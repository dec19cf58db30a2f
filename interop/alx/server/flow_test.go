package server_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/server"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

// A gate that needs a person stops the session; the server never approves. Once a person has
// approved, it goes on by itself.
func TestGateWaitsForAPerson(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"build", "ship"}, func(cfg *ojson.Object) {
		cfg.Object("gates").Set("build_done", ojson.NewObject("requires_human_approval", true))
	})
	v := start(t, repo.Dir, nil)
	a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x","sessionId":"s"}`)
	got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || a.status != 202 || got.Success || got.Execution.Status != alx.StatusPaused ||
		!strings.Contains(got.Reason, "git agentxchain approve") &&
			!strings.Contains(got.Reason, " agentxchain approve") {
		t.Fatalf("%v %s", err, a.raw)
	}
	s := until(t, v.url, "s", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusPaused })
	dir, ok := strings.CutPrefix(s.NextStep, "git -C ")
	if dir, _, _ = strings.Cut(dir, " "); !ok || s.Timeline[len(s.Timeline)-1].Type != alx.SessionWaiting {
		t.Fatalf("%+v", s)
	}
	approve(t, filepath.Join(repo.Top, dir))
	s = until(t, v.url, "s", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusCompleted })
	var resumed bool
	for _, e := range s.Timeline {
		resumed = resumed || e.Type == alx.SessionResumed
	}
	events, ended := follow(t, v.url, s.ExecutionID, "", nil)
	if !resumed || !ended {
		t.Errorf("%+v", s)
	}
	inOrder(t, s.ExecutionID, events)
}

// approve acts as a person who lets a run pass its gate.
func approve(t *testing.T, dir string) {
	t.Helper()
	person, err := runner.Open(context.Background(), dir, runner.Options{Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = person.Close() }()
	if _, err := person.ApprovePhaseGate(context.Background(), runner.GateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// An agent that fails blocks its run, not the server; lifting the block lets it go on.
func TestBlockedRun(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, func(cfg *ojson.Object) {
		cfg.Object("runtimes").Object("sh").Set("command", []string{"sh", "-c", "test -e mended && exec sh agent.sh"})
	})
	v := start(t, repo.Dir, nil)
	a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x","sessionId":"s"}`)
	got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || a.status != 409 || got.OK || got.Success || got.Error.Code != alx.CodeRunBlocked ||
		got.Execution.Status != alx.StatusBlocked || got.Artifact != nil {
		t.Fatalf("%v %d %s", err, a.status, a.raw)
	}
	more := got.Error.Details.String("explain")
	s := until(t, v.url, "s", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusBlocked })
	if !strings.Contains(s.NextStep, "agentxchain reissue") && !strings.Contains(s.NextStep, "agentxchain unblock") {
		t.Errorf("%+v", s.Session)
	}
	dir := workspace(repo, "s")
	if err := os.WriteFile(filepath.Join(dir, "mended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "mended"}, {"commit", "-q", "-m", "mended"}} {
		repo.Git(append([]string{"-C", dir}, args...)...)
	}
	person, err := runner.Open(context.Background(), dir, runner.Options{Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = person.Close() }()
	st, err := person.LoadState(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	head := strings.TrimSpace(repo.Git("-C", dir, "rev-parse", "HEAD"))
	turn := st.State.ActiveTurns.Keys()[0]
	e, err := lookback.Explain(context.Background(), person, "", turn)
	in, ok := strings.CutSuffix(strings.TrimPrefix(more, "git -C "), " agentxchain explain "+turn)
	if err != nil || len(e.Chains) == 0 || !ok || filepath.Join(repo.Top, in) != dir {
		t.Errorf("%q leads to %v %v", more, e, err)
	}
	if _, err := person.ReissueTurn(context.Background(), runner.ReissueOptions{
		TurnID:      turn,
		Reason:      "mended",
		TakeCommits: true,
		Head:        object.OID(head),
	}); err != nil {
		t.Fatal(err)
	}
	until(t, v.url, "s", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusCompleted })
}

// Runs that people drive are sessions too, but the server does not drive them.
func TestRunsOfPeople(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	beside := repo.Path("beside")
	if err := os.Mkdir(beside, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.InitProject(context.Background(), beside, runner.ProjectOptions{}); err != nil {
		t.Fatal(err)
	}
	repo.CommitAll("another project")
	assign := func(dir string) (*runner.Runner, *runner.Assigned) {
		person, err := runner.Open(context.Background(), dir, runner.Options{Trust: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = person.Close() })
		out, err := person.AssignTurn(context.Background(), runner.AssignOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return person, out
	}
	_, other := assign(beside)
	person, out := assign(repo.Dir)
	v := start(t, repo.Dir, nil)
	if a := ask(t, "GET", v.url+alx.PathSessions+"/"+other.Run, ""); a.status != 404 {
		t.Errorf("the run of another project of the repository: %d %s", a.status, a.raw)
	}
	s := until(t, v.url, out.Run, func(*alx.SessionResponse) bool { return true })
	if s.Intent != "The project's own goal" || s.Status != alx.StatusActive || len(s.Timeline) < 2 {
		t.Errorf("%+v", s)
	}
	a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x"}`)
	if a.status != 200 || !a.body.Bool("success") {
		t.Errorf("%s", a.raw)
	}
	st, err := person.LoadState(context.Background())
	if err != nil || st.Op != out.Op {
		t.Errorf("the person's run moved: %v %v", st, err)
	}
	if _, err := person.Escalate(context.Background(), protocol.Escalate{Reason: "look at it"}); err != nil {
		t.Fatal(err)
	}
	until(t, v.url, out.Run, func(s *alx.SessionResponse) bool { return s.Status == alx.StatusBlocked })
}

// A removed work tree is restored; the work tree of a finished run is removed after its time, and
// only when git has everything in it.
func TestWorkTrees(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"build", "ship"}, func(cfg *ojson.Object) {
		cfg.Object("gates").Set("build_done", ojson.NewObject("requires_human_approval", true))
	})
	v := start(t, repo.Dir, nil)
	ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x","sessionId":"s"}`)
	until(t, v.url, "s", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusPaused })
	dir := workspace(repo, "s")
	v.stop()
	approve(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	v = start(t, repo.Dir, nil)
	s := until(t, v.url, "s", func(s *alx.SessionResponse) bool {
		return s.NextStep != "" && s.Status == alx.StatusCompleted
	})
	v.stop()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("not committed"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	soon := func(o *server.Options) { o.Keep, o.Log = time.Millisecond, slog.New(slog.NewTextHandler(log, nil)) }
	v = start(t, repo.Dir, soon)
	ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x","sessionId":"t"}`)
	approve(t, workspace(repo, "t"))
	limit := time.Now().Add(20 * time.Second)
	for workspace(repo, "t") != "" && time.Now().Before(limit) {
		time.Sleep(20 * time.Millisecond)
	}
	if workspace(repo, "t") != "" || workspace(repo, "s") == "" {
		t.Errorf("work trees: %q %q\n%s", workspace(repo, "s"), workspace(repo, "t"), log)
	}
	until(t, v.url, "t", func(s *alx.SessionResponse) bool { return s.Status == alx.StatusCompleted })
	if out := repo.Git("show", "agentxchain/solve/t:notes/ship.txt"); !strings.HasPrefix(out, "turn_") {
		t.Errorf("%s", out)
	}
	if logs, _ := filepath.Glob(filepath.Join(repo.Main, ".git", "agentxchain", "serve", "*", "logs", "t",
		"audit", "*")); len(logs) != 2 {
		t.Errorf("what agents said is gone: %v", logs)
	}
	if out := repo.Git("worktree", "list"); strings.Contains(out, "/t ") || !strings.Contains(out, s.SessionID) {
		t.Errorf("%s", out)
	}
}

// Every kind of repository; a long intent with constraints reaches the agent in full.
func TestKindsOfRepositories(t *testing.T) {
	t.Parallel()
	testrepo.Matrix(t, func(t *testing.T, base *testrepo.Repo) {
		if o := base.Options; os.Getenv("AGENTXCHAIN_LONG_TESTS") == "" &&
			o.LinkedWorktree == (o.ObjectFormat == "sha256") {
			t.Skip("half of the kinds are for AGENTXCHAIN_LONG_TESTS=1")
		}
		repo := project(t, base.Options, []string{"ship"}, nil)
		v := start(t, repo.Dir, nil)
		long := strings.Repeat("make it so, ", 60) + "the end"
		a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", long, "sessionId", "s",
			"constraints", []string{"no new dependencies", "keep it small"}))
		got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
		if err != nil || !got.Success || got.Artifact.Intent != long {
			t.Fatalf("%v %s", err, a.raw)
		}
		full := repo.Git("show", "agentxchain/solve/s:./.planning/intents/s.md")
		goal := repo.Git("show", "agentxchain/solve/s:./notes/goal.txt")
		if !strings.Contains(full, long) || !strings.Contains(full, "- keep it small") ||
			!strings.Contains(goal, ".planning/intents/s.md") {
			t.Errorf("%s\n%s", full, goal)
		}
		repo.Fsck()
	})
}

// Hooks are told the request for which they run.
func TestCorrelationReachesHooks(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, func(cfg *ojson.Object) {
		cfg.Set("hooks", ojson.NewObject("before_assignment", []any{ojson.NewObject("name", "note", "type", "process",
			"timeout_ms", 5000, "mode", "advisory",
			"command", []string{"sh", "-c",
				`cat >"$(git rev-parse --git-common-dir)/told"; echo '{"verdict":"allow"}'`})}))
	})
	v := start(t, repo.Dir, nil)
	if a := ask(t, "POST", v.url+alx.PathSolve, `{"intent":"x"}`, "X-Correlation-Id", "trace-7"); a.status != 200 {
		t.Fatalf("%s", a.raw)
	}
	told, err := os.ReadFile(filepath.Join(repo.Main, ".git", "told"))
	if err != nil || !strings.Contains(string(told), `"correlation_id":"trace-7"`) {
		t.Errorf("%v %s", err, told)
	}
}

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}
func (l *logged) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.text.String() }

// One server at a time; an agent cannot start one.
func TestOneServer(t *testing.T) {
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"ship"}, nil)
	start(t, repo.Dir, nil)
	if _, err := server.New(context.Background(), repo.Dir, options(nil)); runner.ErrorCode(err) != "locked" {
		t.Errorf("%v", err)
	}
	_, err := server.New(context.Background(), repo.Dir, options(func(o *server.Options) {
		o.Runner.Getenv = func(k string) string { return map[string]string{runner.TurnMarker: "turn_1"}[k] }
	}))
	if runner.ErrorCode(err) != wire.CodeInsideTurn {
		t.Errorf("%v", err)
	}
}
