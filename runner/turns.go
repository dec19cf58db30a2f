// Reject, reissue, escalate, unblock, block: the other operations on turns and runs.

package runner

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// RejectOptions says which turn to send back and why.
type RejectOptions struct {
	TurnID   string
	Reason   string
	Stage    string   // failed stage; human_review when ""
	Errors   []string // validation errors to hand to the next attempt
	Reassign bool
	CostUSD  float64 // what the attempt cost, when its result does not say

	Lease *lease.Holder // who asks, when the turn is carried out under a lease
}

// Rejected is the outcome of RejectTurn.
type Rejected struct {
	Done
	Result *protocol.RejectResult
}

// RejectTurn sends a turn back for another attempt. The refused result is kept;
// the next attempt gets a fresh bundle that says what was wrong.
func (r *Runner) RejectTurn(ctx context.Context, opt RejectOptions) (*Rejected, error) {
	out := &Rejected{}
	done, err := r.do(ctx, "reject", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.hooks.WillRun(ctx, "after_dispatch"); err != nil {
			return nil, err
		}
		op := &protocol.RejectTurn{
			TurnID:   opt.TurnID,
			Reason:   opt.Reason,
			Stage:    opt.Stage,
			Errors:   opt.Errors,
			Reassign: opt.Reassign,
		}
		turn := c.target(opt.TurnID)
		if turn == nil {
			return &plan{op: op}, nil
		}
		if err := c.admitted(ctx, turn, opt.Lease, c.rejectedLease); err != nil {
			return nil, err
		}
		if c.lease != nil {
			op.Lease = c.lease.Lease.With(run.LeaseRejected)
		}
		base, err := c.baseline(ctx)
		if err != nil {
			return nil, err
		}
		// One turn, one baseline: the commits of an attempt are still the turn's.
		if op.Keep = turn.Baseline != nil; !op.Keep {
			op.Baseline = base
		}
		c.r.KeepLog(turn.TurnID, turn.Attempt)
		s, err := c.refused(turn.TurnID)
		if err != nil {
			return nil, err
		}
		if s.Counts() {
			op.Staged = evidence.NewBlob(s.Data)
			op.Cost = attemptCost(s)
		}
		op.Cost = max(op.Cost, opt.CostUSD)
		return &plan{op: op, bundle: c.bundling(&bundling{})}, nil
	})
	out.Done, out.Result = *done, resultOf[*protocol.RejectResult](done, err)
	return out, err
}

// attemptCost returns what a refused result says it cost, 0 when the number is invalid.
func attemptCost(s turnfiles.Staged) float64 {
	doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
	if refusal != nil {
		return 0
	}
	usd, ok := doc.Object("cost").Float("usd")
	if !ok {
		usd, _ = doc.Object("cost").Float("total_usd")
	}
	return max(0, usd)
}

// target returns the active turn that id names, or nil when the engine has to refuse.
func (c *change) target(id string) *run.Turn {
	if id == "" {
		return c.view.State.OnlyTurn()
	}
	return c.view.State.ActiveTurns.Value(id)
}

// ReissueOptions says which turn to replace.
type ReissueOptions struct {
	TurnID string
	Role   string // "" keeps the role
	Reason string

	// TakeCommits begins the new turn after the commits made during the old one: a person has
	// looked at them (Runner.TurnCommits) and takes them out of the turn. Without it they stay part
	// of the work. Head is the commit that was looked at.
	TakeCommits bool
	Head        object.OID
}

// Reissued is the outcome of ReissueTurn.
type Reissued struct {
	Done
	Kept   bool // commits made since the old turn began stay part of the work
	Result *protocol.ReissueResult
}

// ReissueTurn gives up an active turn and dispatches a new one for its work.
func (r *Runner) ReissueTurn(ctx context.Context, opt ReissueOptions) (*Reissued, error) {
	out := &Reissued{}
	done, err := r.do(ctx, "reissue", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.hooks.WillRun(ctx, "before_assignment", "after_dispatch"); err != nil {
			return nil, err
		}
		op := &protocol.ReissueTurn{TurnID: opt.TurnID, Role: opt.Role, Reason: opt.Reason}
		turn := c.target(opt.TurnID)
		if turn == nil {
			return &plan{op: op}, nil
		}
		if err := c.admitted(ctx, turn, nil, nil); err != nil {
			return nil, err
		}
		c.r.KeepLog(turn.TurnID, turn.Attempt)
		s, err := c.refused(turn.TurnID)
		if err != nil {
			return nil, err
		}
		if s.Path != wire.FlatStagingPath && s.Counts() {
			op.Staged = evidence.NewBlob(s.Data)
		}
		base, err := c.baseline(ctx)
		if err != nil {
			return nil, err
		}
		if err := c.rebase(ctx, op, turn, base, opt); err != nil {
			return nil, err
		}
		out.Kept = op.Keep
		return &plan{op: op, bundle: c.bundling(&bundling{})}, c.beforeAssignment(ctx, op)
	})
	out.Done, out.Result = *done, resultOf[*protocol.ReissueResult](done, err)
	return out, err
}

// Blocked is the outcome of Escalate and MarkRunBlocked.
type Blocked struct {
	Done
	Result *protocol.BlockResult
}

// Escalate stops the run until a person has decided.
func (r *Runner) Escalate(ctx context.Context, op protocol.Escalate) (*Blocked, error) {
	return r.blocked(ctx, "escalate", &op)
}

// MarkRunBlocked stops the run with a complete descriptor of what blocks it.
func (r *Runner) MarkRunBlocked(ctx context.Context, op protocol.Block) (*Blocked, error) {
	return r.blocked(ctx, "block", &op)
}

func (r *Runner) blocked(ctx context.Context, purpose string, op protocol.Operation) (*Blocked, error) {
	out := &Blocked{}
	done, err := r.simple(ctx, purpose, op)
	out.Done, out.Result = *done, resultOf[*protocol.BlockResult](done, err)
	return out, err
}

// simple runs an operation that needs nothing from the work tree but its head.
func (r *Runner) simple(ctx context.Context, purpose string, op protocol.Operation) (*Done, error) {
	return r.do(ctx, purpose, func(ctx context.Context, c *change) (*plan, error) {
		_, err := c.look(ctx)
		return &plan{op: op}, err
	})
}

// Reactivated is the outcome of ReactivateRun.
type Reactivated struct {
	Done
	Result *protocol.ReactivateResult
}

// ReactivateOptions says which block to lift.
type ReactivateOptions struct {
	EscalationID string // refuse unless this record is the current blocker; "" for whatever blocks the run
	Via          string // how it was settled, for the record; operator_unblock when ""
	Reason       string // why, for the record; needed with AsIs
	AsIs         bool   // once accept what a policy or hook has stopped
	Consent      ConsentOptions
	// operation the decision was based on (LoadedState.Op); state_moved when the run has gone on since
	Seen object.OID
}

// ReactivateRun lifts the current block: a person's decision, refused inside a dispatched turn. The
// recorded state under the lock counts, never a caller's copy
// (docs/compatibility.md#where-we-differ-on-purpose row 10).
func (r *Runner) ReactivateRun(ctx context.Context, opt ReactivateOptions) (*Reactivated, error) {
	out := &Reactivated{}
	done, err := r.do(ctx, "unblock", func(ctx context.Context, c *change) (*plan, error) {
		if err := c.seen(opt.Seen); err != nil {
			return nil, err
		}
		if _, err := c.look(ctx); err != nil {
			return nil, err
		}
		op := &protocol.Reactivate{
			EscalationID: opt.EscalationID,
			Via:          opt.Via,
			Reason:       opt.Reason,
		}
		ask := consent.Question{
			Decision: attest.Unblock,
			Reason:   opt.Reason,
			Rules: func(given *agreement.Consent) []*config.GateRule {
				return agreement.ActRules(c.view.Config, given)
			},
		}
		if opt.AsIs {
			if err := c.takeAsIs(ctx, op, &ask); err != nil {
				return nil, err
			}
		}
		var err error
		op.Consent, err = c.consent(ctx, ask, opt.Consent)
		return &plan{op: op}, err
	})
	out.Done, out.Result = *done, resultOf[*protocol.ReactivateResult](done, err)
	return out, err
}

// takeAsIs gathers what a person accepts as it is: the result whose acceptance was stopped, or the
// request of the gate.
func (c *change) takeAsIs(ctx context.Context, op *protocol.Reactivate, ask *consent.Question) error {
	o, refusal := protocol.Overruled(c.view.State)
	if refusal != nil {
		return refusal
	}
	op.AcceptAsIs, op.On = true, o.On
	ask.Decision, ask.Gate, ask.GateType, ask.Phase = attest.AcceptAsIs, o.On, o.Kind, c.view.State.Phase
	turn := c.target(o.TurnID)
	if o.TurnID == "" || turn == nil {
		op.Content = protocol.GateDigest(c.view.State, c.env.Git.Head)
		return nil
	}
	s, err := turnfiles.ReadStaged(c.r.store.Dir(), turn.TurnID)
	if err != nil || s.Data == nil {
		return err
	}
	seen, err := c.observe(ctx, turn)
	if err != nil {
		return err
	}
	op.StagedPath, op.Staged = s.Path, evidence.NewBlob(s.Data)
	op.Content = protocol.WorkDigest(op.Staged, &seen)
	ask.Evidence = []evidence.FileBlob{{Path: op.StagedPath, Blob: op.Staged}}
	return nil
}

// seen refuses to act on a run that has gone on since a person looked at it.
func (c *change) seen(op object.OID) error {
	if op == "" || op == c.view.Op {
		return nil
	}
	return &wire.Error{
		Code:    gitstore.CodeStateMoved,
		Field:   string(wire.DocState),
		Message: "The run has moved on since it was read (operation " + op.Short() + ").",
		Hint:    "git agentxchain status",
	}
}

// Validate checks the staged result of a turn through the five stages without
// changing anything (the command "verify turn").
func (r *Runner) Validate(ctx context.Context, turnID string) (*run.Turn, *result.Validation, *ojson.Object, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	turn, refusal := run.ResolveTurn(v.State, turnID, "verify")
	if refusal != nil {
		return nil, nil, nil, unasked(v, refusal)
	}
	s, err := turnfiles.ReadStaged(r.store.Dir(), turn.TurnID)
	if err != nil {
		return turn, nil, nil, err
	}
	if !s.Counts() {
		return turn, nil, nil, &wire.Error{
			Code:  wire.CodeStagedMissing,
			Stage: "schema",
			Class: "schema_error",
			Field: s.Path,
			Message: "Turn " + turn.TurnID + " has no staged result at " + wire.StagingPath(turn.TurnID) +
				".",
			Hint: "git agentxchain turn edit " + turn.TurnID + " writes it",
		}
	}
	doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
	if refusal != nil {
		return turn, nil, nil, refusal
	}
	opt := protocol.JudgeOptions{}
	if opt.IdleSidecar, err = idleSidecar(r.store.Dir(), turn); err != nil {
		return turn, nil, doc, err
	}
	out := protocol.JudgeResult(v.Snapshot(), turn, doc, opt)
	if e := intents.CheckAnswers(v.Config, v.State, turn, doc); out.OK && e != nil {
		out.OK, out.Stage, out.Class, out.Errors = false, e.Stage, e.Class, e.Problems
	}
	return turn, out, doc, nil
}
