// Opening a repository without a work tree: what lies on a server.

package gitstore

import (
	"bytes"
	"context"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpenBare opens the runs that lie in the repository around dir, which may have no work tree, and those
// its archive keeps. The store is for checks: no file is looked at. Close it.
func OpenBare(ctx context.Context, dir string) (*Store, error) {
	repo, err := git.DiscoverBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	if repo.Prefix == "" {
		repo.Prefix = projectPrefix(ctx, repo)
	}
	return &Store{repo: repo, objects: repo.Objects(), prefix: repo.Prefix}, nil
}

// OpenChecked is Open, or OpenBare where there is no work tree.
func OpenChecked(ctx context.Context, dir string) (*Store, error) {
	s, err := Open(ctx, dir, Options{})
	if fail.CodeOf(err) == fail.CodeBareRepository {
		return OpenBare(ctx, dir)
	}
	return s, err
}

// ProjectID is the id that the configuration names, "" when it cannot be told. Without a work tree it is
// that of the commit that is checked out in clones.
func (s *Store) ProjectID(ctx context.Context) string {
	var data []byte
	if s.work != nil {
		data, _ = s.work.Config()
	} else {
		data, _ = s.repo.Git.Run(ctx, nil, "cat-file", "blob", "HEAD:"+s.prefix+wire.ConfigPath) // no commit yet
	}
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil {
		return cfg.Project.ID
	}
	return ""
}

// projectPrefix is the directory of the only governed project that HEAD holds; "" where it is the root,
// or cannot be told. Who may sign is in files there.
func projectPrefix(ctx context.Context, repo *git.Repository) string {
	out, err := repo.Git.Run(ctx, nil, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--")
	if err != nil {
		return "" // no commit yet
	}
	var dirs []string
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if dir, base := path.Split(string(name)); base == wire.ConfigPath {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) != 1 {
		return ""
	}
	return dirs[0]
}
