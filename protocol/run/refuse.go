// Refusals that follow from the run's status.

package run

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BlockedError refuses something because the run is blocked.
func BlockedError(s *State, what string) *wire.Error {
	e := &wire.Error{
		Code:    wire.CodeRunBlocked,
		Field:   "blocked_on",
		Message: fmt.Sprintf("The run is blocked on %s; cannot %s.", wire.OrNone(wire.OrEmpty(s.BlockedOn)), what),
		Hint:    "git agentxchain status",
	}
	if r := s.BlockedReason; r != nil {
		if r.Recovery.Detail != nil && *r.Recovery.Detail != "" {
			e.Message = fmt.Sprintf("The run is blocked on %s (%s); cannot %s.",
				wire.OrNone(wire.OrEmpty(s.BlockedOn)), *r.Recovery.Detail, what)
		}
		e.Hint = r.Recovery.RecoveryAction
	}
	return e
}

// PendingError refuses something because an approval is pending.
func PendingError(s *State, what string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeAwaitingApproval,
		Field:   "blocked_on",
		Message: fmt.Sprintf("Gate %q waits for a person's approval; cannot %s.", PendingGate(s), what),
		Hint:    "git agentxchain approve",
	}
}
