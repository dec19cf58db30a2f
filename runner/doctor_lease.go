// Doctor: who holds the active turns.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// lease tells of the lease of an active turn. One that cannot be read keeps
// everybody from the turn.
func (d *doctor) lease(ctx context.Context, v *gitstore.View, t *run.Turn) {
	seen, err := d.r.leased(ctx, v.State.Run(), t)
	switch {
	case err != nil:
		d.failed("lease", err, "git agentxchain fsck")
	case seen == nil || !seen.lease.Open():
	case seen.lease.Live(d.r.now()):
		d.add("lease", LevelNote, "", "turn %s is leased to runner %s until %s", t.TurnID, shown(seen.lease.RunnerID), wire.FormatTime(seen.lease.ExpiresAt()))
	default:
		d.add("lease", LevelNote, "", "the lease of turn %s has ended without a result of runner %s; any runner may carry out the turn", t.TurnID, shown(seen.lease.RunnerID))
	}
}
