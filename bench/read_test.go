// Commands that change nothing: start-up, status, and the full check.

package bench

import (
	"fmt"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// BenchmarkVersion measures the start of the program and nothing else.
func BenchmarkVersion(b *testing.B) {
	whole(b, measure.Spec{Argv: []string{program, "version"}, Dir: b.TempDir()}, nil)
}

// BenchmarkStatus looks at a run without changing it.
func BenchmarkStatus(b *testing.B) {
	for _, n := range lengths() {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			p := project(b, play.Review, n)
			if err := p.Assign(); err != nil {
				b.Fatal(err)
			}
			whole(b, measure.Spec{Argv: []string{program, "status"}, Dir: p.Dir}, nil)
		})
	}
}

// chainOps is how many operations the checked run has: two a turn, and the one that starts it.
const chainOps = 500

// BenchmarkFsckReplay applies every operation of a really played run again and makes git read every
// object.
func BenchmarkFsckReplay(b *testing.B) {
	p, err := play.New(b.TempDir(), program, play.Review)
	if err == nil {
		err = p.Turns(chainOps / 2)
	}
	if err != nil {
		b.Fatal(err)
	}
	s := measure.Spec{Argv: []string{program, "fsck", "--replay"}, Dir: p.Dir}
	runs := whole(b, s, nil)
	b.ReportMetric(chainOps/runs.Wall().Median.Seconds(), "ops/s")
}
