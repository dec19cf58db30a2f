// Any recorded run, read at its ref.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
)

// RecordedRun is a run as one operation recorded it (docs/storage.md): the present run, an earlier
// one, or one that came here by a push.
type RecordedRun = chain.RecordedRun

// OpenRun reads a run at its newest operation, or at op when it is not "". An empty run is the one
// of this work tree. It locks nothing and reads no working file; unrecorded changes by another tool
// are not in it.
//
// Codes: no_run, bad_ref_name, ref_is_symbolic, ref_broken, object_missing,
// object_corrupt.
func (r *Runner) OpenRun(ctx context.Context, run string, op OpID) (*RecordedRun, error) {
	return r.store.OpenRun(ctx, run, op)
}

// RunTip returns the newest operation of a run, "" when it has no record here.
func (r *Runner) RunTip(ctx context.Context, run string) (OpID, error) {
	return chain.Tip(ctx, r.store.Repository(), run)
}
