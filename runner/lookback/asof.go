// A run as of an earlier operation (docs/whatif.md#as-of-an-operation).

package lookback

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/asof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// AsOf is a scratch work tree that shows a run as of one operation.
type AsOf struct {
	*asof.AsOf
	dir *scratch.Dir
}

// OpenAsOf lays out the run as of an operation. dir is in a clone that has the operation, bare or
// not. From then on this process works in the layout: it forgets the repository that its
// environment names.
//
// Errors: not_found, not_a_git_repository; those of the record.
func OpenAsOf(ctx context.Context, dir, op string) (*AsOf, error) {
	repo, err := git.DiscoverBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = repo.Close() }()
	if err := runner.LeaveRepository(); err != nil {
		return nil, err
	}
	d, err := scratch.New("agentxchain-at-")
	if err != nil {
		return nil, err
	}
	out, err := asof.LayOut(ctx, repo, op, d.Path)
	if err != nil {
		_ = d.Remove()
		return nil, err
	}
	return &AsOf{AsOf: out, dir: d}, nil
}

// Close removes the layout.
func (a *AsOf) Close() error { return a.dir.Remove() }
