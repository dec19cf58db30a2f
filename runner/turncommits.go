// Commits made during a turn: they are judged as part of it unless a person takes them out.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// TurnCommits holds the commits made during an active turn.
type TurnCommits struct {
	Turn    *run.Turn
	Head    object.OID // the branch's tip, "" when it has no commit
	Commits []history.TurnCommit
	More    bool // there are others
}

// TurnCommits lists the commits that were made since an active turn began, the newest
// first. turnID may be "" for the only active turn.
func (r *Runner) TurnCommits(ctx context.Context, turnID string) (*TurnCommits, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	turn, refusal := run.ResolveTurn(v.State, turnID, "reissue")
	if refusal != nil {
		return nil, unasked(v, refusal)
	}
	out := &TurnCommits{Turn: turn}
	repo := r.store.Repository()
	if out.Head, _, err = repo.Checkout(ctx); err != nil {
		return nil, err
	}
	out.Commits, out.More, err = history.CommitsSince(ctx, repo, observe.HeadOf(turn.Baseline), out.Head,
		observe.MaxCommits)
	return out, err
}

// rebase chooses the baseline of a reissued turn. It is the present work tree when no commit was
// made since the old turn began, or when a person takes the commits out.
func (c *change) rebase(ctx context.Context, op *protocol.ReissueTurn, old *run.Turn, now *run.Baseline,
	opt ReissueOptions) error {
	moved := old.Baseline != nil && observe.HeadOf(old.Baseline) != observe.HeadOf(now)
	if !moved {
		op.Baseline = now
		return nil
	}
	if !opt.TakeCommits {
		op.Keep = true
		return nil
	}
	if err := c.r.personOnly("take commits out of a turn",
		"git agentxchain reissue "+old.TurnID+" --take-commits"); err != nil {
		return err
	}
	if opt.Head != observe.HeadOf(now) {
		return headMoved("git agentxchain reissue " + old.TurnID + " --take-commits")
	}
	since, more, err := history.CommitsSince(ctx, c.r.store.Repository(), observe.HeadOf(old.Baseline),
		observe.HeadOf(now),
		observe.MaxCommits)
	if err != nil {
		return err
	}
	if more {
		return &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "head",
			Message: fmt.Sprintf("More than %d commits were made since turn %s began.", observe.MaxCommits,
				old.TurnID),
			Hint: "git agentxchain reject " + old.TurnID +
				" --reason TEXT, or go back to the branch the turn began on",
		}
	}
	op.Baseline = now
	for _, k := range since {
		op.Taken = append(op.Taken, commits.TakenCommit{
			Commit:  string(k.OID),
			Author:  k.Author,
			Subject: k.Subject,
			Files:   k.Files,
		})
	}
	return nil
}

// headMoved refuses to take commits that a person has not seen.
func headMoved(hint string) *wire.Error {
	return &wire.Error{
		Code:    gitstore.CodeStateMoved,
		Field:   "head",
		Message: "Another commit was made since the commits were shown.",
		Hint:    hint,
	}
}
