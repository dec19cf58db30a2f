// The cost of many recorded runs for commands that are in one of them.

package bench

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// BenchmarkManyRuns measures with one other recorded run and with ten thousand. A sync finds
// nothing new; with archiveAfter it also looks for runs to archive, and finds none.
func BenchmarkManyRuns(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		p, err := play.New(filepath.Join(b.TempDir(), "project"), program, play.Review)
		if err == nil {
			err = p.Beside(n)
		}
		if err != nil {
			b.Fatal(err)
		}
		name := func(what string) string { return fmt.Sprintf("%s/runs=%d", what, n) }
		b.Run(name("status"), func(b *testing.B) {
			whole(b, measure.Spec{Argv: []string{program, "status"}, Dir: p.Dir}, nil)
		})
		b.Run(name("accept"), func(b *testing.B) {
			begun := true
			whole(b, measure.Spec{Argv: p.AcceptArgs(), Dir: p.Dir}, func([]byte) error {
				if begun {
					begun = false
					return nil
				}
				return p.Assign()
			})
		})
		if err := p.Share(); err != nil {
			b.Fatal(err)
		}
		sync := measure.Spec{Argv: []string{program, "sync"}, Dir: p.Dir}
		b.Run(name("sync"), func(b *testing.B) { whole(b, sync, nil) })
		sync.Env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=agentxchain.archiveAfter",
			"GIT_CONFIG_VALUE_0=20000d"}
		b.Run(name("sync-archiveAfter"), func(b *testing.B) { whole(b, sync, nil) })
	}
}
