// Approve: a person passes the pending gate, gate actions included.

package runner

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeActionsNotAllowed means that the gate has actions and the person has not
// agreed to run the commands a committed file names.
const CodeActionsNotAllowed = "gate_actions_not_allowed"

// ApproveOptions says what to approve.
type ApproveOptions struct {
	Completion   *bool  // nil: whichever is pending; else exactly a completion or a transition
	AllowActions bool   // run the gate's actions; also git config agentxchain.allowGateActions
	DryRun       bool   // only say what would happen
	Reason       string // recorded with the approval; may be empty

	Shown *PendingGate // what the person saw; something else is not approved by their answer. nil: they asked for nothing
}

// Approved is the outcome of Approve.
type Approved struct {
	Done
	DryRun  bool
	Result  *protocol.ApproveResult
	Actions []config.GateAction
}

// Approve passes the pending gate after holding its predicates against the work
// tree of now. It is refused from inside a dispatched turn.
func (r *Runner) Approve(ctx context.Context, opt ApproveOptions) (*Approved, error) {
	out := &Approved{DryRun: opt.DryRun}
	in := r.asker()
	if refusal := protocol.CheckApprover(protocol.Actor{InsideTurn: in.Turn, InsideWhy: in.Why}); refusal != nil {
		out.Outcome = OutcomeOf(refusal)
		return out, refusal
	}
	done, err := r.do(ctx, "approve", func(ctx context.Context, c *change) (protocol.Operation, error) {
		s := c.view.State
		completion := s.PendingRunCompletion != nil && s.PendingPhaseTransition == nil
		if opt.Completion != nil {
			completion = *opt.Completion
		}
		if refusal := protocol.CheckApprovable(s, completion, c.env.Actor); refusal != nil {
			return nil, refusal
		}
		gate, by, kind, trigger := "", "", "phase_transition", "approve-transition"
		if completion {
			gate, by, kind, trigger = s.PendingRunCompletion.Gate, s.PendingRunCompletion.RequestedByTurn, "run_completion", "approve-completion"
			out.Result = &protocol.ApproveResult{GateType: kind, Gate: gate, From: s.Phase}
		} else {
			p := s.PendingPhaseTransition
			gate, by = p.Gate, p.RequestedByTurn
			out.Result = &protocol.ApproveResult{GateType: kind, Gate: gate, From: p.From, To: p.To}
		}
		if g := c.view.Config.Gate(gate); g != nil {
			out.Actions = g.Actions
		}
		if opt.DryRun {
			return nil, nil
		}
		if err := c.willRun(ctx, "before_gate"); err != nil {
			return nil, err
		}
		if _, err := c.look(ctx); err != nil {
			return nil, err
		}
		files, err := c.gateFiles()
		if err != nil {
			return nil, err
		}
		if err := opt.Shown.still(gate, by, files); err != nil {
			return nil, err
		}
		op := func(actions []protocol.ActionRun) protocol.Operation {
			a := protocol.Approval{Files: files, Actions: actions, Reason: opt.Reason, Undoable: true}
			if completion {
				return &protocol.ApproveCompletion{Approval: a}
			}
			return &protocol.ApprovePhase{Approval: a}
		}
		if len(out.Actions) == 0 && !c.hooks.has("before_gate") {
			return op([]protocol.ActionRun{}), nil
		}
		// The engine decides first: no action may run for a gate that would be refused.
		if _, refusal := protocol.Apply(c.view.Snapshot(), preview(op(nil)), c.env); refusal != nil {
			return nil, refusal
		}
		if len(out.Actions) > 0 && !opt.AllowActions && !r.Store.SettingBool(ctx, "agentxchain.allowGateActions") && !r.trusted(ctx, c.view.Config) {
			return nil, actionsRefused(gate, out.Actions)
		}
		if c.hooks.has("before_gate") {
			if err := c.beforeGate(ctx, completion); err != nil {
				return nil, err
			}
			// The gate is held against what the hooks have left.
			if files, err = c.gateFiles(); err != nil {
				return nil, err
			}
			if _, refusal := protocol.Apply(c.view.Snapshot(), preview(op(nil)), c.env); refusal != nil {
				return nil, refusal
			}
		}
		if len(out.Actions) == 0 {
			return op([]protocol.ActionRun{}), nil
		}
		return op(c.runActions(ctx, actionContext{gate: gate, kind: kind, phase: s.Phase, by: by, trigger: trigger}, out.Actions)), nil
	})
	out.Done = *done
	return out, err
}

// preview asks only whether the approval would be granted.
func preview(op protocol.Operation) protocol.Operation {
	switch op := op.(type) {
	case *protocol.ApprovePhase:
		op.Approval.Preview = true
	case *protocol.ApproveCompletion:
		op.Approval.Preview = true
	}
	return op
}

func actionsRefused(gate string, actions []config.GateAction) error {
	cmds := make([]string, len(actions))
	for i, a := range actions {
		cmds[i] = a.Run
	}
	return &wire.Error{Code: CodeActionsNotAllowed, Field: "gates." + gate + ".gate_actions", Details: ojson.NewObject("gate_id", gate, "commands", cmds),
		Message: fmt.Sprintf("Gate %q would run %d command(s) named in agentxchain.json, first %q; you have not agreed to that.", gate, len(actions), cmds[0]),
		Hint:    "read them, then: git agentxchain approve --allow-actions (or git config agentxchain.allowGateActions true)"}
}
