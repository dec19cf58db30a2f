// Whether the clock here and those that a run was recorded by can all be right.

package doctor

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
)

// clockOps is how many of the newest operations are held against the clock: an old one of a clock that was wrong is no
// news.
const clockOps = 20

// clock says when the run was recorded by a clock that is ahead of the one here. Claims do not compare clocks; deadlines,
// limits of time and the expiry of statements do.
func (d *doctor) clock(ctx context.Context, v *gitstore.View) {
	ops, err := d.rec.Log(ctx, v.State.Run(), clockOps)
	if err != nil {
		return // what cannot be read is said elsewhere
	}
	now := d.r.Now()
	for _, op := range ops {
		if ahead := op.Time.Sub(now); ahead > agreement.MaxSkew {
			d.add("clock", LevelWarning, "set the clock right here, or on the machine of "+op.Actor,
				"operation %s was made by %s at %s, which is still to come by the clock here", op.Op.Short(), op.Actor,
				op.Time.UTC().Format(time.RFC3339))
			return
		}
	}
}
