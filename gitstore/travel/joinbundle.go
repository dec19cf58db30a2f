// A run in a bundle that has new operations on both sides: joined here, as a sync joins with a remote
// (docs/restore.md#both-sides-went-on).

package travel

import (
	"context"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// JoinedBundle is the outcome of JoinBundle.
type JoinedBundle struct {
	*gitstore.Joined

	Came    int // operations of the bundle that were not here
	Notices []string
}

// JoinBundle joins the run of this work tree with the one of that name in b, whose relation is
// bundle.Diverged: the operations made here are decided again after those in the bundle. The other refs of the
// bundle move too. The caller has judged the bundle.
//
// Errors: ref_moved, history_diverged when the work tree is in another run, turn_at_work, base_missing,
// history_invalid, run_unproven, locked, and those of Begin.
func JoinBundle(ctx context.Context, s *gitstore.Store, b *bundle.Bundle, run string, wait time.Duration,
	reindex gitstore.Reindex,
) (*JoinedBundle, error) {
	repo := s.Repository()
	tx, err := s.Begin(ctx, "restore", wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	out := &JoinedBundle{Notices: tx.View().Notices}
	theirs, judged := b.Tips(run)
	ours, err := chain.Tip(ctx, repo, run)
	if err != nil {
		return nil, err
	}
	if ours != judged {
		return nil, fail.Errorf(fail.CodeRefMoved, nil, "run %s moved while it was compared", text.OneLine(run)).
			WithHint("run the command again")
	}
	if e := MayJoin(ctx, s, b, run); e != nil {
		return nil, e
	}
	err = s.Bringing(ctx, b, func() error {
		if err := believeBoth(ctx, repo, run, ours, theirs); err != nil {
			return err
		}
		if err := b.JoinWitnesses(ctx, repo); err != nil {
			return err
		}
		if err := repo.UpdateRefs(ctx, b.Updates(run), "agentxchain: restored"); err != nil {
			return err
		}
		out.Joined, out.Came, err = joinRun(ctx, s, run, ours, theirs, reindex)
		return err
	})
	if err == nil {
		_, err = s.SettleJoin(ctx)
	}
	return out, err
}

// MayJoin says what keeps the run in b from being joined now, nil for nothing: a work tree that is in another run, a
// turn at work here, or a commit of the project that the newest operation in the bundle was made at and that is not here.
func MayJoin(ctx context.Context, s *gitstore.Store, b *bundle.Bundle, run string) *wire.Error {
	if s.CurrentRun() != run {
		return &wire.Error{
			Code:    bundle.CodeHistoryDiverged,
			Field:   "run_id",
			Message: "Both sides have new operations of run " + text.OneLine(run) + ", and this work tree is not in it.",
			Hint:    "git agentxchain repair --from-ref " + run + ", then try again",
		}
	}
	if held := s.AgentsAtWork().Held; len(held) > 0 {
		return &wire.Error{
			Code:    "turn_at_work",
			Field:   "active_turns",
			Message: "Both sides have new operations, and turn " + text.OneLine(held[0]) + " is at work here.",
			Hint:    "try again when it has ended",
		}
	}
	there, _ := b.Tips(run)
	head := chain.CodeHead(ctx, b.Repo, there)
	if head == "" || len(history.ShallowCommits(s.Repository())) > 0 || s.Repository().HasCommit(ctx, head) {
		return nil
	}
	return &wire.Error{
		Code:    fail.CodeBaseMissing,
		Field:   "workspace.git.head_sha",
		Message: "The newest operation to be restored was made at commit " + head.Short() + ", which is not here.",
		Hint:    "git pull fetches the commit from the repository that has it; then try again",
	}
}

// believeBoth verifies both sides of a run.
func believeBoth(ctx context.Context, repo *git.Repository, run string, ours, theirs object.OID) error {
	v, err := proof.Verify(ctx, repo, run, theirs)
	if err != nil {
		return err
	}
	if !v.Sound() {
		return bundle.Bad(nil, "operation %s of run %s is not believed: %s", v.Findings[0].Op.Short(), text.OneLine(run),
			text.OneLine(v.Findings[0].Message))
	}
	return proof.Believe(ctx, repo, run, ours)
}

// joinRun decides again on what was done here of a run and moves its ref. came counts the operations of the other side.
func joinRun(ctx context.Context, s *gitstore.Store, run string, ours, theirs object.OID, reindex gitstore.Reindex,
) (j *gitstore.Joined, came int, err error) {
	if j, err = s.JoinRun(ctx, run, ours, theirs, reindex); err != nil {
		return nil, 0, err
	}
	if came, err = countOps(ctx, s.Repository(), j.Base, theirs); err != nil {
		return nil, 0, err
	}
	return j, came, s.CommitJoin(ctx, j, ours)
}
