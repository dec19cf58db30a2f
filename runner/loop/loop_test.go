package loop_test

import (
	"context"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestTurnsAreTakenUpToTheLimit(t *testing.T) {
	p := newProject(t, 1, []string{"dev"}, nil)
	seen := &events{}
	res := loop.Run(context.Background(), p.r, loop.Options{
		MaxTurns: 3,
		OnEvent:  seen.on,
		Dispatch: func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
			return returned(d.Turn)
		},
	})
	if res.StopReason != loop.MaxTurnsReached || res.TurnsExecuted != 3 || len(res.TurnHistory) != 3 ||
		len(res.Errors) != 0 {
		t.Fatalf("%+v", res)
	}
	p.fsck()
}
