// Changing the repository's configuration so that a power cut leaves the old file or the new one.

package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// configWait is how long to wait for another process that holds the lock of the configuration.
const configWait = time.Second

// Configure changes the repository's own configuration: args are what git config takes after --local. git renames
// the new file into place without syncing its content, so a power cut can leave a repository that no git can open.
// Configure has git change a copy instead, under the lock name that git uses, syncs it, and renames it into place.
// Errors: git's own, and git_failed.
func (r *Repository) Configure(ctx context.Context, args ...string) error {
	return r.rewriteConfig(ctx, func(git *Git, lock string) error {
		_, err := git.Run(ctx, nil, append([]string{"config", "--file", lock}, args...)...)
		return err
	})
}

// ReplaceConfig is Configure with the whole new content of the file.
func (r *Repository) ReplaceConfig(ctx context.Context, data []byte) error {
	return r.rewriteConfig(ctx, func(_ *Git, lock string) error { return os.WriteFile(lock, data, 0) })
}

// rewriteConfig calls change with a marked git to edit the lock file, then renames it to the configuration.
func (r *Repository) rewriteConfig(ctx context.Context, change func(git *Git, lock string) error) error {
	// Where the file is a link git changes its target.
	name, err := filepath.EvalSymlinks(filepath.Join(r.CommonDir, "config"))
	if err != nil {
		return fail.Errorf(fail.CodeGitFailed, err, "git's configuration of this repository cannot be found")
	}
	lock := name + ".lock"
	return r.LockingGit("changing the configuration", []GitLock{{Path: lock}, {Path: lock + ".lock"}},
		func(mark func(*Git) *Git) error {
			if err := copyLocked(ctx, name, lock); err != nil {
				e := fail.Errorf(fail.CodeGitFailed, err, "git's configuration of this repository cannot be changed")
				if errors.Is(err, fs.ErrExist) {
					e = e.WithHint("wait for the git that is changing it; if none is at work: git agentxchain doctor")
				}
				return e
			}
			err := change(mark(r.Git), lock)
			if err == nil {
				err = publishLocked(lock, name)
			}
			if err != nil {
				_ = os.Remove(lock)
			}
			return err
		})
}

// copyLocked creates the lock with the contents and the permissions of the file.
func copyLocked(ctx context.Context, name, lock string) error {
	var to *os.File
	for until := time.Now().Add(configWait); ; {
		var err error
		to, err = os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	err := copyInto(to, name)
	if cerr := to.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(lock)
	}
	return err
}

func copyInto(to *os.File, name string) error {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	fi, err := from.Stat()
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Chmod(fi.Mode().Perm())
}

// publishLocked renames the lock to the file.
func publishLocked(lock, name string) error {
	err := syncFile(lock)
	if err == nil {
		err = os.Rename(lock, name)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return fail.Errorf(fail.CodeGitFailed, err, "git's configuration of this repository cannot be changed")
	}
	return nil
}
