// Who asks for an operation, and whether an agent is asking.

package runner

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

// TurnMarker is the environment variable a dispatcher sets for the process of a
// turn. Its presence, here or in an ancestor, means an agent is asking.
const TurnMarker = turnmark.Variable

// Identity returns git's name and email address of the user, or the store's stand-ins for them.
func (r *Runner) Identity(ctx context.Context) (name, email string) { return r.store.Identity(ctx) }

func (r *Runner) actor(ctx context.Context) evidence.Actor {
	a := r.inside()
	a.Name, a.Email = r.Identity(ctx)
	a.Terminal, a.Clone = r.opt.Terminal, travel.CloneID(r.store.Repository())
	return a
}

// inside returns who asks as far as the marks of a turn tell it.
func (r *Runner) inside() evidence.Actor {
	in := r.Asker()
	return evidence.Actor{InsideTurn: in.Turn, InsideWhy: in.Why}
}

// InsideTurn returns the turn whose dispatched process this one is or descends from, or "". Inside
// a turn, what only a person may do is refused. The environment alone is not enough: a shell can
// unset a variable for its child.
func (r *Runner) InsideTurn() string { return r.Asker().Turn }

// Asker looks for the marks of a turn, and for a turn of this project whose process cannot be seen
// from here.
func (r *Runner) Asker() turnmark.Verdict {
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return turnmark.Look(r.opt.Getenv, nil)
	}
	defer func() { _ = root.Close() }()
	return turnmark.Look(r.opt.Getenv, root)
}

// Getenv looks up a variable in the environment that this runner was given.
func (r *Runner) Getenv(name string) string { return r.opt.Getenv(name) }

// atWork names the turns that agents are working on in this project.
func (r *Runner) atWork() gitstore.AtWork {
	var w gitstore.AtWork
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		if id := turnmark.Inside(r.opt.Getenv); id != "" {
			w.Held = append(w.Held, id)
		}
		return w
	}
	defer func() { _ = root.Close() }()
	if id := turnmark.Look(r.opt.Getenv, root).Turn; id != "" {
		w.Held = append(w.Held, id)
	}
	held, left := turnmark.List(root)
	w.Held = append(w.Held, held...)
	w.Left = left
	return w
}

// RestoreRecord puts the run's own files back as they are recorded when something other than an
// operation has changed them, and returns what was put back; nil when they were untouched. Call it
// after an agent has carried out a turn, before the turn's mark is given up. The changed files are
// kept.
func (r *Runner) RestoreRecord(ctx context.Context) (*gitstore.RepairPlan, error) {
	r.serial.Lock()
	defer r.serial.Unlock()
	return r.store.RestoreTouched(ctx)
}
