package runner_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// A command that is killed while it writes a bundle leaves nothing in it that is not sealed: the
// next command can carry out the turn.
func TestCrashWhileABundleIsWritten(t *testing.T) {
	testrepo.Thorough(t)
	for _, point := range []string{"commit.after-documents", "commit.after-bundles", "commit.before-state"} {
		t.Run(point, func(t *testing.T) {
			p := newProject(t, onePhase)
			self, err := os.Executable()
			p.must(err)
			for kills := range 3 {
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), childEnv+"="+p.dir, "AGENTXCHAIN_TEST_OP=assign",
					"AGENTXCHAIN_FAULT="+point+":2")
				if kills > 0 { // the next commands die over the same files
					cmd.Env = append(os.Environ(), childEnv+"="+p.dir, "AGENTXCHAIN_TEST_OP=reject",
						"AGENTXCHAIN_FAULT="+point)
				}
				if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() >= 0 {
					t.Fatalf("kill %d: it was to be killed: %v %s", kills, err, out)
				}
			}
			v, err := p.r.View(p.ctx)
			p.must(err)
			if v.State.ActiveTurns.Len() != 1 {
				t.Fatalf("%+v", v.State)
			}
			turn := v.State.ActiveTurns.Keys()[0]
			out, err := p.r.AdvanceTurn(p.ctx, attempt.AdvanceTurn{TurnID: turn, Status: wire.TurnDispatched})
			p.must(err)
			active, _ := out.State.ActiveTurns.Get(turn)
			v, err = p.r.View(p.ctx)
			p.must(err)
			if _, err := p.r.OpenBundle(p.ctx, v, active); err != nil {
				t.Fatalf("%v", err)
			}
		})
	}
}
