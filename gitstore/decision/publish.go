// How the ref of a run is moved for an operation: alone, or with other refs.

package decision

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Move is a pending ref update of an operation.
type Move struct {
	Op     string // wire name of the operation, such as approve_transition
	Ref    git.RefUpdate
	Also   []git.RefUpdate // refs moved or verified together with it, after it
	Reflog string
}

// Publish moves the ref of an operation whose objects are written: nil means that it has moved, an error that it
// has not and will not. It may block.
type Publish func(ctx context.Context, r *git.Repository, m Move) error

func Alone(ctx context.Context, r *git.Repository, m Move) error {
	return r.UpdateRefs(ctx, append([]git.RefUpdate{m.Ref}, m.Also...), m.Reflog)
}
