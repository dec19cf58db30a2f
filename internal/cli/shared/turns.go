// The turn that an operand means.

package shared

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// ActiveTurn finds the turn meant by id: exact, or its unique beginning.
func ActiveTurn(v *runner.View, id string) (*run.Turn, error) {
	turn, refusal := run.ResolveTurn(v.State, id, "show")
	if refusal == nil {
		return turn, nil
	}
	var found []*run.Turn
	for key, t := range v.State.ActiveTurns.All() {
		if id != "" && t != nil && strings.HasPrefix(key, id) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if refusal.Code == wire.CodeTargetRequired {
		refusal.Hint = "git agentxchain turn show " + v.State.ActiveTurns.Keys()[0]
	}
	return nil, refusal
}
