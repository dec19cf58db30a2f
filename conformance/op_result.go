// The operations on turn results: validation and acceptance (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// validateTurnResult runs the five stages on the staged result.
func validateTurnResult(w *workspace) (outcome, error) {
	snap := &protocol.Snapshot{Config: w.cfg, State: w.state, Index: w.index(), RepoDecisions: w.repo}
	return validated(protocol.JudgeResult(snap, w.resultTurn(), w.staged, protocol.JudgeOptions{})), nil
}

// resultTurn returns the active turn of the staged result: the one it names, else the only one.
func (w *workspace) resultTurn() *run.Turn {
	o, _ := w.staged.(*ojson.Object)
	if t, ok := w.state.ActiveTurns.Get(o.String("turn_id")); ok {
		return t
	}
	return w.state.OnlyTurn()
}

// validated returns a validation in the fixtures' form.
func validated(v *result.Validation) outcome {
	if v.OK {
		return ojson.NewObject("result", "success", "stages_passed", result.Stages(), "errors", []any{},
			"warnings", v.Warnings)
	}
	kind := v.Code()
	o := ojson.NewObject("result", "error", "failed_stage", v.Stage, "error_type", kind)
	detail(o, kind, v.Errors)
	o.Set("errors", v.Errors.Messages())
	o.Set("warnings", v.Warnings)
	o.Set("problems", problemRows(v.Errors))
	return o
}

// detail adds the members that an error type has besides its name (docs/conformance.md#becoming-a-target). The
// texts are part of the protocol.
func detail(o *ojson.Object, kind string, errs wire.Problems) {
	i := slices.IndexFunc(errs, func(p wire.Problem) bool { return p.Code == kind })
	if i < 0 {
		return
	}
	switch kind {
	case result.ProblemMissingField:
		o.Set("error_field", errs[i].Field)
	case result.ProblemReservedPath:
		o.Set("error_path", errs[i].Value)
	case result.ProblemDecisionID:
		o.Set("error_detail", "Decision ID must match DEC-NNN pattern")
	case result.ProblemChallenge:
		o.Set("error_detail", "review_only role must raise at least one objection")
	case result.ProblemMutuallyExclusive:
		o.Set("error_detail", "phase_transition_request and run_completion_request cannot both be present")
	}
}

// problemRows distinguishes findings by code and field, which the sentences in errors do not. It is a member of
// ours.
func problemRows(errs wire.Problems) []*ojson.Object {
	return ojson.List(errs, func(p wire.Problem) *ojson.Object {
		return ojson.NewObject("code", p.Code, "field", p.Field, "value", p.Value)
	})
}

// acceptTurn accepts a turn outside git: the declared changes cannot be compared with a work tree.
func acceptTurn(w *workspace) (outcome, error) {
	id, err := w.textArg("turn_id")
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fmt.Errorf("input.args.turn_id must name a turn")
	}
	op := &protocol.AcceptTurn{TurnID: id, StagedPath: wire.StagingPath(id), AlreadyAccepted: w.accepted(id),
		Files: w.files, Proposed: w.files}
	if w.isStaged {
		op.Staged = evidence.NewBlob(ojson.Compact(w.staged))
	}
	if op.Bundle, err = w.bundleChanges(); err != nil {
		return nil, err
	}
	tr, refused := w.apply(op)
	if refused != nil {
		return w.refusedAcceptance(tr, refused), nil
	}
	history := w.ledgers[wire.LedgerHistory]
	last := history[len(history)-1].Row
	state := stateView(w.state)
	// The state has one counter for assignments and acceptances; the newest accepted row has the sequence of
	// acceptances (docs/conformance.md#becoming-a-target).
	state.Set("accepted_sequence", last.Value("accepted_sequence"))
	// The comparator can check that an array is empty, but not an object.
	state.Set("active_turn_ids", w.state.ActiveTurns.Keys())
	o := ojson.NewObject("result", "success", "state", state, "history_length", len(history),
		"history_last_entry", last)
	if r, ok := tr.Result.(*protocol.AcceptResult); ok {
		o.Set("warnings", r.Warnings)
	}
	return o, nil
}

// bundleChanges seals the turn's bundle, changes it as the setup says, and lists what differs from the seal; none
// for a turn without a bundle.
func (w *workspace) bundleChanges() ([]protocol.BundleChange, error) {
	id, err := w.textArg("turn_id")
	if _, there := w.bundles[id]; err != nil || !there {
		return nil, err
	}
	s, refused, err := w.seal()
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, fmt.Errorf("setup.dispatch_bundle: %s", refused.String("error"))
	}
	recorded := s.manifest
	if err := w.tamper(s); err != nil {
		return nil, err
	}
	return dispatch.Changes(dispatch.VerifyRecordedFiles(s.id, recorded, s.manifest, s.infos())), nil
}

// accepted reports whether the history has an accepted row of the turn. The row of a given-up turn does not count.
func (w *workspace) accepted(id string) bool {
	return slices.ContainsFunc(w.ledgers[wire.LedgerHistory], func(l run.Line) bool {
		return l.Row.String("turn_id") == id && l.Row.String("status") != run.HistoryReissued
	})
}

// refusedAcceptance returns a refusal in the fixtures' form: a failed validation looks like that of
// validate_turn_result, any other refusal has its code.
func (w *workspace) refusedAcceptance(tr *protocol.Transition, refused *wire.Error) outcome {
	var o outcome
	var r *protocol.AcceptResult
	if tr != nil {
		r, _ = tr.Result.(*protocol.AcceptResult)
	}
	switch {
	case refused.Code == wire.CodeValidationFailed && r != nil && r.Validation != nil:
		o = validated(r.Validation)
	case slices.Contains(result.Stages(), refused.Stage):
		// Nothing could be validated: no staged result, or one that exceeds all bounds.
		o = ojson.NewObject("result", "error", "failed_stage", refused.Stage, "error_type", refused.Class,
			"error_code", refused.Code, "errors", []string{refused.Message}, "warnings", []any{})
	default:
		o = ojson.NewObject("result", "error", "error_type", refused.Code, "error", refused.Message)
		if refused.Stage != "" {
			o.Set("failed_stage", refused.Stage)
		}
		if refused.Field != "" {
			o.Set("error_field", refused.Field)
		}
	}
	o.Set("history_length", len(w.ledgers[wire.LedgerHistory]))
	o.Set("state_unchanged", w.stateUnchanged())
	return o
}
