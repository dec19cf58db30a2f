// Tests of starting an initiative.

package initiative

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestPlanStart(t *testing.T) {
	w := world(t, goodConfig)
	for _, c := range []struct {
		name   string
		change func(a *actors)
		want   string // problems | optional | linked or started
	}{
		{"all live", func(*actors) {}, "||web+ api+ docs+"},
		{"idle", func(a *actors) { a.states["api"].Status, a.states["api"].RunID = wire.StatusIdle, nil },
			"||web+ api docs+"},
		{"paused without a run", func(a *actors) {
			a.states["api"].Status, a.states["api"].RunID = wire.StatusPaused,
				nil
		}, "||web+ api docs+"},
		{"blocked without a run", func(a *actors) {
			a.states["api"].Status, a.states["api"].RunID = wire.StatusBlocked,
				nil
		}, "||web+ api docs+"},
		{"paused", func(a *actors) { a.states["api"].Status = wire.StatusPaused }, "repo_init_failed||web+ docs+"},
		{"blocked", func(a *actors) { a.states["api"].Status = wire.StatusBlocked }, "repo_blocked||web+ docs+"},
		{"complete", func(a *actors) { a.states["api"].Status = wire.StatusCompleted }, "repo_completed||web+ docs+"},
		{"unreadable", func(a *actors) { a.hidden["api"] = true }, "repo_not_governed||web+ docs+"},
		{"clones of one project", func(a *actors) { a.states["api"].RunID = a.states["web"].RunID },
			"repo_run_shared||web+ docs+"},
		{"clones, one not required", func(a *actors) { a.states["docs"].RunID = a.states["web"].RunID },
			"|repo_run_shared|web+ api+"},
		{"not required", func(a *actors) { a.hidden["docs"] = true }, "|repo_not_governed|web+ api+"},
	} {
		a := newActors(t, w)
		c.change(a)
		steps, problems, optional := PlanStart(w.Config, a.read())
		var got []string
		for _, list := range []wire.Problems{problems, optional} {
			var codes []string
			for _, p := range list {
				codes = append(codes, p.Code)
			}
			got = append(got, strings.Join(codes, " "))
		}
		var repos []string
		for _, s := range steps {
			if s.Link {
				s.Repo += "+"
			}
			repos = append(repos, s.Repo)
		}
		if s := strings.Join(append(got, strings.Join(repos, " ")), "|"); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
