package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Killed again and again at any moment, with several runs under way: every run is completed in the
// end, no turn is carried out twice, no event is lost or repeated.
func TestKilledAtAnyMoment(t *testing.T) {
	testrepo.Serving(t)
	t.Parallel()
	sessions, kills := 3, 3
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		sessions, kills = 12, 60
	}
	repo := project(t, testrepo.Options{}, []string{"build", "ship"}, nil)
	c := spawn(t, repo.Dir)
	runs := make([]string, sessions)
	for i := range sessions {
		a := ask(t, "POST", c.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", fmt.Sprintf("s%d", i)),
			"Prefer", "respond-async")
		if runs[i] = a.body.String("executionId"); runs[i] == "" {
			t.Fatalf("%s", a.raw)
		}
	}
	known := make([][]alx.RunEvent, sessions)
	for range kills {
		time.Sleep(time.Duration(rand.IntN(250)) * time.Millisecond)
		for i, run := range runs { // what was sent once must stay true
			a, err := try("GET", c.url+alx.RunEventsPath(run), "")
			if err != nil || a.status != 200 {
				t.Fatalf("%v %+v", err, a)
			}
			p, err := alx.Decoder{Strict: true}.RunEventPage(a.raw)
			if err != nil || len(p.Events) < len(known[i]) {
				t.Fatalf("%v %s", err, a.raw)
			}
			for n, e := range known[i] {
				if p.Events[n].ID != e.ID || p.Events[n].Type != e.Type {
					t.Fatalf("event %d of %s was %+v and is %+v", n, run, e, p.Events[n])
				}
			}
			known[i] = p.Events
		}
		c.kill()
		c = spawn(t, repo.Dir)
	}
	for i, run := range runs {
		events, ended := follow(t, c.url, run, "", nil)
		if !ended {
			t.Fatalf("run %s did not end: %+v\n%s\n%s", run, events, ask(t, "GET", c.url+alx.SessionPath(run), "").raw,
				c.log)
		}
		if events[0].Type == alx.RunFailed {
			t.Fatalf("run %s: %s", run, ojson.Compact(events[0].Data))
		}
		inOrder(t, run, events)
		accepted := 0
		for _, e := range events {
			if e.Type == alx.TurnAccepted {
				accepted++
			}
		}
		id := fmt.Sprintf("s%d", i)
		until(t, c.url, id, func(s *alx.SessionResponse) bool { return s.NextStep != "" })
		if diff := repo.Git("diff", "--name-only", "main...agentxchain/solve/"+id); accepted != 2 ||
			diff != "notes/build.txt\nnotes/goal.txt\nnotes/ship.txt" {
			t.Errorf("run %s: %d turns accepted, %q", run, accepted, diff)
		}
	}
	repo.Fsck()
}
