// Opening a repository without a work tree, such as one on a server.

package gitstore

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
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
		if dirs := chain.ProjectsIn(ctx, repo, "HEAD"); len(dirs) == 1 {
			repo.Prefix = dirs[0]
		}
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
	if s.work == nil {
		return chain.ProjectIn(ctx, s.repo, "HEAD", s.prefix)
	}
	data, _ := s.work.Config()
	return chain.ProjectOf(data)
}

// Around opens the repository around dir, bare or not, and finds the governed project in it: the one in dir or above
// it, otherwise the only one in HEAD. There may be none, for example in a clone that has the record alone, and several.
func Around(ctx context.Context, dir string) (*git.Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", dir)
	}
	repo, err := git.DiscoverBare(ctx, abs)
	if err != nil {
		return nil, err
	}
	if root := findProject(git.RealOr(abs)); root != "" && repo.TopLevel != "" && git.Within(repo.TopLevel, root) {
		if root == repo.ProjectDir {
			return repo, nil
		}
		_ = repo.Close()
		return git.Discover(ctx, root)
	}
	if dirs := chain.ProjectsIn(ctx, repo, "HEAD"); len(dirs) == 1 {
		repo.Prefix = dirs[0]
	}
	return repo, nil
}

// besideProjects refuses a directory that is in none of the repository's projects, which are elsewhere in it.
func besideProjects(repo *git.Repository, dir string, projects []string) error {
	hint := "git agentxchain -C " + wire.ShellWord(filepath.Join(repo.TopLevel, filepath.FromSlash(projects[0]))) +
		" COMMAND; to begin another here: git agentxchain init"
	return fail.Errorf(CodeNotProject, nil, "there is no %s in %s or above it; this repository has one in %s",
		wire.ConfigPath, dir, strings.Join(projects[:min(len(projects), 5)], ", ")).WithHint("%s", hint)
}
