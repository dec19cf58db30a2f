// Linked work trees for runs of their own, and their branches.

package gitstore

import (
	"context"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// HeadCommit returns the commit that is checked out, "" while the branch has none.
func HeadCommit(ctx context.Context, repo *git.Repository) (object.OID, error) {
	out, err := repo.Git.Run(ctx, nil, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	oid := object.OID(strings.TrimSpace(string(out)))
	if !oid.Valid(repo.ObjectFormat) {
		return "", fail.Errorf(fail.CodeGitFailed, nil, "git names HEAD as %q", oid)
	}
	return oid, nil
}

// CommittedFile returns a project-relative file from a commit; false when it is missing or not a regular file.
func (s *Store) CommittedFile(ctx context.Context, commit object.OID, name string) (data []byte, ok bool, err error) {
	r := s.reader(ctx)
	c, err := r.Commit(commit)
	if err != nil {
		return nil, false, err
	}
	e, ok, err := r.Lookup(c.Tree, s.prefix+name)
	if err != nil || !ok || e.Mode != object.ModeFile && e.Mode != object.ModeExec {
		return nil, false, err
	}
	data, err = r.Blob(e.OID)
	return data, err == nil, err
}

// MakeBranch makes a branch at commit from, or at a new commit on top of it with the given files
// (project-relative); without files there is no new commit. The branch must not exist (ref_moved). Of git's hooks
// only those for ref updates run, and no work tree is touched.
func (s *Store) MakeBranch(ctx context.Context, branch string, from object.OID, files map[string][]byte,
	message string) (object.OID, error) {
	tip := from
	if len(files) > 0 {
		var err error
		if tip, err = s.commitOnto(ctx, from, files, message); err != nil {
			return "", err
		}
	}
	up := git.RefUpdate{Name: "refs/heads/" + branch, New: tip}
	err := s.repo.UpdateRefs(ctx, []git.RefUpdate{up}, "agentxchain: "+branch)
	if err != nil && fail.CodeOf(err) != fail.CodeWorkBehind {
		s.repo.Abandon(up)
	}
	return tip, err
}

func (s *Store) commitOnto(ctx context.Context, from object.OID, files map[string][]byte, message string) (object.OID,
	error) {
	r := s.reader(ctx)
	c, err := r.Commit(from)
	if err != nil {
		return "", err
	}
	e, err := r.Edit(c.Tree)
	if err != nil {
		return "", err
	}
	for name, data := range files {
		if err := e.Put(s.prefix+name, data); err != nil {
			return "", fail.Errorf(fail.CodeUnreadable, err, "%s cannot be put into a commit", name)
		}
	}
	tree := e.Finish()
	name, email := s.Identity(ctx)
	sig := object.Signature{Name: name, Email: email, When: time.Now()}
	data, err := object.EncodeCommit(s.repo.ObjectFormat, &object.Commit{
		Tree:      tree,
		Parents:   []object.OID{from},
		Author:    sig,
		Committer: sig,
		Message:   message,
	})
	if err != nil {
		return "", err
	}
	commit := object.New(s.repo.ObjectFormat, object.KindCommit, data)
	return commit.OID, s.objects.Write(ctx, append(e.Objects, commit))
}

// AddWorktree checks a branch out into a new linked work tree. The directory must not exist; its parents are
// created.
func (s *Store) AddWorktree(ctx context.Context, dir, branch string) error {
	_, err := s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "worktree", "add", "--quiet", dir, branch)
	return err
}

// RemoveWorktree removes a linked work tree that holds nothing git does not have: git refuses it if there is a
// changed or unknown file. Ignored files are removed with it; the caller decides about them (see IgnoredFiles).
func (s *Store) RemoveWorktree(ctx context.Context, dir string) error {
	_, err := s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "worktree", "remove", dir)
	return err
}
