// The gate of a phase, as status and gate print it.

package shared

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
)

// GateObject returns the standing of a gate for --json.
func GateObject(g *gate.Standing) *ojson.Object {
	o := g.Result.Object(!g.Completion)
	o.Set("gate_id", g.ID)
	o.Set("gate_status", ojson.OrNull(g.Status))
	o.Set("requires_human_approval", g.HumanNeeded)
	o.Set("credentialed", g.Credentialed)
	return o
}
