// Personal settings in git's configuration that hold lists.

package gitstore

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// Settings returns every value git has for a key, from all its configuration
// files; none when it is unset.
func (s *Store) Settings(ctx context.Context, key string) ([]string, error) {
	list, err := s.repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	return list.All(key), nil
}

// LocalSettings is Settings for the repository's own configuration alone, which
// is shared by its linked work trees and never cloned.
func (s *Store) LocalSettings(ctx context.Context, key string) ([]string, error) {
	out, err := s.repo.Git.Run(ctx, nil, "config", "--local", "-z", "--get-all", key)
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// AddLocalSetting adds a value to a key of the repository's own configuration.
func (s *Store) AddLocalSetting(ctx context.Context, key, value string) error {
	return unwritable(s.repo.Configure(ctx, "--add", key, value))
}

// DropLocalSetting removes every value of a key from the repository's own
// configuration; that there is none is no error.
func (s *Store) DropLocalSetting(ctx context.Context, key string) error {
	err := s.repo.Configure(ctx, "--unset-all", key)
	if git.ExitCode(err) == 5 {
		return nil
	}
	return unwritable(err)
}

func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return git.Errorf(git.CodeGitFailed, err, "git's configuration of this repository cannot be written")
}
