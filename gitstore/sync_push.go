// What a sync pushes: each run and conflict with the value the remote is expected to have
// (docs/teams.md).

package gitstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// pushAll pushes what the remote lacks. again says that the remote has moved meanwhile.
func (s *Store) pushAll(ctx context.Context, y *Synced, opt SyncOptions) (again bool, err error) {
	var refs []refPush
	runs := make(map[string]*SyncedRun)
	for _, r := range y.Runs {
		if r.Tip == "" || r.Tip == r.from || r.State == SyncRefused || r.State == SyncWaits {
			continue
		}
		tip, err := s.pushable(ctx, y.Remote, r, opt)
		if err != nil {
			return false, err
		}
		if tip == "" || tip == r.from {
			continue
		}
		p := refPush{Name: git.RunRefPrefix + r.Run, New: tip, Old: r.from}
		refs, runs[p.Name] = append(refs, p), r
	}
	conflicts, err := s.conflictPushes(ctx, y.Remote)
	if err != nil {
		return false, err
	}
	refs = append(refs, conflicts...)
	extra := s.branchAlong(ctx, opt.Branch)
	if len(refs) == 0 && len(extra) == 0 {
		return false, nil
	}
	said, err := pushRefs(ctx, s.repo, y.Remote, refs, extra...)
	if err != nil {
		return false, err
	}
	var seen []git.RefUpdate
	for _, p := range refs {
		a, r := said[p.Name], runs[p.Name]
		if a.State == pushedStale {
			again = true
		}
		if a.State == pushedOK {
			y.Pushed = true
		}
		if r == nil {
			continue
		}
		switch a.State {
		case pushedOK:
			n, err := s.countOps(ctx, p.Old, p.New)
			if err != nil {
				return false, err
			}
			r.Went, r.There, r.from = r.Went+n, p.New, p.New
			if r.State != SyncWaits { // what is left waits for a commit
				r.resettle(SyncWent)
			}
			u := git.RefUpdate{Name: SeenRefPrefix + y.Remote + "/" + r.Run, New: p.New}
			if u.Old, err = s.repo.ReadRef(ctx, u.Name); err != nil {
				return false, err
			}
			seen = append(seen, u)
		case pushedRefused:
			r.State, r.Code = SyncRefused, CodeRemoteRefused
			r.Why = y.Remote + " does not take " + p.Name + ": " + a.Why
			r.Hint = "ask the administrator of the server to allow pushes to refs/agentxchain/* (runs and conflicts) there; the operations stay here"
		}
	}
	return again, s.repo.UpdateRefs(ctx, seen, "agentxchain: pushed to "+oneLine(y.Remote))
}

// branchAlong is the branch that is checked out, if it is to be pushed along.
func (s *Store) branchAlong(ctx context.Context, along bool) []string {
	if !along {
		return nil
	}
	head, err := s.repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return nil // a detached HEAD
	}
	return []string{strings.TrimSpace(string(head))}
}

// FollowBranch takes over the commits that the remote's branch of the same name has in
// addition, with the files of the work tree, as git merge --ff-only does. What git would
// refuse there stays as it is: the branches went apart, or a changed file is in the way.
func (s *Store) FollowBranch(ctx context.Context, remote string) error {
	for _, branch := range s.branchAlong(ctx, true) {
		there := remoteRefs + remote + "/" + strings.TrimPrefix(branch, "refs/heads/")
		if oid, err := s.repo.ReadRef(ctx, there); err != nil || oid == "" {
			return err
		}
		if _, err := s.repo.Git.Run(ctx, nil, "merge", "--ff-only", "--quiet", "--", there); err != nil && git.ExitCode(err) < 0 {
			return err
		}
	}
	return nil
}

// conflictPushes are the conflicts the remote lacks.
func (s *Store) conflictPushes(ctx context.Context, remote string) ([]refPush, error) {
	here, err := s.tips(ctx, ConflictRefPrefix)
	if err != nil {
		return nil, err
	}
	there, err := s.tips(ctx, trackingConflicts(remote))
	if err != nil {
		return nil, err
	}
	var out []refPush
	for name, oid := range here {
		if there[name] != oid {
			out = append(out, refPush{Name: ConflictRefPrefix + name, New: oid, Old: there[name]})
		}
	}
	slices.SortFunc(out, func(a, b refPush) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// pushable is the newest operation whose commits of the project the remote has, so that
// no record gets there before what it names.
func (s *Store) pushable(ctx context.Context, remote string, r *SyncedRun, opt SyncOptions) (git.OID, error) {
	if opt.WithoutCommits {
		return r.Tip, nil
	}
	what := string(r.Tip)
	if r.from != "" {
		what = string(r.from) + ".." + what
	}
	ops, err := s.logFrom(ctx, git.OID(what), 0)
	if err != nil {
		return "", err
	}
	slices.Reverse(ops)
	known := make(map[string]bool)
	tip := r.from
	for i, op := range ops {
		if head := op.CodeHead; head != "" {
			had, asked := known[head]
			if !asked {
				if had, err = s.remoteHas(ctx, remote, git.OID(head), opt.Branch); err != nil {
					return "", err
				}
				known[head] = had
			}
			if !had {
				r.resettle(SyncWaits)
				r.Code = "base_missing"
				r.Why = text.Count(len(ops)-i, "operation", "operations") + " made at commit " + git.OID(head).Short() + ", which " + remote + " does not have"
				r.Hint = "git push " + remote + ", then git agentxchain sync " + remote + "; or both at once: git agentxchain sync " + remote + " --branch"
				return tip, nil
			}
		}
		tip = op.Op
	}
	return tip, nil
}

// remoteHas reports whether the remote's branches lead to a commit, as far as is known
// here. A remote none of whose branches is tracked is not asked about.
func (s *Store) remoteHas(ctx context.Context, remote string, commit git.OID, branch bool) (bool, error) {
	if !commit.Valid(s.repo.ObjectFormat) || !s.repo.HasCommit(ctx, commit) {
		return true, nil // it is not ours to push
	}
	if branch {
		if on, err := s.HeadCommit(ctx); err == nil && on != "" {
			if in, err := s.repo.Ancestor(ctx, commit, on); err != nil || in {
				return in, err
			}
		}
	}
	out, err := s.repo.Git.Run(ctx, nil, "for-each-ref", "--contains="+string(commit), "--format=%(refname)", remoteRefs+remote+"/")
	return len(bytesWithout(out, remoteRefs+remote+"/agentxchain/")) > 0, err
}

// bytesWithout drops the lines that begin with a prefix.
func bytesWithout(out []byte, prefix string) []string {
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return strings.HasPrefix(name, prefix) })
}
