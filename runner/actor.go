// Who asks for an operation, and whether an agent is asking.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// TurnMarker is the environment variable a dispatcher sets for the process of a
// turn. Its presence, here or in an ancestor, means an agent is asking.
const TurnMarker = turnmark.Variable

func (r *Runner) actor(ctx context.Context) protocol.Actor {
	name, email := r.Store.Identity(ctx)
	return protocol.Actor{Name: name, Email: email, Terminal: r.opt.Terminal, InsideTurn: r.insideTurn()}
}

// InsideTurn returns the dispatched turn this process runs inside of, or "". What
// only a person may do is refused there.
func (r *Runner) InsideTurn() string { return r.insideTurn() }

// insideTurn returns the turn whose dispatched process this one is or descends
// from, or "". The environment alone is not enough: a shell can unset a variable
// for its child.
func (r *Runner) insideTurn() string { return turnmark.Inside(r.opt.Getenv) }
