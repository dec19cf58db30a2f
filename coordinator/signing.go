// Setting up signing in the workspace of an initiative.

package coordinator

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/runner/doctor"
)

// SigningPlace returns the workspace as a place for setting up signing. Errors: not_a_git_repository, and those of
// reading the configuration.
func (c *Coordinator) SigningPlace(ctx context.Context) (*doctor.SigningPlace, error) {
	home, cfg, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	env := c.env(ctx)
	return &doctor.SigningPlace{
		Dir:       c.store.dir,
		Repo:      home.Repository(),
		Asker:     env.Actor,
		Now:       env.Now,
		Protected: cfg.ProtectedBranch,
	}, nil
}
