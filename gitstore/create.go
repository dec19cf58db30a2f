// Making a new repository, for a scratch run.

package gitstore

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Create makes an empty repository in dir with the branch main and its own identity, independent of the
// person's settings and templates.
func Create(ctx context.Context, dir, name, email string) (*git.Repository, error) {
	g := git.NewForeignGit(dir)
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--initial-branch=main"},
		{"config", "user.name", name},
		{"config", "user.email", email},
		{"config", "commit.gpgSign", "false"},
		{"config", "core.autocrlf", "false"},
		// A scratch repository needs no maintenance; newer versions of git run it in the background, in files that
		// are being removed.
		{"config", "maintenance.auto", "false"},
		// A person's own commit hooks do not apply to a scratch run.
		{"config", "core.hooksPath", os.DevNull},
	} {
		if _, err := g.Run(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	return git.DiscoverForeign(ctx, dir)
}

// LeaveRepository makes this process forget the repository it was started in: the variables that a git hook or a
// wrapper exports would lead every later git process there.
func LeaveRepository() error {
	for _, k := range git.LocalEnvVars {
		if err := os.Unsetenv(k); err != nil {
			return err
		}
	}
	return nil
}
