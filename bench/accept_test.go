// The cost of one accepted turn early and late in a run, and of what leads up to it.

package bench

import (
	"fmt"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// lengths returns how many turns a run had accepted before.
func lengths() []int { return []int{10, 10_000} }

// BenchmarkAccept accepts a turn: review is a turn without files, changes one
// with a changed file that the same command commits afterwards.
func BenchmarkAccept(b *testing.B) {
	for _, kind := range []play.Kind{play.Review, play.Changes} {
		for _, n := range lengths() {
			b.Run(fmt.Sprintf("%s/turns=%d", kind, n), func(b *testing.B) {
				p := project(b, kind, n)
				whole(b, measure.Spec{Argv: p.AcceptArgs(), Dir: p.Dir}, func([]byte) error { return p.Assign() })
			})
		}
	}
}

// BenchmarkAssign assigns a turn, with its dispatch bundle.
func BenchmarkAssign(b *testing.B) {
	for _, n := range lengths() {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			p := project(b, play.Review, n)
			whole(b, measure.Spec{Argv: p.AssignArgs(), Dir: p.Dir}, func(assigned []byte) error {
				if assigned == nil {
					return nil
				}
				if err := p.Stage(assigned); err != nil {
					return err
				}
				return p.Accept()
			})
		})
	}
}
