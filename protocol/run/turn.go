// Which turn is meant, and how to get one when the run has none.

package run

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// TurnHint returns the command that leads to a turn when the run has none.
func TurnHint(s *State) string {
	switch s.Status {
	case wire.StatusCompleted, wire.StatusFailed:
		return CmdAssign + " --new-run"
	case wire.StatusBlocked, wire.StatusPaused:
		return "git agentxchain status"
	}
	return CmdAssign
}

// ResolveTurn returns the named active turn, or the only one; command is the verb
// for the refusal.
func ResolveTurn(s *State, id, command string) (*Turn, *wire.Error) {
	if id != "" {
		if turn, ok := s.ActiveTurns.Get(id); ok {
			return turn, nil
		}
		return nil, &wire.Error{Code: wire.CodeTurnNotActive, Field: "turn_id",
			Message: fmt.Sprintf("Turn %s is not active in run %s.", id, wire.OrNone(s.Run())),
			Hint:    "git agentxchain status"}
	}
	switch s.ActiveTurns.Len() {
	case 0:
		e := &wire.Error{
			Code:    wire.CodeNotFound,
			Message: fmt.Sprintf("There is no active turn to %s.", command),
			Hint:    TurnHint(s),
		}
		if s.Status.Ended() {
			e.Message = fmt.Sprintf("There is no active turn to %s: run %s is over.", command, wire.OrNone(s.Run()))
			if command == "show" || command == "verify" {
				e.Hint = "git agentxchain history lists its turns, git agentxchain turn show TURN shows one"
			}
		}
		return nil, e
	case 1:
		return s.OnlyTurn(), nil
	}
	name := command
	if command == "verify" {
		name = "verify turn"
	}
	hint := "git agentxchain " + name + " " + wire.ShellWord(s.ActiveTurns.Keys()[0])
	if command == "escalate" || command == "reject" {
		hint += " --reason ..."
	}
	return nil, &wire.Error{Code: wire.CodeTargetRequired,
		Message: fmt.Sprintf("%d turns are active; name the one to %s.", s.ActiveTurns.Len(), command),
		Hint:    hint,
		Details: ojson.NewObject("active_turns", s.ActiveTurns.Keys())}
}
