// Whether an agent is asking, for callers that drive no run of their own.

package runner

import (
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
)

// InsideTurn returns the dispatched turn that this process descends from, "" when a person or an
// automation outside of any turn is asking. getenv is the environment to look at first; os.Getenv
// when nil.
func InsideTurn(getenv func(string) string) string {
	turn, _ := InsideTurnOf(getenv)
	return turn
}

// InsideTurnOf is InsideTurn for a caller that is about to change the projects in dirs. While a
// turn of one of them is carried out, a process whose ancestors cannot be seen counts as inside it,
// and why says so.
func InsideTurnOf(getenv func(string) string, dirs ...string) (turn, why string) {
	if getenv == nil {
		getenv = os.Getenv
	}
	v := turnmark.Look(getenv, nil)
	for _, dir := range dirs {
		if v.Turn != "" {
			break
		}
		if root, err := os.OpenRoot(dir); err == nil {
			v = turnmark.Look(getenv, root)
			_ = root.Close()
		}
	}
	return v.Turn, v.Why
}
