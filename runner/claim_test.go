package runner_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// machine is a clone with a clock of its own.
type machine struct {
	t   *testing.T
	p   *project
	now time.Time
}

func (m *machine) clock() time.Time { return m.now }

func (m *machine) claim(action string, opt runner.ClaimOptions) error {
	opt.Action = action
	_, err := m.p.r.ClaimTurn(m.p.ctx, opt)
	return err
}

func (m *machine) sync() *runner.Synced {
	m.t.Helper()
	y, err := m.p.r.Sync(m.p.ctx, runner.SyncOptions{})
	m.p.must(err)
	return y
}

func (m *machine) turn() *run.Turn {
	m.t.Helper()
	v, err := m.p.r.View(m.p.ctx)
	m.p.must(err)
	return v.State.OnlyTurn()
}

// twoMachines returns two clones of one server whose clocks differ by hours.
func twoMachines(t *testing.T, apart time.Duration) (a, b *machine) {
	t.Helper()
	for key, v := range map[string]string{"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"} {
		t.Setenv(key, v)
	}
	p := newProject(t, onePhase)
	git := func(dir string, args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	root := t.TempDir()
	git(root, "init", "-q", "--bare", "-b", "main", "server.git")
	git(p.dir, "remote", "add", "origin", filepath.Join(root, "server.git"))
	git(p.dir, "push", "-q", "origin", "main")
	git(root, "clone", "-q", "server.git", "B")
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a = &machine{t: t, p: p, now: start}
	b = &machine{t: t, p: &project{t: t, ctx: p.ctx, dir: filepath.Join(root, "B")}, now: start.Add(apart)}
	for _, m := range []*machine{a, b} {
		var err error
		m.p.r, err = runner.Open(m.p.ctx, m.p.dir, runner.Options{Now: m.clock})
		m.p.must(err)
		t.Cleanup(func() { _ = m.p.r.Close() })
	}
	a.p.assign("dev")
	a.sync()
	b.sync()
	return a, b
}

// Whatever the clocks say, a claim keeps others out for its time and no longer, and what its holder
// hands in afterwards does not count.
func TestClaimsDoNotDependOnClocks(t *testing.T) {
	testrepo.Thorough(t)
	for _, apart := range []time.Duration{5 * time.Hour, -5 * time.Hour} {
		t.Run(apart.String(), func(t *testing.T) {
			a, b := twoMachines(t, apart)
			a.p.must(a.claim(protocol.ClaimTake, runner.ClaimOptions{For: 30 * time.Minute}))
			b.sync()
			wantCode(t, b.claim(protocol.ClaimTake, runner.ClaimOptions{}), run.CodeTurnClaimed)
			a.now, b.now = a.now.Add(29*time.Minute), b.now.Add(29*time.Minute)
			wantCode(t, b.claim(protocol.ClaimTake, runner.ClaimOptions{}), run.CodeTurnClaimed)

			// A renewal restarts the time on both sides.
			a.p.must(a.claim(protocol.ClaimRenew, runner.ClaimOptions{}))
			b.sync()
			a.now, b.now = a.now.Add(29*time.Minute), b.now.Add(29*time.Minute)
			wantCode(t, b.claim(protocol.ClaimTake, runner.ClaimOptions{}), run.CodeTurnClaimed)
			a.now, b.now = a.now.Add(2*time.Minute), b.now.Add(2*time.Minute)

			// The dead holder returns too late by its own clock, and the other is faster.
			turn := a.turn()
			a.p.stageWork(turn)
			_, err := a.p.r.AcceptTurn(a.p.ctx, runner.AcceptOptions{})
			wantCode(t, err, run.CodeClaimEnded)
			b.p.must(b.claim(protocol.ClaimTake, runner.ClaimOptions{}))
			wantCode(t, a.claim(protocol.ClaimRenew, runner.ClaimOptions{}), run.CodeTurnClaimed)
			_, err = a.p.r.AcceptTurn(a.p.ctx, runner.AcceptOptions{})
			wantCode(t, err, run.CodeTurnClaimed)

			b.p.stageWork(turn)
			_, err = b.p.r.AcceptTurn(b.p.ctx, runner.AcceptOptions{})
			b.p.must(err)
		})
	}
}

// A holder that did not hear that its turn was stolen accepts it locally: the join keeps the result
// as a conflict, also when the other clone has given the turn back.
func TestLateResultOfAnOldClaimIsAConflict(t *testing.T) {
	testrepo.Serving(t)
	for _, release := range []bool{false, true} {
		a, b := twoMachines(t, 0)
		a.p.must(a.claim(protocol.ClaimTake, runner.ClaimOptions{}))
		b.p.must(b.claim(protocol.ClaimSteal, runner.ClaimOptions{Because: "a test"}))
		if release {
			b.p.must(b.claim(protocol.ClaimRelease, runner.ClaimOptions{}))
		}
		a.p.stageWork(a.turn())
		_, err := a.p.r.AcceptTurn(a.p.ctx, runner.AcceptOptions{})
		a.p.must(err)
		y := a.sync()
		j := y.Runs[0].Joined
		if j == nil || len(j.Conflicts) != 1 || j.Conflicts[0].Code != run.CodeTurnClaimed || len(j.Landed) != 0 {
			t.Fatalf("released %v: the join is %+v", release, j)
		}
		if a.turn() == nil {
			t.Fatal("the turn is not active any more")
		}
	}
}
