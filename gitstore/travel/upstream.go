// What a remote's branches brought into the current branch, according to the remote itself
// (docs/spec/observation.md#commits-that-were-pulled).

package travel

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

// Upstream is a branch of a remote, up to what the current branch has.
type Upstream struct {
	Remote string
	Branch string     // without refs/heads/
	Commit object.OID // its newest commit reachable from HEAD
}

// Upstreams lists the branches of the remote that brought head commits which base does not have: the one that the
// current branch follows, and the remote's default branch. It asks the remote for both, because anyone can write
// its tracking refs here; it asks only if those refs say that something was brought, and not only commits made in
// this clone, which the second result lists. A branch contained in another one of the list is left out. Without a
// reflog that leads to head the list is empty: a pulled commit could not be told from one made here.
//
// Errors: remote_failed.
func Upstreams(
	ctx context.Context, repo *git.Repository, branch string, base, head object.OID,
) (list []Upstream, made map[object.OID]bool, err error) {
	remote, err := transport.PickRemote(ctx, repo, "")
	if fail.CodeOf(err) == transport.CodeNoRemote {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	names, made, err := followed(ctx, repo, remote, branch, base, head)
	if len(names) == 0 || err != nil {
		return nil, nil, err
	}
	ask, stop := transport.Within(ctx, transport.AskLimit)
	defer stop()
	there, err := transport.Heads(ask, repo, remote, names...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		return nil, nil, fail.Errorf(transport.CodeRemoteFailed, nil, "%s could not be asked for its branches: %s",
			remote, transport.Complaint(err)).
			WithHint("git ls-remote %s shows more", remote)
	}
	for _, name := range names {
		tip := there[name]
		if tip == "" {
			continue
		}
		if !repo.HasCommit(ctx, tip) { // it has moved on since the pull
			if err := transport.Fetch(ask, repo, remote, "--refmap=", name); err != nil || !repo.HasCommit(ctx, tip) {
				continue
			}
		}
		commit, err := broughtBy(ctx, repo, tip, base, head)
		if err != nil {
			return nil, nil, err
		}
		if commit != "" {
			list = append(list, Upstream{
				Remote: remote,
				Branch: strings.TrimPrefix(name, "refs/heads/"),
				Commit: commit,
			})
		}
	}
	list, err = outermost(ctx, repo, list)
	return list, made, err
}

// followed returns the refs of the remote that seem to have brought something, and lists the commits made here if
// it needed to know them.
func followed(
	ctx context.Context, repo *git.Repository, remote, branch string, base, head object.OID,
) (seem []string, made map[object.OID]bool, err error) {
	tracking := transport.TrackingRefs + remote + "/"
	var names []string
	if branch != "" && repo.Setting(ctx, "branch."+branch+".remote") == remote {
		if up, ok := strings.CutPrefix(repo.Setting(ctx, "branch."+branch+".merge"), "refs/heads/"); ok {
			names = append(names, up)
		}
	}
	if out, err := repo.Git.Run(ctx, nil, "symbolic-ref", "--quiet", tracking+"HEAD"); err == nil {
		if def, ok := strings.CutPrefix(strings.TrimSpace(string(out)), tracking); ok &&
			(len(names) == 0 || names[0] != def) {
			names = append(names, def)
		}
	}
	for _, name := range names {
		tip, err := repo.ReadRef(ctx, tracking+name)
		if err != nil {
			return nil, nil, err
		}
		if tip == "" {
			continue
		}
		commit, err := broughtBy(ctx, repo, tip, base, head)
		if err != nil {
			return nil, nil, err
		}
		if commit == "" {
			continue
		}
		if made == nil { // the reflogs are long, and read only if needed
			var known bool
			if made, known, err = history.CommitsMadeHere(ctx, repo, head); err != nil || !known {
				return nil, nil, err
			}
		}
		out, err := repo.Git.Run(ctx, nil, "rev-list", string(commit), "^"+string(base))
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return !made[object.OID(id)] }) {
			seem = append(seem, "refs/heads/"+name)
		}
	}
	return seem, made, nil
}

// broughtBy returns the newest commit of a branch that head has, "" when base has it too.
func broughtBy(ctx context.Context, repo *git.Repository, tip, base, head object.OID) (object.OID, error) {
	commit, err := history.MergeBase(ctx, repo, tip, head)
	if commit == "" || err != nil {
		return "", err
	}
	old, err := history.Ancestor(ctx, repo, commit, base)
	if old || err != nil {
		return "", err
	}
	return commit, nil
}

// outermost leaves out ancestors of others in the list.
func outermost(ctx context.Context, repo *git.Repository, list []Upstream) ([]Upstream, error) {
	if len(list) != 2 {
		return list, nil
	}
	for i, u := range list {
		inner, err := history.Ancestor(ctx, repo, u.Commit, list[1-i].Commit)
		if err != nil {
			return nil, err
		}
		if inner {
			return list[1-i : 2-i], nil
		}
	}
	return list, nil
}
