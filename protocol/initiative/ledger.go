// Decisions of the coordinator and their numbers (docs/coordinator.md#files-and-refs).

package initiative

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

const decisionPrefix = "DEC-COORD-"

// NextDecision returns one more than the highest decision number in rows.
func NextDecision(rows []*ojson.Object) int {
	n := 0
	for _, row := range rows {
		digits, ok := strings.CutPrefix(row.String("id"), decisionPrefix)
		if v, err := strconv.Atoi(digits); ok && err == nil && isDigits(digits) {
			n = max(n, v)
		}
	}
	return n + 1
}

func isDigits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// Categories of decisions.
const (
	decidedInit       = "initialization"
	decidedDispatch   = "dispatch"
	decidedPhase      = "phase_transition"
	decidedCompletion = "completion"
	DecidedRecovery   = "recovery"
	decidedAbandoned  = "abandonment"
)

// Decide adds a decision to a change: {id, timestamp, super_run_id, role, phase, category, statement}, then the
// non-empty further members, in the order of docs/coordinator.md#files-and-refs.
func (c *Change) Decide(w *Workspace, env *protocol.Env, phase, category, statement string, further ...string) {
	row := ojson.NewObject("id", fmt.Sprintf("%s%03d", decisionPrefix, w.NextDecision+len(c.Decisions)),
		"timestamp", env.Time(),
		"super_run_id", ojson.OrNull(w.State.SuperRunID), "role", "coordinator", "phase", ojson.OrNull(phase),
		"category", category, "statement", statement)
	for i := 0; i+1 < len(further); i += 2 {
		if further[i+1] != "" {
			row.Set(further[i], further[i+1])
		}
	}
	c.Decisions = append(c.Decisions, row)
}
