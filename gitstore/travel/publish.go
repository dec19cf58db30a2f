// Operations that count only when the remote has accepted them.

package travel

import (
	"context"
	"errors"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// PublishStrict moves the ref of an operation first on the remote, by compare-and-swap, and here once the remote
// has accepted it. A remote that has moved is ref_moved: the operation must be decided again on the remote's state.
func PublishStrict(ctx context.Context, repo *git.Repository, remote string, m decision.Move, branch bool) error {
	p := transport.RefPush{Name: m.Ref.Name, New: m.Ref.New, Old: m.Ref.Old}
	said, err := transport.Push(ctx, repo, remote, []transport.RefPush{p}, branchAlong(ctx, repo, remote, branch)...)
	a, err := settlePush(ctx, repo, remote, p, said[p.Name], err)
	if err != nil {
		return err
	}
	switch a.State {
	case transport.PushOK:
	case transport.PushStale:
		return fail.Errorf(fail.CodeRefMoved, nil, "another machine recorded an operation on %s first",
			remote).WithHint("run the command again")
	default:
		return fail.Errorf(transport.CodeRemoteRefused, nil, "%s does not take %s: %s", remote, p.Name, a.Why).
			WithHint("ask the administrator of the server to allow pushes to refs/agentxchain/*; nothing was recorded")
	}
	if err := decision.Alone(ctx, repo, m); err != nil {
		return err
	}
	run := strings.TrimPrefix(m.Ref.Name, git.RunRefPrefix)
	seen := git.RefUpdate{Name: record.SeenRefPrefix + remote + "/" + run, New: p.New}
	if seen.Old, err = repo.ReadRef(ctx, seen.Name); err != nil || seen.Old == seen.New {
		return nil
	}
	// the next sync notes it
	_ = repo.UpdateRefs(ctx, []git.RefUpdate{seen}, "agentxchain: pushed to "+text.OneLine(remote))
	return nil
}

// settlePush asks the remote for the outcome of a push whose answer got lost, or that seems to have come too late:
// so does one that arrived twice.
func settlePush(
	ctx context.Context, repo *git.Repository, remote string, p transport.RefPush,
	a transport.PushResult, err error,
) (transport.PushResult, error) {
	lost := fail.CodeOf(err) == transport.CodeRemoteFailed
	if !lost && (err != nil || a.State != transport.PushStale) {
		return a, err
	}
	there, asked := transport.Ref(ctx, repo, remote, p.Name)
	switch {
	case asked == nil && there == p.New:
		return transport.PushResult{State: transport.PushOK}, nil
	case !lost:
		return a, nil
	case asked != nil:
		return a, fail.Errorf(transport.CodeRemoteFailed, nil, "%s did not say whether it recorded the operation: %s",
			remote, transport.Complaint(asked)).
			WithHint("git agentxchain sync %s brings the operation here if it did", remote)
	case there != p.Old:
		return transport.PushResult{State: transport.PushStale}, nil
	}
	if e, ok := errors.AsType[*fail.Error](err); ok {
		err = e.WithHint("it was not recorded; run the command again")
	}
	return a, err
}
