// How the ref of a run is moved for an operation: alone, or with others.

package decision

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Move is a ref that is about to move for an operation.
type Move struct {
	Op     string // wire name of the operation, such as approve_transition
	Ref    git.RefUpdate
	Also   []git.RefUpdate // moved or checked with it, after it
	Reflog string
}

// Publish moves the ref of an operation whose objects are written: nil means it
// has moved, an error that it has not and will not. It may wait.
type Publish func(ctx context.Context, r *git.Repository, m Move) error

func Alone(ctx context.Context, r *git.Repository, m Move) error {
	return r.UpdateRefs(ctx, append([]git.RefUpdate{m.Ref}, m.Also...), m.Reflog)
}
