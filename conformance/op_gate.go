// The operations on gates: leaving a phase and completing a run (docs/conformance.md#becoming-a-target).

package conformance

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// gateInput returns the input of a gate evaluation; request is the turn result of the fixture, or nil.
func (w *workspace) gateInput() (in gates.Input, request *ojson.Object) {
	request, _ = w.staged.(*ojson.Object)
	participants := w.index().Participants
	in = gates.Input{Config: w.cfg, Phase: w.state.Phase, Files: w.facts(), VerificationStatus: "pass",
		Participated: func(phase, role string) bool {
			return slices.Contains(participants.Value(phase), role)
		}}
	if v := request.Object("verification"); v != nil {
		in.VerificationStatus = v.String("status")
	}
	res := result.New(request)
	runtime := config.RuntimeManual
	if r := w.cfg.Role(res.Role); r != nil {
		runtime = r.RuntimeType
	}
	in.VerificationReproducible = result.NormalizeVerification(res, runtime).Reproducible
	return in, request
}

// evaluatePhaseExit requests the phase in args.requested_phase. The phase being left is the state's, whatever
// args.current_phase says.
func evaluatePhaseExit(w *workspace) (outcome, error) {
	want, err := w.textArg("requested_phase")
	if err != nil {
		return nil, err
	}
	in, _ := w.gateInput()
	in.TransitionRequest = &want
	r := gates.EvaluatePhaseExit(in)
	switch r.Action {
	case gates.ActionUnknownPhase:
		return ojson.NewObject("result", "error", "action", "gate_error", "error_type", gates.ActionUnknownPhase,
			"phase_unchanged", w.phaseUnchanged(), "state_unchanged", w.stateUnchanged()), nil
	case gates.ActionAdvance:
		return ojson.NewObject("result", "success", "action", r.Action, "new_phase", r.NextPhase,
			"gate_id", r.GateID), nil
	case gates.ActionAwaitHuman:
		return ojson.NewObject("result", "success", "action", r.Action, "new_status", string(wire.StatusPaused),
			"pending_phase_transition", ojson.NewObject("from", in.Phase, "to", r.NextPhase, "gate", r.GateID)), nil
	}
	o := w.closed(&r)
	o.Set("phase_unchanged", w.phaseUnchanged())
	return o, nil
}

// evaluateRunCompletion requests the completion of the run, unless the turn result says that it does not.
func evaluateRunCompletion(w *workspace) (outcome, error) {
	in, request := w.gateInput()
	in.CompletionRequest = true
	if v, has := request.Get("run_completion_request"); has && v != nil {
		in.CompletionRequest = v == true
	}
	r := gates.EvaluateRunCompletion(in)
	switch r.Action {
	case gates.ActionComplete:
		return ojson.NewObject("result", "success", "action", r.Action, "new_status", string(wire.StatusCompleted),
			"gate_id", r.GateID), nil
	case gates.ActionAwaitHuman:
		return ojson.NewObject("result", "success", "action", r.Action, "new_status", string(wire.StatusPaused),
			"pending_run_completion", ojson.NewObject("phase", in.Phase, "gate", r.GateID)), nil
	}
	return w.closed(&r), nil
}

// closed returns the outcome of an evaluation that passes nothing.
func (w *workspace) closed(r *gates.Result) outcome {
	return ojson.NewObject("result", "success", "action", r.Action, "state_unchanged", w.stateUnchanged(),
		"reason", reason(r), "reasons", r.Reasons, "missing_files", r.MissingFiles)
}

// reason returns the one reason that fixtures check: a missing file hides all others, missing verification hides
// what the documents say (docs/conformance.md#becoming-a-target). The texts are part of the protocol.
func reason(r *gates.Result) ojson.Value {
	switch {
	case len(r.MissingFiles) > 0:
		return "requires_files predicate failed"
	case r.MissingVerification:
		return "requires_verification_pass predicate failed"
	case len(r.Reasons) > 0:
		return r.Reasons[0]
	}
	return nil
}
