// Questions about a state, answered from the state alone (docs/runner.md#support).

package runner

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ActiveTurns returns the turns that are being worked on, in the order of the
// state: by assignment. The slice is the caller's, the turns are the state's.
func ActiveTurns(s *State) []*Turn {
	if s == nil {
		return nil
	}
	out := make([]*Turn, 0, s.ActiveTurns.Len())
	for _, t := range s.ActiveTurns.All() {
		out = append(out, t)
	}
	return out
}

// ActiveTurnCount returns how many turns are being worked on.
func ActiveTurnCount(s *State) int {
	if s == nil {
		return 0
	}
	return s.ActiveTurns.Len()
}

// ActiveTurn returns the turn when exactly one is being worked on, else nil.
func ActiveTurn(s *State) *Turn {
	if s == nil {
		return nil
	}
	return s.OnlyTurn()
}

// FindTurn returns the active turn of that id, or nil.
func FindTurn(s *State, turnID string) *Turn {
	if s == nil {
		return nil
	}
	return s.ActiveTurns.Value(turnID)
}

// MaxConcurrentTurns returns how many turns may be active side by side in a phase:
// routing.<phase>.max_concurrent_turns, at least 1 and at most 4.
func MaxConcurrentTurns(c *Config, phase string) int {
	if c == nil {
		return 1
	}
	r := c.Route(phase)
	if r == nil {
		return 1
	}
	return min(max(r.MaxConcurrentTurns, 1), config.MaxConcurrentTurns)
}

// TurnStagingResultPath returns the path where the result of a turn is staged, relative to the
// project and slash-separated: .agentxchain/staging/<turn_id>/turn-result.json.
func TurnStagingResultPath(turnID string) string { return wire.StagingPath(turnID) }
