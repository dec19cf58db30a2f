// The turn that an operand means, and why a turn was sent back.

package shared

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// ActiveTurn finds the turn with that id or unique beginning of an id. command takes the turn.
func ActiveTurn(v *runner.View, id, command string) (*run.Turn, error) {
	verb := map[string]string{"turn edit": "edit", "verify bundle": "verify", "step": "step"}[command]
	turn, refusal := run.ResolveTurn(v.State, id, cmp.Or(verb, "show"))
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
		refusal.Hint = "git agentxchain " + command + " " + wire.ShellWord(v.State.ActiveTurns.Keys()[0])
	}
	if v.Unasked != "" {
		refusal.Hint = v.Onwards()
	}
	return nil, refusal
}

// RejectionErrors returns the findings for which a turn was sent back, besides the reason itself.
func RejectionErrors(rejection *ojson.Object) []string {
	return slices.DeleteFunc(rejection.Strings("validation_errors"), func(e string) bool {
		return e == rejection.String("reason")
	})
}
