// What a sync pushes: each run and conflict with the value the remote is expected to have (docs/teams.md).

package travel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// pushAll pushes what the remote lacks. again says that the remote has moved meanwhile.
func pushAll(ctx context.Context, repo *git.Repository, y *Synced, opt SyncOptions) (again bool, err error) {
	refs, runs, err := aheadRefs(ctx, repo, y, opt)
	if err != nil {
		return false, err
	}
	for prefix, tracking := range map[string]string{
		record.ConflictRefPrefix: transport.TrackingConflicts(y.Remote),
		record.WitnessRefPrefix:  transport.TrackingWitnesses(y.Remote),
	} {
		more, err := lackingRefs(ctx, repo, prefix, tracking)
		if err != nil {
			return false, err
		}
		refs = append(refs, more...)
	}
	extra := branchAlong(ctx, repo, y.Remote, opt.Branch)
	if len(refs) == 0 && len(extra) == 0 {
		return false, nil
	}
	had := make(map[string]bool)
	for _, branch := range extra {
		there, err := repo.ReadRef(ctx, trackingBranch(y.Remote, branch))
		had[branch] = err == nil && there != ""
	}
	said, refusal := transport.Push(ctx, repo, y.Remote, refs, extra...)
	for _, branch := range extra {
		if name := strings.TrimPrefix(branch, "refs/heads/"); said[branch].Made && had[branch] {
			y.Notices = append(y.Notices, fmt.Sprintf("%s had lost branch %s, and has it again now: if it was renamed there, "+
				"git push %s --delete %s takes it back, and git branch -m NAME renames yours", y.Remote, name, y.Remote, name))
		}
	}
	known, err := repo.Tips(ctx, record.SeenRefPrefix+y.Remote+"/")
	if err != nil {
		return false, err
	}
	var seen []git.RefUpdate
	for _, p := range refs {
		a, r := said[p.Name], runs[p.Name]
		switch {
		case refusal != nil && a.State != transport.PushOK: // it was not pushed because the branch was rejected
			if r != nil && r.State == SyncSame {
				r.State, r.Why = SyncWaits, fmt.Sprintf("operations that are not on %s: %d", y.Remote, p.Ops)
			}
			continue
		case a.State == transport.PushStale:
			again, y.beaten = true, a.Why
		case a.State == transport.PushOK:
			y.Pushed = true
		}
		if r != nil && r.pushed(p, a, y.Remote) {
			seen = append(seen, git.RefUpdate{
				Name: record.SeenRefPrefix + y.Remote + "/" + r.Run,
				New:  p.New,
				Old:  known[r.Run],
			})
		}
	}
	err = repo.UpdateRefs(ctx, seen, "agentxchain: pushed to "+text.OneLine(y.Remote))
	return again && refusal == nil, cmp.Or(refusal, err)
}

// aheadRefs returns the runs that are ahead of the remote, up to the operations whose commits it has, each ref with
// its run.
func aheadRefs(ctx context.Context, repo *git.Repository, y *Synced, opt SyncOptions) (refs []transport.RefPush,
	runs map[string]*SyncedRun, err error) {
	var ahead []*SyncedRun
	var lacks []chain.Range
	for _, r := range y.Runs {
		if r.Tip != "" && r.Tip != r.from && r.State != SyncRefused && r.State != SyncWaits && r.other == nil {
			ahead, lacks = append(ahead, r), append(lacks, chain.Range{Run: r.Run, After: r.from, To: r.Tip})
		}
	}
	lacking, err := chain.Ranges(ctx, repo, lacks)
	if err != nil {
		return nil, nil, err
	}
	runs = make(map[string]*SyncedRun)
	had := &remoteCommits{repo: repo, remote: y.Remote, branch: opt.Branch, known: make(map[string]bool)}
	for _, r := range ahead {
		ops := lacking[r.Run]
		if !opt.WithoutCommits {
			if ops, err = had.upTo(ctx, r, ops); err != nil {
				return nil, nil, err
			}
		}
		if len(ops) == 0 {
			continue
		}
		p := transport.RefPush{Name: git.RunRefPrefix + r.Run, New: ops[len(ops)-1].Op, Old: r.from, Ops: len(ops)}
		refs, runs[p.Name] = append(refs, p), r
	}
	return refs, runs, nil
}

// pushed notes the remote's answer to the push of a run, and reports whether it was accepted.
func (r *SyncedRun) pushed(p transport.RefPush, a transport.PushResult, remote string) bool {
	switch a.State {
	case transport.PushOK:
		r.Went, r.There, r.from = r.Went+p.Ops, p.New, p.New
		if r.State != SyncWaits { // the rest waits for a commit
			r.resettle(SyncWent)
		}
		return true
	case transport.PushRefused:
		r.State, r.Code = SyncRefused, transport.CodeRemoteRefused
		r.Why = remote + " does not take " + p.Name + ": " + a.Why
		r.Hint = "ask the administrator of the server to allow pushes to refs/agentxchain/* (runs and conflicts) there; the " +
			"operations stay here"
	}
	return false
}

// branchAlong returns the current branch if it is to be pushed too and has commits that the remote was not seen to
// have. A branch that is only behind is not pushed: it would be rejected, and the operation with it, although
// nothing has diverged.
func branchAlong(ctx context.Context, repo *git.Repository, remote string, along bool) []string {
	if !along {
		return nil
	}
	branch := branch(ctx, repo)
	if branch == "" {
		return nil
	}
	if there, err := repo.ReadRef(ctx, trackingBranch(remote, branch)); err == nil && there != "" {
		here, err := repo.ReadRef(ctx, branch)
		if err != nil || here == "" {
			return nil // no commit yet
		}
		if behind, err := history.Ancestor(ctx, repo, here, there); err == nil && behind {
			return nil
		}
	}
	return []string{branch}
}

// branch returns the current branch, "" for a detached HEAD.
func branch(ctx context.Context, repo *git.Repository) string {
	head, err := repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(head))
}

// trackingBranch returns the tracking ref of a remote's branch.
func trackingBranch(remote, branch string) string {
	return transport.TrackingRefs + remote + "/" + strings.TrimPrefix(branch, "refs/heads/")
}

// counterpart returns the current branch, and the remote's branch of the same name as last fetched; there is "" if
// either is missing.
func counterpart(ctx context.Context, repo *git.Repository,
	remote string) (here, tracking string, there object.OID, err error) {
	if here = branch(ctx, repo); here == "" {
		return "", "", "", nil
	}
	tracking = trackingBranch(remote, here)
	there, err = repo.ReadRef(ctx, tracking)
	return here, tracking, there, err
}

// FollowBranch fast-forwards to the remote's branch of the same name, with the files of the work tree, as git merge
// --ff-only does. It changes nothing if git would refuse: the branches have diverged, or a changed file is in the
// way.
func FollowBranch(ctx context.Context, repo *git.Repository, remote string) error {
	_, tracking, there, err := counterpart(ctx, repo, remote)
	if err != nil || there == "" {
		return err
	}
	if _, err := repo.Git.Run(ctx, nil, "merge", "--ff-only", "--quiet", "--", tracking); err != nil &&
		git.ExitCode(err) < 0 {
		return err
	}
	return nil
}

// BranchLacks says how many commits of the remote's branch, as last fetched, the current branch lacks; "" if it
// lacks none. A run that came from there may depend on their files.
func BranchLacks(ctx context.Context, repo *git.Repository, remote string) string {
	name, _, there, err := counterpart(ctx, repo, remote)
	if err != nil || there == "" {
		return ""
	}
	here, err := repo.ReadRef(ctx, name)
	if err != nil || here == "" || here == there {
		return ""
	}
	n, err := history.CommitsBetween(ctx, repo, here, there)
	if err != nil || n == 0 {
		return ""
	}
	name = strings.TrimPrefix(name, "refs/heads/")
	return fmt.Sprintf("%s lacks %s of %s; bring them here: git pull %s %s", name, text.Count(n, "commit", "commits"),
		remote, wire.ShellWord(remote), wire.ShellWord(name))
}

// lackingRefs returns the refs below a prefix that the remote lacks.
func lackingRefs(ctx context.Context, repo *git.Repository, prefix, tracking string) ([]transport.RefPush, error) {
	here, err := repo.Tips(ctx, prefix)
	if err != nil {
		return nil, err
	}
	there, err := repo.Tips(ctx, tracking)
	if err != nil {
		return nil, err
	}
	var out []transport.RefPush
	for name, oid := range here {
		if there[name] != oid {
			out = append(out, transport.RefPush{Name: prefix + name, New: oid, Old: there[name]})
		}
	}
	slices.SortFunc(out, func(a, b transport.RefPush) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// remoteCommits knows which commits of the project a remote has: those reachable from its branches, as last fetched or,
// for a commit that these lack, as the remote has them now.
type remoteCommits struct {
	repo     *git.Repository
	remote   string
	branch   bool // the current branch is pushed too
	branches []byte
	asked    bool // branches are those of now
	known    map[string]bool
}

// upTo cuts operations before the first whose commit the remote lacks, so that no record arrives before its
// commits, and notes it.
func (c *remoteCommits) upTo(ctx context.Context, r *SyncedRun, ops []chain.OpInfo) ([]chain.OpInfo, error) {
	for i, op := range ops {
		if op.CodeHead == "" {
			continue
		}
		had, asked := c.known[op.CodeHead]
		if !asked {
			var err error
			if had, err = c.has(ctx, object.OID(op.CodeHead)); err != nil {
				return nil, err
			}
			c.known[op.CodeHead] = had
		}
		if !had {
			r.resettle(SyncWaits)
			r.Code = "base_missing"
			r.Why = text.Count(len(ops)-i, "operation", "operations") + " made at commit " +
				object.OID(op.CodeHead).Short() + ", which " + c.remote + " does not have"
			r.Hint = c.bring(ctx, object.OID(op.CodeHead))
			return ops[:i], nil
		}
	}
	return ops, nil
}

// bring returns the command that gets a commit to the remote. After a rebase, or a squash on the server, no branch
// leads to the commit: then there is nothing to push.
func (c *remoteCommits) bring(ctx context.Context, commit object.OID) string {
	sync := "git agentxchain sync " + c.remote
	out, err := c.repo.Git.Run(ctx, nil, "for-each-ref", "--contains="+string(commit), "--format=%(refname)", "refs/heads/")
	on := strings.Fields(string(out))
	switch {
	case err == nil && len(on) == 0:
		return "no branch here leads to that commit; where it was rebased or squashed, the record goes without it: " + sync +
			" --without-commits; else: git push " + c.remote + " " + commit.Short() + ":refs/heads/NAME, then " + sync
	case err == nil && !slices.Contains(on, branch(ctx, c.repo)):
		return "git push " + c.remote + " " + wire.ShellWord(strings.TrimPrefix(on[0], "refs/heads/")) + ", then " + sync
	}
	return "git push " + c.remote + ", then " + sync + "; or both at once: " + sync + " --branch"
}

func (c *remoteCommits) has(ctx context.Context, commit object.OID) (bool, error) {
	if !commit.Valid(c.repo.ObjectFormat) || !c.repo.HasCommit(ctx, commit) {
		return true, nil // it is not ours to push
	}
	if c.branch {
		if on, err := gitstore.HeadCommit(ctx, c.repo); err == nil && on != "" {
			if in, err := history.Ancestor(ctx, c.repo, commit, on); err != nil || in {
				return in, err
			}
		}
	}
	if c.branches == nil {
		tips, err := c.repo.Tips(ctx, transport.TrackingRefs+c.remote+"/")
		if err != nil {
			return false, err
		}
		c.branches = []byte{}
		for name, tip := range tips {
			if !strings.HasPrefix(name, "agentxchain/") {
				c.branches = append(c.branches, "^"+tip+"\n"...)
			}
		}
	}
	in, err := c.inBranches(ctx, commit)
	if err != nil || in || c.asked {
		return in, err
	}
	// A clone of one branch, as --depth makes it, does not note what is pushed to others.
	c.asked = true
	there, err := transport.Heads(ctx, c.repo, c.remote, "refs/heads/")
	if err != nil {
		return false, ctx.Err() // it was reached a moment ago; without an answer the record waits
	}
	for _, tip := range there {
		if c.repo.HasCommit(ctx, tip) {
			c.branches = append(c.branches, "^"+tip+"\n"...)
		}
	}
	return c.inBranches(ctx, commit)
}

// inBranches reports that a commit is reachable from the branches.
func (c *remoteCommits) inBranches(ctx context.Context, commit object.OID) (bool, error) {
	out, err := c.repo.Git.Run(ctx, append([]byte(commit+"\n"), c.branches...), "rev-list", "--max-count=1", "--stdin")
	return len(out) == 0, err
}
