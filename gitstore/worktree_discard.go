// Removing a linked work tree that was never finished, and nothing else.

package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// DiscardWorktree removes what a killed maker of a linked work tree left at dir: nothing, an empty directory, one
// with git's own file, or an unused work tree of this repository on that branch. Anything else may be a user's and
// stays. Errors: file_exists.
func (s *Store) DiscardWorktree(ctx context.Context, dir, branch string) error {
	if err := s.unfinished(ctx, dir, branch); err != nil {
		return err
	}
	_, err := s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "worktree", "remove", "--force", "--force", dir)
	if err != nil && !errors.As(err, new(*git.GitError)) {
		return err
	}
	// An unregistered directory is one that git had not got round to.
	if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be removed", dir)
	}
	_, err = s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "worktree", "prune")
	return err
}

// unfinished refuses a path with something that DiscardWorktree must not remove. Git makes the directory, then its
// .git file, then says which branch it is on, and fills it last.
func (s *Store) unfinished(ctx context.Context, dir, branch string) error {
	taken := fail.Errorf(CodeFileExists, nil,
		"%s is there already and is not the work tree of %s; it is left as it is",
		dir, branch).
		WithHint("move it away, or use another directory")
	fi, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !fi.IsDir() {
		return taken
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return fail.Errorf(fail.CodeUnreadable, err, "%s cannot be read", dir)
	case len(entries) == 0:
		return nil
	case !s.linked(dir):
		return taken
	case len(entries) == 1:
		return nil
	}
	head, err := s.repo.Git.In(dir).Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !errors.As(err, new(*git.GitError)) {
		return err
	}
	if strings.TrimSpace(string(head)) != "refs/heads/"+branch {
		return taken
	}
	return nil
}

// linked reports whether a directory is a linked work tree of this repository, by its .git file: git is not started
// in a directory that may belong to another user.
func (s *Store) linked(dir string) bool {
	name := filepath.Join(dir, ".git")
	if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() > 1<<16 {
		return false
	}
	data, err := os.ReadFile(name)
	admin, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	if !filepath.IsAbs(admin) { // worktree.useRelativePaths
		admin = filepath.Join(dir, admin)
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(admin))
	if err != nil {
		return false
	}
	own, err := filepath.EvalSymlinks(filepath.Join(s.repo.CommonDir, "worktrees"))
	return err == nil && above == own
}

// MadeBranch reports whether a branch's tip is what MakeBranch makes from the same commit, files and message.
func (s *Store) MadeBranch(ctx context.Context, tip, from object.OID, files map[string][]byte, message string) (bool,
	error) {
	if len(files) == 0 {
		return tip == from, nil
	}
	c, err := s.reader(ctx).Commit(tip)
	if err != nil {
		return false, err
	}
	return slices.Equal(c.Parents, []object.OID{from}) && strings.TrimSpace(c.Message) == strings.TrimSpace(message),
		nil
}
