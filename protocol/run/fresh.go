// The state a project has before its first run, and which states have rules in force.

package run

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RulesInForce reports whether a run of this status is judged by adopted rules: from its start until it is over.
func RulesInForce(s wire.Status) bool {
	switch s {
	case wire.StatusIdle, wire.StatusCompleted, wire.StatusFailed, "":
		return false
	}
	return true
}

// FreshState returns the idle state of a project before its first run (docs/spec/state.md#the-state).
func FreshState(c *config.Config, projectID string) *State {
	if projectID == "" {
		projectID = c.Project.ID
	}
	s := &State{
		SchemaVersion: "1.1",
		ProjectID:     projectID,
		Status:        wire.StatusIdle,
		Phase:         c.FirstPhase(),
		BudgetStatus:  FreshBudget(c),
	}
	for _, r := range c.Routing.All() {
		if r.ExitGate != "" {
			s.PhaseGateStatus.Set(r.ExitGate, wire.GatePending)
		}
	}
	return s
}

// FreshBudget returns what a run may spend at its start.
func FreshBudget(c *config.Config) BudgetStatus {
	b := BudgetStatus{}
	if c.Budget != nil && c.Budget.PerRunMaxUSD != nil {
		b.RemainingUSD = new(*c.Budget.PerRunMaxUSD)
	}
	return b
}
