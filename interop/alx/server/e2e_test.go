package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// A solve over HTTP, followed over SSE through a disconnect and a kill -9 of the server while its
// agent is at work: the next server goes on, and every event arrives once and in order.
func TestFollowedThroughAKill(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{}, []string{"plan", "build", "ship"}, nil)
	gate := t.TempDir()
	open := func(phase string) {
		if err := os.WriteFile(filepath.Join(gate, phase), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := spawn(t, repo.Dir, "ALX_GATE="+gate)
	a := ask(t, "POST", first.url+alx.PathSolve,
		solveBody(t, "intent", "take good notes", "userId", "ann", "idempotencyKey", "k"), "Prefer", "respond-async",
		"X-Correlation-Id", "trace-42")
	got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || a.status != 202 || a.header.Get("Location") != alx.SessionPath(got.Execution.SessionID) {
		t.Fatalf("%d %v %v %s", a.status, err, a.header, a.raw)
	}
	run, id := got.ExecutionID, got.Execution.SessionID

	// Disconnect in the first turn, come back for the second.
	events, _ := follow(t, first.url, run, "", func(e *alx.RunEvent) bool { return e.Type == alx.TurnDispatched })
	open("plan")
	more, _ := follow(t, first.url, run, events[len(events)-1].ID, func(e *alx.RunEvent) bool {
		return e.Type == alx.PhaseEntered
	})
	events = append(events, more...)

	// Killed while the agent of the second turn is at work and a client follows.
	following := make(chan []alx.RunEvent)
	go func() {
		var all []alx.RunEvent
		part, _ := follow(t, first.url, run, events[len(events)-1].ID, nil)
		following <- append(all, part...)
	}()
	until(t, first.url, id, func(s *alx.SessionResponse) bool { return s.Progress > 0.3 })
	if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	events = append(events, <-following...)

	second := spawn(t, repo.Dir, "ALX_GATE="+gate)
	open("build")
	open("ship")
	more, ended := follow(t, second.url, run, events[len(events)-1].ID, nil)
	if events = append(events, more...); !ended {
		t.Fatalf("the stream did not end with the run: %+v\n%s", events, second.log)
	}
	inOrder(t, run, events)
	for _, e := range events {
		if e.CorrelationID != "trace-42" || e.SessionID != id {
			t.Errorf("%+v", e)
		}
	}

	// The same request is the same execution; everything about it is in git.
	a = ask(t, "POST", second.url+alx.PathSolve,
		solveBody(t, "intent", "take good notes", "userId", "ann", "idempotencyKey", "k"))
	got, err = alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || a.status != 200 || !got.Success || got.ExecutionID != run || got.Cached == nil || !*got.Cached ||
		got.Confidence != 1 || len(got.Steps) != 3 || got.Execution.Settlement.TotalMicroUSD != 750000 ||
		got.Artifact == nil || len(got.Artifact.Sources) != 3 {
		t.Fatalf("%v %s", err, a.raw)
	}
	branch := "agentxchain/solve/" + id
	for _, phase := range []string{"plan", "build", "ship"} {
		if n := strings.Count(repo.Git("show", branch+":notes/"+phase+".txt"), "turn_"); n != 1 {
			t.Errorf("phase %s was carried out %d times", phase, n)
		}
	}
	if goal := repo.Git("show", branch+":notes/goal.txt"); !strings.Contains(goal, "take good notes") {
		t.Errorf("the agents were told %q", goal)
	}
	if diff := repo.Git("diff", "--name-only", "main..."+branch); strings.Contains(diff, "agentxchain.json") {
		t.Errorf("merging would change %s", diff)
	}
	if out := repo.Git("status", "--porcelain"); out != "" {
		t.Errorf("the developer's work tree was touched: %s", out)
	}
	if s := until(t, second.url, id, func(s *alx.SessionResponse) bool {
		return s.Status == alx.StatusCompleted
	}); s.Progress != 1 || s.NextStep != "git merge "+branch+" # takes over what was done" {
		t.Errorf("%+v", s.Session)
	}
	repo.Fsck()

	// When asked to end, it ends properly.
	if err := second.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, second.log)
	}
}

// On a signal the server ends its agents, informs its followers, and leaves the run to the next
// server.
func TestEndsInOrder(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	repo := project(t, testrepo.Options{Subdir: "sub dir"}, []string{"build", "ship"}, nil)
	gate := t.TempDir()
	first := spawn(t, repo.Dir, "ALX_GATE="+gate)
	answered := make(chan *answer, 1)
	go func() {
		a, err := try("POST", first.url+alx.PathSolve, `{"intent":"x","sessionId":"mine"}`)
		if err != nil {
			t.Error(err)
		}
		answered <- a
	}()
	s := func() *alx.SessionResponse {
		for ; ; time.Sleep(time.Millisecond) {
			if a := ask(t, "GET", first.url+alx.SessionPath("mine"), ""); a.status == 200 {
				return until(t, first.url, "mine", func(s *alx.SessionResponse) bool { return len(s.Timeline) >= 2 })
			}
		}
	}()
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := first.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, first.log)
	}
	if a := <-answered; a == nil || a.status != 202 || a.body.Bool("success") || !a.body.Bool("ok") {
		t.Errorf("%+v", a)
	}
	for _, phase := range []string{"build", "ship"} {
		if err := os.WriteFile(filepath.Join(gate, phase), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := spawn(t, repo.Dir, "ALX_GATE="+gate)
	events, ended := follow(t, second.url, s.ExecutionID, "", nil)
	if !ended {
		t.Fatalf("%+v\n%s\n%s\n%s", events, ask(t, "GET", second.url+alx.SessionPath("mine"), "").raw, first.log,
			second.log)
	}
	inOrder(t, s.ExecutionID, events)
}
