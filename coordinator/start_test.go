// Tests of starting an initiative on disk.

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
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestStartOnDisk(t *testing.T) {
	dir := workspaceDir(t)
	os.RemoveAll(filepath.Join(dir, ".agentxchain"))
	s := open(t, dir)
	if _, err := s.Read(); code(err) != initiative.CodeNoCoordinator {
		t.Fatal(err)
	}
	begin := func(seed string, runs ...initiative.StartedRun) error {
		tx, err := s.lock(context.Background(), "start", time.Second, true)
		if err != nil {
			return err
		}
		defer tx.close()
		c, e := initiative.Start(tx.Docs.Config, tx.Docs.State, tx.Docs.NextDecision, runs, at(seed))
		if e != nil {
			return e
		}
		return tx.commit(c)
	}
	runs := []initiative.StartedRun{
		{Repo: "api", RunID: "run_1", Phase: "design", Initialized: true},
		{Repo: "web", RunID: "run_2", Phase: "design", Initialized: false},
	}
	if err := begin("s", runs...); err != nil {
		t.Fatal(err)
	}
	d, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^srun_1767323045678_[0-9a-f]{8}$`).MatchString(d.State.SuperRunID) ||
		d.State.Phase != "design" || d.Barriers.Get("launch_completion") == nil {
		t.Errorf("%+v", d.State)
	}
	want := `{"schema_version":"0.1","super_run_id":"` + d.State.SuperRunID +
		`","project_id":"shop","status":"active","phase":"design","repo_runs":{"api":{"run_id":"run_1","status":"initialized","phase":"design","initialized_by_coordinator":true},"web":{"run_id":"run_2","status":"linked","phase":"design","initialized_by_coordinator":false}},"pending_gate":null,"phase_gate_status":{},"created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:04:05.678Z"}`
	if got := string(ojson.Compact(d.State.Object())); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	if got := contents(t, dir,
		initiative.HistoryPath); !strings.HasSuffix(got, `"timestamp":"2026-01-02T03:04:05.678Z"}`+"\n") {
		t.Error(got)
	}
	if got := contents(t, dir, initiative.DecisionsPath); !strings.Contains(got, `"id":"DEC-COORD-001"`) ||
		!strings.Contains(got, `"category":"initialization"`) {
		t.Error(got)
	}
	// A live initiative is not replaced, a complete one is followed by the next, and acceptances of the first do
	// not count for the second.
	if err := begin("s", runs...); code(err) != wire.CodeRunExists {
		t.Error(err)
	}
	if _, err := project(s, handedIn("web", "polish", "t1"), "s"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, initiative.StatePath,
		strings.Replace(contents(t, dir, initiative.StatePath), `"active"`, `"completed"`, 1))
	if err := begin("other"); err != nil {
		t.Fatal(err)
	}
	if d, err = s.Read(); err != nil || len(d.History.Accepted("polish")) != 0 || d.NextDecision != 3 ||
		d.Barriers.Get("polish_completion").Status != initiative.Pending {
		t.Errorf("%v %+v", err, d)
	}
}
