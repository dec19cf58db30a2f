// Who asks for an operation, and whether an agent is asking.

package runner

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
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

// atWork names the turns agents are at work on in this project.
func (r *Runner) atWork() gitstore.AtWork {
	var w gitstore.AtWork
	if id := r.insideTurn(); id != "" {
		w.Held = append(w.Held, id)
	}
	root, err := os.OpenRoot(r.Store.Dir())
	if err != nil {
		return w
	}
	defer func() { _ = root.Close() }()
	held, left := turnmark.List(root)
	w.Held = append(w.Held, held...)
	w.Left = left
	return w
}

// RestoreRecord puts the run's own files back as they are recorded when something
// else than an operation has changed them, and returns what was put back; nil when
// they were untouched. It is for whoever has had an agent carry out a turn, before
// the turn's mark is given up. What was there is kept.
func (r *Runner) RestoreRecord(ctx context.Context) (*gitstore.RepairPlan, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	return r.Store.RestoreTouched(ctx)
}
