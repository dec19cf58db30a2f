// Commits of a person since a turn began, for an operation that takes them in
// (docs/spec/observation.md#commits-of-a-person).

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxReconciled is how many commits one reconciliation takes.
const maxReconciled = 1000

// Reconciliation gathers the commits up to head that a person can take in: those since the run's oldest active turn
// began, or since what was last accepted.
//
// Errors: missing_baseline, history_rewrite, invalid_argument.
func Reconciliation(ctx context.Context, repo *git.Repository, v *gitstore.View,
	head object.OID) (*commits.ReconcileCommits, error) {
	op := &commits.ReconcileCommits{
		Head:    string(head),
		Commits: []commits.TakenCommit{},
		Turns:   []commits.ReconciledTurn{},
	}
	for id, turn := range v.State.ActiveTurns.All() {
		base := HeadOf(turn.Baseline)
		switch {
		case base == head:
			continue
		case base == "":
			return nil, &wire.Error{
				Code:    commits.CodeMissingBaseline,
				Field:   "active_turns." + id,
				Message: "Turn " + id + " began before the first commit; no commit can be taken out of it.",
				Hint:    "git agentxchain accept " + wire.ShellWord(id),
			}
		}
		since, err := commitsTo(ctx, repo, base, head)
		if err != nil {
			return nil, err
		}
		var files []string
		for _, k := range since {
			files = append(files, k.Files...)
		}
		slices.Sort(files)
		op.Turns = append(op.Turns, commits.ReconciledTurn{TurnID: id, Files: wire.NonNil(slices.Compact(files))})
		if len(since) > len(op.Commits) {
			op.Baseline, op.Commits = string(base), takenCommits(since)
		}
	}
	if len(op.Turns) == 0 && v.State.ActiveTurns.Len() == 0 {
		base := standsAt(v, repo.ObjectFormat)
		if base == "" {
			if refusal := config.Refusal(v.ConfigProblems); refusal != nil {
				return nil, refusal
			}
			return nil, &wire.Error{
				Code:    commits.CodeMissingBaseline,
				Field:   "accepted_integration_ref",
				Message: "The record does not say at which commit the run was.",
				Hint:    run.TurnHint(v.State),
			}
		}
		since, err := commitsTo(ctx, repo, base, head)
		if err != nil {
			return nil, err
		}
		op.Baseline, op.Commits = string(base), takenCommits(since)
	}
	if len(op.Commits) == 0 {
		return op, nil
	}
	for _, k := range op.Commits {
		for _, f := range k.Files {
			if protocol.KeptPath(v.Config, f) && !slices.Contains(op.Protected, f) {
				op.Protected = append(op.Protected, f)
			}
		}
	}
	gone, err := history.DeletedSince(ctx, repo, object.OID(op.Baseline), head, commits.CriticalArtifact)
	op.Deleted = string(gone)
	return op, err
}

// commitsTo lists the commits from base to head, the newest first.
func commitsTo(ctx context.Context, repo *git.Repository, base, head object.OID) ([]history.TurnCommit, error) {
	ok, err := history.Ancestor(ctx, repo, base, head)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &wire.Error{
			Code:  commits.CodeHistoryRewrite,
			Field: "head",
			Message: fmt.Sprintf(
				"Baseline %.8s is no ancestor of HEAD %.8s: the history was rewritten, or another branch is checked out.", base, head),
			Hint: "go back to the branch the turn began on, then: git agentxchain reconcile --show; after a rebase: git agentxchain reissue --take-commits",
		}
	}
	since, more, err := history.CommitsSince(ctx, repo, base, head, maxReconciled)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "head",
			Message: fmt.Sprintf("More than %d commits were made since %.8s.", maxReconciled, base),
			Hint:    "git agentxchain reissue --take-commits",
		}
	}
	return since, nil
}

func takenCommits(list []history.TurnCommit) []commits.TakenCommit {
	out := []commits.TakenCommit{}
	for _, k := range slices.Backward(list) {
		out = append(out, commits.TakenCommit{
			Commit:  string(k.OID),
			Author:  k.Author,
			Subject: k.Subject,
			Files:   wire.NonNil(k.Files),
		})
	}
	return out
}

// standsAt returns the commit of a run without active turns.
func standsAt(v *gitstore.View, format string) object.OID {
	refs := []string{wire.OrEmpty(v.State.AcceptedIntegrationRef), v.State.LastCompletedTurn.String("checkpoint_sha")}
	for _, ref := range refs {
		id := object.OID(strings.TrimPrefix(ref, "git:"))
		if id.Valid(format) {
			return id
		}
	}
	return ""
}
