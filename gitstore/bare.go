// Opening a repository without a work tree, such as one on a server.

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

// OpenBare opens the runs in the repository around dir, which need not have a work tree, and those its archive
// keeps. The store is for checks only: it looks at no working files. Close it after use.
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

// OpenChecked calls Open, or OpenBare where there is no work tree.
func OpenChecked(ctx context.Context, dir string) (*Store, error) {
	s, err := Open(ctx, dir, Options{})
	if fail.CodeOf(err) == fail.CodeBareRepository {
		return OpenBare(ctx, dir)
	}
	return s, err
}

// ProjectID returns the id in the configuration, "" when it is unknown. Without a work tree it reads the
// configuration of HEAD, the commit that clones check out.
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

// projectPrefix returns the directory of the only governed project in HEAD; "" when that is the root, or unknown.
// Files there say who may sign.
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
