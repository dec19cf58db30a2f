// The operations that move a run: init, assign, approvals, reactivation (docs/conformance.md#becoming-a-target).

package conformance

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// moved returns the outcome of an operation of the state machine. Every refusal counts as an invalid transition,
// except a change of an immutable member; error_code keeps the engine's own code.
func (w *workspace) moved(refused *wire.Error) outcome {
	if refused == nil {
		return ojson.NewObject("result", "ok", "state_assertions", stateView(w.state))
	}
	kind := wire.CodeInvalidStateTransition
	if refused.Code == wire.CodeImmutableField {
		kind = wire.CodeImmutableField
	}
	o := ojson.NewObject("result", "error", "error_type", kind, "error", refused.Message, "error_code", refused.Code)
	if refused.Field != "" {
		o.Set("error_field", refused.Field)
	}
	o.Set("state_unchanged", w.stateUnchanged())
	return o
}

// move applies an engine operation and returns its outcome.
func (w *workspace) move(op protocol.Operation) (outcome, error) {
	_, refused := w.apply(op)
	return w.moved(refused), nil
}

// unfit returns the outcome when the configuration does not allow a run at all, nil when it does.
func (w *workspace) unfit() outcome {
	if len(w.problems) == 0 {
		return nil
	}
	return ojson.NewObject("result", "error", "error_type", wire.CodeInvalidConfig, "errors", w.problems.Messages(),
		"state_unchanged", w.stateUnchanged())
}

func initializeRun(w *workspace) (outcome, error) {
	if o := w.unfit(); o != nil {
		return o, nil
	}
	return w.move(&protocol.InitRun{Prior: evidence.NewBlob(w.state.Encode())})
}

func assignTurn(w *workspace) (outcome, error) {
	role, err := w.textArg("role_id")
	if err != nil {
		return nil, err
	}
	if o := w.unfit(); o != nil {
		return o, nil
	}
	return w.move(&protocol.AssignTurn{Role: role, Baseline: &run.Baseline{
		Kind:       "no_git",
		Clean:      true,
		CapturedAt: wire.FormatTime(w.now),
	}})
}

func approveTransition(w *workspace) (outcome, error) {
	if p := w.state.PendingPhaseTransition; p != nil {
		if err := w.noActions(p.Gate); err != nil {
			return nil, err
		}
	}
	return w.move(&protocol.ApprovePhase{Approval: protocol.Approval{Files: w.files, Actions: []protocol.ActionRun{}}})
}

func approveCompletion(w *workspace) (outcome, error) {
	if p := w.state.PendingRunCompletion; p != nil {
		if err := w.noActions(p.Gate); err != nil {
			return nil, err
		}
	}
	return w.move(&protocol.ApproveCompletion{Approval: protocol.Approval{
		Files:   w.files,
		Actions: []protocol.ActionRun{},
	}})
}

// noActions refuses an approval whose gate asks for commands: a fixture must not run commands, and skipping them
// would evaluate something else.
func (w *workspace) noActions(gate string) error {
	if g := w.cfg.Gate(gate); g != nil && len(g.Actions) > 0 {
		return notImplemented("gate %s runs commands on approval; this adapter runs none", show(gate))
	}
	return nil
}

// resolveBlocked supports one way out of a block: resuming, which is the engine's reactivation. It applies only to
// blocked runs.
func resolveBlocked(w *workspace) (outcome, error) {
	action, err := w.textArg("action")
	if err != nil {
		return nil, err
	}
	if action != "resume" || w.state.Status != wire.StatusBlocked {
		return w.moved(&wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status",
			Message: "only a blocked run can be resumed, and resume is the only action; the run is " +
				string(w.state.Status)}), nil
	}
	return w.move(&protocol.Reactivate{})
}
