// Acting in an untrusted clone: git has to run there, but nothing from the clone's own configuration may run.

package sibling

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Discover is git.DiscoverForeign for a sibling. The clone must be one that Open reads. As for all our gits,
// nothing from its own configuration is started; git is also kept from transports and from the clone's submodules.
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
