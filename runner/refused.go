// Refusals that leave no trace in the run are noted beside the repository, so that a person can ask
// why.

package runner

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/whatif"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ask lets the engine decide on an operation in the environment of the change.
func (c *change) ask(snap *protocol.Snapshot, op protocol.Operation) (*protocol.Transition, *wire.Error) {
	t, refusal := protocol.Apply(snap, op, c.env)
	if refusal != nil {
		if refusal.Explain == "" {
			refusal.Explain = refusal.Code
		}
		chain := protocol.Judge(snap, op, c.env).Chain
		whatif.Locate(chain, ojson.Pretty(snap.Config.Raw))
		// The note is a help, not a record: failing to write it changes no answer.
		_ = c.r.store.NoteRefusal(chain)
	}
	return t, refusal
}
