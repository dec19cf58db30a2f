// Which role gets a free slot: the answer for the loop and for everything else that hands out
// turns.

package loop

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Room reports whether the phase has a slot for one more turn: one is free, and no delegation
// review is active, which runs alone.
func Room(s *run.State, c *config.Config) bool {
	n := s.ActiveTurns.Len()
	switch {
	case n == 0:
		return true
	case n >= runner.MaxConcurrentTurns(c, s.Phase) || s.PendingDelegation != nil:
		return false
	}
	for _, t := range s.ActiveTurns.All() {
		if t.DelegationReview != nil {
			return false
		}
	}
	return true
}

// FreeRole returns the role that gets a free slot when next is the role in turn: next itself,
// unless it has a turn already or was tried; then another role of the phase, unless delegated work
// decides who is next. "" is none.
func FreeRole(next string, s *run.State, c *config.Config, tried map[string]bool) string {
	busy := func(id string) bool { return tried[id] || s.RoleBusy(id) }
	if next == "" || !busy(next) {
		return next
	}
	if runner.MaxConcurrentTurns(c, s.Phase) <= 1 || s.PendingDelegation != nil || len(s.DelegationQueue) > 0 {
		return ""
	}
	if len(s.OpenCharters()) > 0 {
		for _, id := range s.CharterRoles() {
			if !busy(id) {
				return id
			}
		}
		return ""
	}
	if route := c.Route(s.Phase); route != nil {
		for _, id := range route.AllowedNextRoles {
			if id != "human" && c.Role(id) != nil && !busy(id) {
				return id
			}
		}
	}
	return ""
}
