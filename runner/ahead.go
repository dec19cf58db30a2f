// Asking git ahead: an operation's questions to git are asked while the store looks after its own
// files, so that two processors have something to do.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
)

// ahead holds the answers. The lock was held when the questions were asked.
type ahead struct {
	actor evidence.Actor

	asked bool // about the work tree, and the answer is still unused
	tree  *gitstatus.Status
	err   error

	hidden    *gitstatus.Hidden
	hiddenErr error
}

// begin opens a transaction and at the same time asks git who is acting and, when the operation
// needs it, for the state of the work tree.
func (r *Runner) begin(ctx context.Context, purpose string) (*gitstore.Tx, *ahead, error) {
	a := &ahead{}
	beside := []func(){func() { a.actor = r.actor(ctx) }}
	if looks(purpose) {
		a.asked = true
		beside = append(beside, func() { a.tree, a.err = r.worktree(ctx) })
		if purpose != "checkpoint" { // which takes no baseline and compares with none
			beside = append(beside, func() { a.hidden, a.hiddenErr = r.hidden(ctx) })
		}
	}
	tx, err := r.store.Begin(ctx, purpose, r.opt.LockWait, beside...)
	if err == nil && len(tx.View().Notices) > 0 {
		a.asked = false // the recovery wrote files meanwhile
	}
	return tx, a, err
}

// looks reports whether an operation looks at the work tree.
func looks(purpose string) bool {
	switch purpose {
	case "accept", "assign", "init-run", "reject", "reissue", "checkpoint":
		return true
	}
	return false
}

// take returns the state of the work tree if it was asked for and nothing has
// happened since. It answers once.
func (a *ahead) take() (tree *gitstatus.Status, hidden *gitstatus.Hidden, ok bool, err error) {
	if a == nil || !a.asked {
		return nil, nil, false, nil
	}
	a.asked = false
	return a.tree, a.hidden, true, failures.All(a.err, a.hiddenErr)
}

func (r *Runner) worktree(ctx context.Context) (*gitstatus.Status, error) {
	repo := r.store.Repository()
	return gitstatus.Of(ctx, repo, repo.Prefix)
}

func (r *Runner) hidden(ctx context.Context) (*gitstatus.Hidden, error) {
	repo := r.store.Repository()
	return gitstatus.HiddenOf(ctx, repo, repo.Prefix)
}
