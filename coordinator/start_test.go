// Tests of starting an initiative.

package coordinator

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
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
		{"idle", func(a *actors) { a.states["api"].Status, a.states["api"].RunID = wire.StatusIdle, nil }, "||web+ api docs+"},
		{"paused without a run", func(a *actors) { a.states["api"].Status, a.states["api"].RunID = wire.StatusPaused, nil }, "||web+ api docs+"},
		{"blocked without a run", func(a *actors) { a.states["api"].Status, a.states["api"].RunID = wire.StatusBlocked, nil }, "||web+ api docs+"},
		{"paused", func(a *actors) { a.states["api"].Status = wire.StatusPaused }, "repo_init_failed||web+ docs+"},
		{"blocked", func(a *actors) { a.states["api"].Status = wire.StatusBlocked }, "repo_blocked||web+ docs+"},
		{"complete", func(a *actors) { a.states["api"].Status = wire.StatusCompleted }, "repo_completed||web+ docs+"},
		{"unreadable", func(a *actors) { a.hidden["api"] = true }, "repo_not_governed||web+ docs+"},
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

func TestStartOnDisk(t *testing.T) {
	dir := workspaceDir(t)
	os.RemoveAll(filepath.Join(dir, ".agentxchain"))
	s := open(t, dir)
	if _, err := s.Read(); code(err) != CodeNoCoordinator {
		t.Fatal(err)
	}
	begin := func() (*Change, error) {
		_, c, err := s.Begin(context.Background(), time.Second, func(d *Documents) (*Change, *wire.Error) {
			return Start(d.Config, d.State, d.NextDecision, []StartedRun{{"api", "run_1", "design", true}, {"web", "run_2", "design", false}}, at("s"))
		})
		return c, err
	}
	if _, err := begin(); err != nil {
		t.Fatal(err)
	}
	d, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^srun_1767323045678_[0-9a-f]{8}$`).MatchString(d.State.SuperRunID) || d.State.Phase != "design" || d.Barriers.Get("launch_completion") == nil {
		t.Errorf("%+v", d.State)
	}
	want := `{"schema_version":"0.1","super_run_id":"` + d.State.SuperRunID + `","project_id":"shop","status":"active","phase":"design","repo_runs":{"api":{"run_id":"run_1","status":"initialized","phase":"design","initialized_by_coordinator":true},"web":{"run_id":"run_2","status":"linked","phase":"design","initialized_by_coordinator":false}},"pending_gate":null,"phase_gate_status":{},"created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:04:05.678Z"}`
	if got := string(ojson.Compact(d.State.object())); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	if got := contents(t, dir, HistoryPath); !strings.HasSuffix(got, `"timestamp":"2026-01-02T03:04:05.678Z"}`+"\n") {
		t.Error(got)
	}
	if got := contents(t, dir, DecisionsPath); !strings.Contains(got, `"id":"DEC-COORD-001"`) || !strings.Contains(got, `"category":"initialization"`) {
		t.Error(got)
	}
	// A live initiative is not replaced, a complete one is followed by the next,
	// and what the first accepted says nothing about the second.
	if _, err := begin(); code(err) != wire.CodeRunExists {
		t.Error(err)
	}
	if _, err := project(s, handedIn("web", "polish", "t1"), "s"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, StatePath, strings.Replace(contents(t, dir, StatePath), `"active"`, `"completed"`, 1))
	_, _, err = s.Begin(context.Background(), time.Second, func(d *Documents) (*Change, *wire.Error) {
		return Start(d.Config, d.State, d.NextDecision, nil, at("other"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = s.Read(); err != nil || len(d.History.Accepted("polish")) != 0 || d.NextDecision != 3 || d.Barriers.Get("polish_completion").Status != Pending {
		t.Errorf("%v %+v", err, d)
	}
}
