// Whether the branch still has the work that the run continues from.

package doctor

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// onBranch finds that the next role would begin without the work of the newest accepted turn.
func (d *doctor) onBranch(ctx context.Context) {
	v := d.out.View
	if v == nil || v.State == nil || v.State.Run() == "" || v.State.Status.Ended() ||
		wire.OrEmpty(v.State.LastCompletedTurnID) == "" {
		return
	}
	turn := *v.State.LastCompletedTurnID
	line, err := d.rec.LastRow(ctx, wire.LedgerHistory, "turn_id", turn)
	if err != nil || line == nil {
		return // problems of the record were reported before
	}
	away := gate.Work(ctx, d.rec.Repository(), d.rec.Dir(), line.Row)
	if away == nil {
		return
	}
	fix := away.Command
	if fix == "" {
		fix = away.Bring() + ", or git switch to a branch that has it"
	}
	d.add("repository", LevelWarning, fix, "%s, and the next role would begin without its work", away.What())
}
