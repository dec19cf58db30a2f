// Confirm: a person answers for what another tool, a restore or a copied file passed.

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// Claim is a step that the run says was passed and that its record cannot prove.
type Claim = proof.Claim

// ConfirmOptions says what to confirm.
type ConfirmOptions struct {
	// Shown are the claims the person has seen; when others are open by now nothing is confirmed
	// (state_moved). nil confirms all open claims.
	Shown  []Claim
	Reason string // recorded; may be empty

	Consent ConsentOptions
}

// Confirmed is the outcome of Confirm.
type Confirmed struct {
	Done
	Claims []Claim
	Upto   OpID // the newest confirmed operation; all before it are confirmed too
}

// Confirm lifts every open claim of the run. The record says who did it, whether at a terminal, and
// up to which operation and state. It is refused inside a dispatched turn.
//
// Errors: inside_dispatched_turn, nothing_to_confirm, state_moved, and those of every
// change.
func (r *Runner) Confirm(ctx context.Context, opt ConfirmOptions) (*Confirmed, error) {
	return r.confirm(ctx, "confirm", opt)
}

func (r *Runner) confirm(ctx context.Context, purpose string, opt ConfirmOptions) (*Confirmed, error) {
	out := &Confirmed{}
	done, err := r.do(ctx, purpose, func(ctx context.Context, c *change) (*plan, error) {
		if refusal := protocol.CheckConfirmable(c.view.State, c.env.Actor); refusal != nil {
			return nil, refusal
		}
		out.Claims, out.Upto = c.tx.Open(), c.view.Op
		if opt.Shown != nil && !sameClaims(opt.Shown, out.Claims) {
			return nil, &wire.Error{
				Code:    gitstore.CodeStateMoved,
				Field:   "claims",
				Message: "What waits for confirmation has changed since it was shown.",
				Hint:    "git agentxchain confirm --show",
			}
		}
		op := &protocol.Confirm{
			Upto:   string(out.Upto),
			State:  wire.Digest(c.view.StateBytes),
			Claims: make([]external.Claim, len(out.Claims)),
			Reason: opt.Reason,
		}
		for i, x := range out.Claims {
			op.Claims[i] = x.Claim
		}
		if !opt.Consent.Needed(c.view.Config) {
			return &plan{op: op}, nil
		}
		if _, err := c.look(ctx); err != nil {
			return nil, err
		}
		var err error
		op.Consent, err = c.consent(ctx, consent.Question{
			Decision: attest.AcceptWorking,
			Rules: func(given *agreement.Consent) []*config.GateRule {
				return agreement.ConfirmationRules(c.view.Config, given, op.Claims)
			},
		}, opt.Consent)
		return &plan{op: op}, err
	})
	out.Done = *done
	return out, err
}

// sameClaims compares claims, regardless of where they are recorded by now.
func sameClaims(a, b []Claim) bool {
	return slices.EqualFunc(a, b, func(x, y Claim) bool { return x.Claim == y.Claim })
}

// builds returns the purposes that begin with something irreversible, such as hooks and gate
// actions, before their operation is committed.
func builds() []string {
	return []string{"approve", "withdraw", "accept", "advance", "reissue", "unblock", "checkpoint", "queue-charters",
		"dispatch", "assign", "init-run", "refresh"}
}

// unconfirmed refuses to begin an operation that could not be committed.
func (c *change) unconfirmed(purpose string) error {
	if open := c.tx.Open(); len(open) > 0 && slices.Contains(builds(), purpose) {
		return gitstore.Unconfirmed(c.view.Run, open)
	}
	return nil
}
