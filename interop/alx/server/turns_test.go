// run_loop.max_turns bounds a run, not a server of it.

package server_test

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

func TestARestartGivesNoTurnsBack(t *testing.T) {
	repo := project(t, testrepo.Options{}, []string{"plan", "build", "ship"}, func(cfg *ojson.Object) {
		cfg.Set("run_loop", ojson.NewObject("max_turns", 2))
	})
	v := start(t, repo.Dir, nil)
	a := ask(t, "POST", v.url+alx.PathSolve, solveBody(t, "intent", "x", "sessionId", "one"))
	got, err := alx.Decoder{Strict: true}.SolveResponse(a.raw)
	if err != nil || got.Success || len(got.Steps) != 2 {
		t.Fatalf("%v %d %s", err, a.status, a.raw)
	}
	stopped := func(s *alx.SessionResponse) bool {
		return s.Status == alx.StatusBlocked && strings.Contains(s.NextStep, "run_loop.max_turns")
	}
	until(t, v.url, "one", stopped)
	for range 2 {
		v.stop()
		v = start(t, repo.Dir, nil)
		s := until(t, v.url, "one", stopped)
		accepted := 0
		for _, e := range s.Timeline {
			if strings.HasPrefix(e.Summary, "dev: ") {
				accepted++
			}
		}
		if accepted != 2 {
			t.Errorf("%d turns are accepted after a restart: %+v", accepted, s)
		}
	}
}
