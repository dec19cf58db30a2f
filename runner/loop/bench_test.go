package loop_test

import (
	"context"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/loop"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// BenchmarkLoop measures the loop's own cost of a turn: the agent takes no time. A turn is
// assigned, its bundle written and sealed, its result staged and accepted.
func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name  string
		files bool
	}{{"review", false}, {"checkpoint", true}} {
		b.Run(c.name, func(b *testing.B) {
			p := newProject(b, 1, []string{"dev"}, nil)
			dispatch := func(_ context.Context, d *loop.Dispatch) *runtimes.Outcome {
				if !c.files {
					return returned(d.Turn)
				}
				name := "src/" + d.Turn.TurnID + ".txt"
				p.write(name, "work\n")
				return returned(d.Turn, "files_changed", []string{name},
					"artifact", ojson.NewObject("type", "workspace"))
			}
			loop.Run(context.Background(), p.r, loop.Options{MaxTurns: 2, Dispatch: dispatch}) // the run begins
			b.ResetTimer()
			if res := loop.Run(context.Background(), p.r, loop.Options{
				MaxTurns: b.N,
				Dispatch: dispatch,
			}); res.TurnsExecuted != b.N {
				b.Fatalf("%+v", res)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/turn")
		})
	}
}
