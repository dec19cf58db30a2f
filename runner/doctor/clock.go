// Whether the clock here can be right, given the times in the run's record.

package doctor

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
)

// clockOps is how many of the newest operations are compared with the clock: an old operation with a wrong time does
// not matter any more.
const clockOps = 20

// clock reports a run that was recorded by a clock that is ahead of this one. Claims do not compare clocks;
// deadlines, time limits and the expiry of statements do.
func (d *doctor) clock(ctx context.Context, v *gitstore.View) {
	ops, err := d.rec.Log(ctx, v.State.Run(), clockOps)
	if err != nil {
		return // unreadable records are reported elsewhere
	}
	now := d.r.Now()
	for _, op := range ops {
		if ahead := op.Time.Sub(now); ahead > agreement.MaxSkew {
			d.add("clock", LevelWarning, "set the clock here, or on the machine of "+op.Actor,
				"operation %s was made by %s at %s, which is in the future by the clock here", op.Op.Short(), op.Actor,
				op.Time.UTC().Format(time.RFC3339))
			return
		}
	}
}
