// Tests that the coordinator accepts the configuration of a new workspace, for any number of repositories and
// phases.

package scaffold

import (
	"fmt"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

func TestWorkspaceConfig(t *testing.T) {
	for repos := 1; repos <= 3; repos++ {
		for phases := 1; phases <= 3; phases++ {
			for _, approver := range []string{"", " ", "ada@example.org"} {
				w := Workspace{ID: "shop", Name: "Shop \"one\"", Approver: approver}
				for i := range repos {
					w.Repos = append(w.Repos, Repo{ID: fmt.Sprintf("r%d", i), Path: fmt.Sprintf("../r%d", i)})
				}
				for i := range phases {
					w.Phases = append(w.Phases, fmt.Sprintf("p%d", i))
				}
				cfg, problems, err := initiative.Decode(w.Config())
				if err != nil || len(problems) > 0 {
					t.Fatalf("%d repositories, %d phases: %v %v", repos, phases, err, problems)
				}
				asks := cfg.GateRule(initiative.ShipGate) != nil
				if asks != (approver == "ada@example.org") || len(cfg.Phases()) != phases || cfg.Workstreams.Len() != phases {
					t.Errorf("%d repositories, %d phases, approver %q: asks %v, %d workstreams", repos, phases, approver, asks,
						cfg.Workstreams.Len())
				}
			}
		}
	}
	once := MergeWorkspaceIgnore([]byte("mine\n"))
	if again := MergeWorkspaceIgnore(once); string(again) != string(once) {
		t.Errorf("merged twice: %q, want %q", again, once)
	}
}
