// Reconcile: commits a person made while turns are at work are taken into what they
// start from (docs/spec/observation.md#commits-of-a-person).

package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// maxReconciled is how many commits one reconciliation takes.
const maxReconciled = 1000

// Unreconciled are the commits that a reconciliation would take in.
type Unreconciled struct {
	Baseline object.OID
	Head     object.OID
	Commits  []commits.TakenCommit // oldest first
	Turns    []string              // active turns that began before them
	Unsafe   error                 // why they are not taken, nil when they can be
}

// Reconciled is the outcome of Reconcile.
type Reconciled struct {
	Done
	Result *commits.ReconcileResult
}

// ReconcileOptions says what a person has looked at.
type ReconcileOptions struct {
	Head    object.OID // the commit that was shown; "" for whatever is checked out
	Reason  string
	Consent ConsentOptions
}

// Unreconciled lists the commits made since the run's baseline: where its oldest turn at
// work began, or what was last accepted. Nothing is changed.
func (r *Runner) Unreconciled(ctx context.Context) (*Unreconciled, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	head, _, err := r.store.Repository().Checkout(ctx)
	if err != nil {
		return nil, err
	}
	op, err := r.reconciliation(ctx, v, head)
	if err != nil {
		return nil, err
	}
	out := &Unreconciled{Baseline: object.OID(op.Baseline), Head: head, Commits: op.Commits}
	for _, t := range op.Turns {
		out.Turns = append(out.Turns, t.TurnID)
	}
	env := protocol.Env{Now: r.Now(), Git: evidence.GitFacts{Head: string(head)}}
	if _, refusal := protocol.Apply(v.Snapshot(), op, env); refusal != nil && len(op.Commits) > 0 &&
		unsafeCommit(refusal.Code) {
		out.Unsafe = refusal
	}
	return out, nil
}

func unsafeCommit(code string) bool {
	return code == commits.CodeGovernedCommit || code == commits.CodeProtectedCommit ||
		code == commits.CodeCriticalDeleted
}

// Reconcile takes the commits in. Staged results stay as they are.
//
// Errors: missing_baseline, history_rewrite, governance_state_modified,
// protected_path_modified, critical_artifact_deleted, nothing_to_reconcile, state_moved,
// inside_dispatched_turn, invalid_state_transition.
func (r *Runner) Reconcile(ctx context.Context, opt ReconcileOptions) (*Reconciled, error) {
	out := &Reconciled{}
	done, err := r.do(ctx, "reconcile", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.r.personOnly("take commits out of its own work", "git agentxchain reconcile"); err != nil {
			return nil, err
		}
		st, err := c.look(ctx)
		if err != nil {
			return nil, err
		}
		if opt.Head != "" && opt.Head != st.Head {
			return nil, &wire.Error{
				Code:    gitstore.CodeStateMoved,
				Field:   "head",
				Message: "Another commit was made since the commits were shown.",
				Hint:    "git agentxchain reconcile --show",
			}
		}
		op, err := r.reconciliation(ctx, c.view, st.Head)
		if err != nil {
			return nil, err
		}
		op.Reason = opt.Reason
		op.Consent, err = c.consent(ctx, consent.Question{
			Decision: attest.Reconcile,
			Reason:   opt.Reason,
			Rules: func(given *agreement.Consent) []*config.GateRule {
				return agreement.ActRules(c.view.Config, given)
			},
		}, opt.Consent)
		return &plan{op: op}, err
	})
	out.Done = *done
	if err == nil && done.Transition != nil {
		out.Result, _ = done.Transition.Result.(*commits.ReconcileResult)
	}
	return out, err
}

// reconciliation gathers what there is to take in.
func (r *Runner) reconciliation(ctx context.Context, v *gitstore.View, head object.OID) (*commits.ReconcileCommits,
	error) {
	op := &commits.ReconcileCommits{
		Head:    string(head),
		Commits: []commits.TakenCommit{},
		Turns:   []commits.ReconciledTurn{},
	}
	repo := r.store.Repository()
	for id, turn := range v.State.ActiveTurns.All() {
		base := observe.HeadOf(turn.Baseline)
		if base == "" || base == head {
			continue
		}
		since, err := r.commitsTo(ctx, base, head)
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
				Message: "Nothing says at which commit the run stood.",
				Hint:    run.TurnHint(v.State),
			}
		}
		since, err := r.commitsTo(ctx, base, head)
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
func (r *Runner) commitsTo(ctx context.Context, base, head object.OID) ([]history.TurnCommit, error) {
	repo := r.store.Repository()
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

// standsAt is the commit of a run without turns at work.
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
