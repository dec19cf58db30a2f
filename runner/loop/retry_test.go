package loop_test

import (
	"context"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// A gate that failed on a document that a person has written since costs no further turn.
func TestMendedGateCostsNoTurn(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, func(cfg *ojson.Object) {
		twoPhases(cfg)
		cfg.Set("gate_semantic_coverage_mode", "lenient")
		build := cfg.Object("gates").Object("build_ok")
		build.Set("requires_human_approval", false)
		build.Set("requires_files", []string{"docs/agreed.md"})
	})
	turns := 0
	one := func(ctx context.Context, d *loop.Dispatch) *runtimes.Outcome {
		turns++
		return asks(ctx, d)
	}
	res, _ := run(p, loop.Options{Dispatch: one, MaxTurns: 1})
	if f := res.State.LastGateFailure; f == nil || f.Phase != "build" || turns != 1 {
		t.Fatalf("the gate has not failed: %+v", res)
	}
	p.write("docs/agreed.md", "agreed\n")
	git(t, p.dir, "add", "-A")
	git(t, p.dir, "commit", "-qm", "agreed")
	res, types := run(p, loop.Options{Dispatch: one})
	if !slices.Contains(types, "gate_retried") || res.State.Phase != "ship" || res.State.Status != wire.StatusPaused ||
		turns != 2 {
		t.Fatalf("%d turns, %v: %+v", turns, types, res)
	}
}
