// Acting in a clone that is not trusted: git has to be asked there, but nothing the
// clone has configured for itself may run.

package sibling

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Discover is git.DiscoverForeign for a sibling. The clone must be one that
// Open reads. As for every git of ours nothing of its own configuration is
// started; it is kept from transports and from its submodules besides.
func Discover(ctx context.Context, dir string) (*git.Repository, error) {
	x, err := Open(ctx, dir, &Trust{})
	if err != nil {
		return nil, err
	}
	own := x.Repo.GitDir
	_ = x.Close()
	r, err := git.DiscoverForeign(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !git.SameFile(own, r.GitDir) {
		return nil, fail.Errorf(CodeGitDirElsewhere, nil, "git finds the repository %s for %s, which is not its own",
			r.GitDir, dir)
	}
	r.Git.Disarm()
	return r, nil
}
