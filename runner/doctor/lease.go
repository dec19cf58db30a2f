// Who holds the active turns.

package doctor

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// lease reports the lease of an active turn. An unreadable one blocks the turn for everyone.
func (d *doctor) lease(ctx context.Context, v *gitstore.View, t *run.Turn) {
	l, err := d.r.LeaseOf(ctx, v, t)
	switch {
	case err != nil:
		d.failed("lease", err, "git agentxchain fsck")
	case l == nil || !l.Open():
	case l.Live(d.r.Now()):
		d.add("lease", LevelNote, "", "turn %s is leased to runner %s until %s", t.TurnID, lease.Shown(l.RunnerID),
			wire.FormatTime(l.ExpiresAt()))
	default:
		d.add("lease", LevelNote, "",
			"the lease of turn %s has ended without a result of runner %s; any runner may carry out the turn",
			t.TurnID, lease.Shown(l.RunnerID))
	}
}
