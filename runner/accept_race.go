// Accepting the only active turn while others do the same.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// onlyTurnNow returns the id of the only active turn that the working files name, "" when there is
// none or they cannot be read. It is read before the wait for the lock: a request to accept "the
// turn" means the one that is active now.
func (r *Runner) onlyTurnNow() string {
	data, err := projectfile.Read(r.store.Dir(), string(wire.DocState), maxHint)
	if err != nil || data == nil {
		return ""
	}
	st, perr := run.DecodeState(data)
	if perr != nil {
		return ""
	}
	if turn := st.OnlyTurn(); turn != nil {
		return turn.TurnID
	}
	return ""
}

// maxHint bounds a state document that is only read for a hint, in bytes.
const maxHint = 16 << 20

// inHistory reports whether history holds an acceptance of the turn.
func (c *change) inHistory(ctx context.Context, turn string) (bool, error) {
	row, err := c.r.store.LastRow(ctx, wire.LedgerHistory, "turn_id", turn)
	if err != nil {
		return false, err
	}
	return row != nil && row.Row.String("status") != "reissued", nil
}
