// Reconcile: commits that a person made while turns are active become part of what these turns
// start from (docs/spec/observation.md#commits-of-a-person).

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// Unreconciled holds the commits that a reconciliation would take in.
type Unreconciled struct {
	Baseline object.OID
	Head     object.OID
	Commits  []commits.TakenCommit // oldest first
	Turns    []string              // active turns that began before them
	Unsafe   error                 // why they cannot be taken in, nil when they can
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

// Unreconciled lists the commits made since the run's baseline: where its oldest active turn began,
// or what was last accepted. It changes nothing.
func (r *Runner) Unreconciled(ctx context.Context) (*Unreconciled, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	head, _, err := r.store.Repository().Checkout(ctx)
	if err != nil {
		return nil, err
	}
	op, err := observe.Reconciliation(ctx, r.store.Repository(), v, head)
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

// Reconcile takes in the commits. Staged results stay as they are.
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
			return nil, headMoved("git agentxchain reconcile --show")
		}
		op, err := observe.Reconciliation(ctx, r.store.Repository(), c.view, st.Head)
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
	out.Done, out.Result = *done, resultOf[*commits.ReconcileResult](done, err)
	return out, err
}
