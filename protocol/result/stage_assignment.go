// Stage B: the result belongs to the turn that is waiting for it (docs/spec/results.md#the-five-stages).

package result

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func checkAssignment(r *stageReport, c *stageContext) {
	if c.in.State == nil {
		r.errorf(ProblemStateMissing, "", "",
			"the run's state is not loaded, so the result cannot be matched to a turn")
		return
	}
	differs := func(code, field, got, want, owner string) {
		if want != "" && got != want {
			r.errorf(code, field, got, "%s is %s but %s has %s", field, wire.Shown(got), owner, wire.Shown(want))
		}
	}
	differs(ProblemRunMismatch, "run_id", c.result.RunID, c.in.State.Run(), "the run")
	t := c.in.Turn
	if t == nil {
		r.errorf(ProblemNoActiveTurn, "turn_id", c.result.TurnID, "no active turn waits for this result")
		return
	}
	differs(ProblemTurnMismatch, "turn_id", c.result.TurnID, t.TurnID, "the active turn")
	differs(ProblemRoleMismatch, "role", c.result.Role, t.AssignedRole, "the assignment")
	differs(ProblemRuntimeDiffers, "runtime_id", c.result.RuntimeID, t.RuntimeID, "the assignment")
}
