// Making a new repository, for a scratch run.

package gitstore

import "context"

// Create makes an empty repository in dir with the given first branch and an
// identity of its own, independent of the person's settings and templates.
func Create(ctx context.Context, dir, branch, name, email string) (*Repository, error) {
	g := NewForeignGit(dir)
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--initial-branch=" + branch},
		{"config", "user.name", name},
		{"config", "user.email", email},
		{"config", "commit.gpgSign", "false"},
		{"config", "core.autocrlf", "false"},
	} {
		if _, err := g.Run(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	return DiscoverForeign(ctx, dir)
}
