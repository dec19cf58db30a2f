// A run whose id is known before it begins.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// RunIDOf returns the id of the run that StartRun begins with a seed of 32 hex digits.
func RunIDOf(seed string) string {
	e := protocol.Env{Seed: seed}
	return e.ID("run")
}

// StartRun is InitRun for a run whose id is RunIDOf(seed): the caller has written the seed down
// before, so that it is a run of its own, whatever runs other clones have.
func (r *Runner) StartRun(ctx context.Context, seed string, opt InitRunOptions) (*Done, error) {
	seeded := *r
	seeded.opt.Seed, seeded.opt.fresh = func() string { return seed }, true
	done, err := seeded.InitRun(ctx, opt)
	if err == nil && done.Run != RunIDOf(seed) {
		err = fmt.Errorf("the run that began is %s, not %s", done.Run, RunIDOf(seed))
	}
	return done, err
}
