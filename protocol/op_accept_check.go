// The checks of an acceptance, in the order of docs/spec/lifecycle.md#accepting-a-turn: what is refused, and
// how the refusal is recorded.

package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// acceptance is the state of one acceptance decision.
type acceptance struct {
	t    *change.Draft
	op   *AcceptTurn
	turn *run.Turn
	role *config.Role
	seen *result.Observation // what was observed, including changes of earlier attempts

	own        bool // the run is blocked on this turn's own acceptance
	unrecorded bool // the refusal leaves no trace: it is not the result's fault

	v         *result.Validation
	res       *result.Result
	effective []string
	attr      result.Attribution
	verify    result.NormalizedVerification
	conflict  *ojson.Object
	forward   *ojson.Object
	warnings  []string
	leftover  []string
	taken     []*ojson.Object             // what people overruled for this result
	repairs   []result.NormalizationEvent // what was rewritten in the result
}

// refuse records a failed acceptance: the turn and its staged file stay, the
// turn is marked, the event log says why (docs/spec/lifecycle.md#accepting-a-turn).
func (a *acceptance) refuse(err *wire.Error) *wire.Error {
	t := a.t
	if t.Failure != nil {
		return nil // a conflict or policy escalation records itself
	}
	turn := *a.turn
	turn.Status = wire.TurnFailedAcceptance
	turn.FailedAt, turn.FailureReason = t.Env.Time(), err.Message
	t.State.ActiveTurns.Set(turn.TurnID, &turn)
	t.ForgetEvents()
	pairs := []any{"reason", err.Message, "error_code", err.Code, "stage", err.Stage}
	if len(err.Problems) > 0 {
		pairs = append(pairs, "errors", wire.Problems(err.Problems).Messages())
	}
	t.Event("acceptance_failed", &turn, pairs...)
	t.Session = "acceptance_failed"
	t.Subject = fmt.Sprintf("refuse %s (%s): %s", turn.TurnID, turn.AssignedRole, err.Code)
	if err.Hint == "" {
		err.Hint = "fix it and run git agentxchain accept " + turn.TurnID + ", or git agentxchain reject " +
			turn.TurnID + " --reason ..."
	}
	t.Failure = err
	if a.v != nil && !a.v.OK {
		// The repairs made before the stage that refused the result are shown as well.
		a.warnings = append(a.warnings, a.v.Notes()...)
	}
	t.Result = &AcceptResult{Turn: &turn, Validation: a.v, Warnings: a.warnings, Repairs: a.repairs}
	return nil
}

func (a *acceptance) decide(doc *ojson.Object) *wire.Error {
	for _, c := range []struct {
		rule  string
		check func(*ojson.Object) *wire.Error
	}{
		{verdict.RuleBundle, a.checkBundle},
		{verdict.RuleStages, a.validate},
		{verdict.RuleWait, a.checkWait},
		{verdict.RuleProtected, a.checkProtected},
		{verdict.RuleProposal, a.checkProposal},
		{verdict.RuleOverride, a.checkOverrides},
		{verdict.RuleObserved, a.observe},
		{verdict.RuleSignoff, a.checkSignoffs},
		{verdict.RuleIntent, a.coverIntent},
		{verdict.RuleCoverage, a.precheckGate},
		{verdict.RuleEmpty, a.checkEmpty},
		{verdict.RuleReplay, a.checkReplay},
		{verdict.RulePolicies, a.checkPolicies},
		{verdict.RuleConflict, a.checkConflict},
		{verdict.RuleDrift, a.checkDrift},
	} {
		leave := a.t.Enter(c.rule, "", a.configOf(c.rule))
		err := c.check(doc)
		leave(err)
		if err != nil {
			return err
		}
		if a.t.Failure != nil {
			return nil
		}
	}
	a.commit()
	return nil
}

func (a *acceptance) validate(doc *ojson.Object) *wire.Error {
	t := a.t
	a.v = a.judgeResult(doc)
	a.repairs = a.v.Events
	a.traceStages()
	if !a.v.OK {
		return &wire.Error{Code: wire.CodeValidationFailed, Stage: a.v.Stage, Class: a.v.Class, Problems: a.v.Errors,
			Message: fmt.Sprintf("The result of turn %s fails the %s stage: %s", a.turn.TurnID, a.v.Stage,
				a.v.Errors.Join()),
			Details: ojson.NewObject("warnings", a.v.Warnings)}
	}
	a.res = a.v.Result
	a.warnings = append(a.warnings, a.v.Warnings...)
	norms := a.v.Events
	if over := len(norms) - maxNormalizationEvents; over > 0 {
		// A hostile result can need a rewrite for every member; the ledger must not grow with it.
		norms = norms[:maxNormalizationEvents]
		a.warnings = append(a.warnings,
			fmt.Sprintf("%d further rewrites of the result are not listed in the event log.", over))
	}
	for _, n := range norms {
		kind := "staged_result_auto_normalized"
		pairs := []any{"field", n.Field, "original_value", n.Original, "normalized_value", n.Normalized, "rationale",
			n.Rationale, "staging_path", a.op.StagedPath}
		if n.Field == "artifact.type" && n.Rationale == "empty_files_changed_no_repo_mutation_declared" {
			kind = "artifact_type_auto_normalized"
			pairs = []any{"original_artifact_type", n.Original, "normalized_artifact_type", n.Normalized, "reason",
				n.Rationale, "staging_path", a.op.StagedPath}
		}
		t.Event(kind, a.turn, pairs...)
	}
	a.effective = result.EffectiveFiles(a.res)
	return nil
}

// judgeResult reuses what the same rules said of the same result when it is judged again.
func (a *acceptance) judgeResult(doc *ojson.Object) *result.Validation {
	t, j := a.t, &a.op.judged
	v := j.v
	if !t.Judging || v == nil || !j.again || j.doc != doc || j.runtime != a.turn.RuntimeID {
		snap := &change.Snapshot{
			Config:        t.Config,
			State:         t.State,
			Index:         t.Index,
			RepoDecisions: t.Before.RepoDecisions,
		}
		v = JudgeResult(snap, a.turn, doc, JudgeOptions{
			NormalizeReview: a.op.NormalizeArtifact == "review",
			IdleSidecar:     a.op.IdleSidecar,
			earlier:         t.Earlier.Result,
		})
	}
	if !t.Judging {
		return v
	}
	j.v, j.runtime = v, a.turn.RuntimeID
	out := *v // precheckGate sets a request aside
	if v.Result != nil {
		out.Result = new(*v.Result)
	}
	return &out
}

// maxNormalizationEvents bounds what one acceptance writes about its rewrites.
const maxNormalizationEvents = 200

func (a *acceptance) checkBundle(*ojson.Object) *wire.Error {
	warning, err := CheckBundle(a.t.Config, a.turn.TurnID, a.op.Bundle)
	if warning != "" {
		a.warnings = append(a.warnings, warning)
	}
	return err
}

// checkWait keeps a request for a person from being lost: while the run is blocked on a sibling, a second blocker
// would have no place to be recorded.
func (a *acceptance) checkWait(*ojson.Object) *wire.Error {
	if a.t.State.Status != wire.StatusBlocked || blockOf(a.t, a.turn) != blockSibling ||
		a.res.Status != wire.ResultNeedsHuman {
		return nil
	}
	a.unrecorded = true
	return run.BlockedError(a.t.State, fmt.Sprintf("accept turn %s, which asks for a person itself", a.turn.TurnID))
}

// checkProtected refuses a turn that declares or changes a protected file, which no commit could hold.
func (a *acceptance) checkProtected(*ojson.Object) *wire.Error {
	if len(a.op.Protected) == 0 {
		return nil
	}
	e := result.ObservationError(wire.CodeArtifactMismatch, a.op.Protected)
	e.Message = fmt.Sprintf("git_hooks.protected keeps files that the turn declares or changes: %s.",
		wire.ListSome(a.op.Protected, 5))
	e.Hint = "undo the change and take the files out of files_changed; a person who wants it changes git_hooks.protected between turns"
	if slices.ContainsFunc(a.op.Protected, func(p string) bool { return slices.Contains(wire.SignerFiles(), p) }) {
		e.Message = fmt.Sprintf(
			"The turn declares or changes files that say whose approval counts, or that git_hooks.protected keeps: %s.",
			wire.ListSome(a.op.Protected, 5))
		e.Hint = "undo the change and take the files out of files_changed; a person changes the signers between runs, " +
			"or with git agentxchain config adopt"
	}
	for _, p := range a.op.Protected {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    result.ProblemProtectedPath,
			Field:   "files_changed",
			Value:   p,
			Message: p + " is protected by agentxchain.json.",
		})
	}
	return e
}

func (a *acceptance) checkOverrides(*ojson.Object) *wire.Error {
	warnings, err := ledger.CheckOverrides(a.t.Config, a.t.Before.RepoDecisions, a.turn.AssignedRole, a.res.Decisions)
	if err != nil {
		return err
	}
	a.warnings = append(a.warnings, warnings...)
	return nil
}

// observe compares the declared changes with the work tree (docs/spec/observation.md#declared-against-observed).
func (a *acceptance) observe(*ojson.Object) *wire.Error {
	t, seen := a.t, a.seen
	authority := ""
	if a.role != nil {
		authority = a.role.WriteAuthority
	}
	a.verify = result.NormalizeVerification(a.res, a.runtimeType())
	a.attr = result.Attribute(result.AttributionInput{
		Turn:     a.turn,
		Active:   &t.State.ActiveTurns,
		Rows:     t.Index.Recent,
		Observed: seen.FilesChanged,
		Markers:  &seen.Markers,
		Declared: a.effective,
		Siblings: seen.Siblings,
	})
	out := result.CompareObserved(result.ObservedInput{
		Authority:      authority,
		TurnID:         a.turn.TurnID,
		Declared:       a.effective,
		Result:         a.res,
		Seen:           seen,
		Attribution:    a.attr,
		Uncheckpointed: t.Index.Uncheckpointed.Keys(),
		HasVerification: len(
			a.res.Verification.Commands)+len(a.res.Verification.MachineEvidence) > 0,
	})
	a.warnings = append(a.warnings, out.Warnings...)
	if out.Err != nil {
		if hint := a.personsWork(out.Err.Code); hint != "" {
			out.Err.Hint = strings.TrimPrefix(out.Err.Hint+"; "+hint, "; ")
		}
		return out.Err
	}
	a.effective = out.Effective
	a.leftover = out.Leftover
	return nil
}

// personsWork says how people take their own work out of the turn; "" where nothing looks like theirs.
func (a *acceptance) personsWork(code string) string {
	const since = "commits were made since the turn began; if a person made them: git agentxchain "
	switch b := a.turn.Baseline; {
	case a.commitsSince():
		return since + "reconcile --show"
	case b != nil && wire.OrEmpty(b.HeadRef) == "" && wire.OrEmpty(a.seen.HeadRef) != "":
		// When the turn began before the first commit, reconcile has nothing to move.
		return since + "reissue " + a.turn.TurnID + " --take-commits"
	case slices.Contains(a.attr.Files, wire.ConfigPath) && !slices.Contains(a.effective, wire.ConfigPath):
		return "if a person changed " + wire.ConfigPath + ": commit it, then git agentxchain reconcile"
	case code == wire.CodeDirtyTreeMismatch:
		return "if a person made the change: commit it, then git agentxchain reconcile"
	}
	return ""
}

// commitsSince reports commits since the turn began.
func (a *acceptance) commitsSince() bool {
	b := a.turn.Baseline
	return b != nil && wire.OrEmpty(b.HeadRef) != "" && a.seen.HeadRef != nil && *a.seen.HeadRef != *b.HeadRef
}

// checkEmpty refuses a workspace artifact without any change.
func (a *acceptance) checkEmpty(*ojson.Object) *wire.Error {
	writes := a.role != nil && a.role.WriteAuthority == wire.Authoritative
	if a.res.Artifact.Type == "workspace" && writes && a.res.Status == wire.ResultCompleted && len(a.effective) == 0 &&
		len(a.attr.Files) == 0 {
		hint := "git agentxchain accept " + a.turn.TurnID + " --normalize-artifact-type review"
		if len(a.res.FilesChanged) > 0 {
			hint = "bring back what the turn changed (git stash list shows what was stashed), then accept; " +
				"if it changed nothing: " + hint
		}
		return &wire.Error{
			Code:    wire.CodeEmptyWorkspace,
			Stage:   "artifact_validation",
			Class:   "artifact_error",
			Field:   "artifact.type",
			Message: "The artifact is a workspace change, but no file was changed or declared.",
			Hint:    hint,
		}
	}
	return nil
}

func (a *acceptance) runtimeType() string {
	if rt, ok := a.t.Config.Runtimes.Get(a.turn.RuntimeID); ok {
		return rt.Type
	}
	return "manual"
}

// precheckGate refuses a phase request whose gate fails on files the turn did not touch
// (docs/spec/gates.md#before-an-acceptance). The candidate turn counts as a participant. A turn that is not
// completed does not move the run, so its request is not checked.
func (a *acceptance) precheckGate(*ojson.Object) *wire.Error {
	t := a.t
	if a.res.PhaseTransitionRequest == nil || charters.OthersOpen(a.t.State, a.turn) || a.delegationsRemain() ||
		a.res.Status != wire.ResultCompleted ||
		(t.Config.GateCoverageMode != "" && t.Config.GateCoverageMode != "strict") {
		return nil
	}
	in := a.gateInput()
	in.TransitionRequest = a.res.PhaseTransitionRequest
	g := phaseGate(t, in)
	if g.Action != gates.ActionGateFailed {
		return nil
	}
	var uncovered []string
	for _, f := range g.FailingFiles {
		if !slices.Contains(a.effective, f) {
			uncovered = append(uncovered, f)
		}
	}
	if len(uncovered) == 0 {
		return nil
	}
	gate := wire.OrEmpty(g.GateID)
	if t.State.Phase == "planning" {
		// The registered vocabulary has no event for this; it is recorded as what it is, a normalisation of the
		// staged result.
		t.Event("staged_result_auto_normalized", a.turn, "field", "phase_transition_request",
			"original_value", *a.res.PhaseTransitionRequest,
			"normalized_value", nil, "rationale", "gate_transition_request_auto_stripped",
			"staging_path", a.op.StagedPath,
			"gate_id", gate, "uncovered_files", uncovered, "declared_files", a.effective)
		a.repairs = append(slices.Clip(a.repairs), result.NormalizationEvent{
			Field:     "phase_transition_request",
			Original:  *a.res.PhaseTransitionRequest,
			Rationale: "gate_transition_request_auto_stripped",
		})
		a.res.PhaseTransitionRequest = nil
		a.v.Validated = a.res.Raw
		a.res.Raw = a.res.Raw.Clone()
		a.res.Raw.Delete("phase_transition_request")
		a.warnings = append(a.warnings,
			fmt.Sprintf("The phase request was set aside: gate %q fails on %s, which this turn did not change.", gate,
				wire.List(uncovered)))
		return nil
	}
	e := &wire.Error{
		Code:  wire.CodeGateCoverage,
		Stage: "gate_semantic_coverage",
		Class: "gate_coverage_error",
		Field: "phase_transition_request",
		Message: fmt.Sprintf("Gate %q fails on %s, which turn %s did not change.", gate, wire.List(uncovered),
			a.turn.TurnID),
		Hint:    "edit the file, or withdraw the phase request",
		Details: ojson.NewObject("gate_id", gate, "files", uncovered, "reasons", g.Reasons),
	}
	for _, f := range uncovered {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    wire.CodeGateCoverage,
			Field:   f,
			Value:   gate,
			Message: fmt.Sprintf("Gate %q fails on %q, which the turn did not change.", gate, f),
		})
	}
	return e
}

// checkDrift refuses a result when the work tree changed while it was judged
// (docs/spec/lifecycle.md#accepting-a-turn step 25). Nothing is wrong with the result, so it can be tried again.
func (a *acceptance) checkDrift(*ojson.Object) *wire.Error {
	if len(a.op.Drift) == 0 {
		return nil
	}
	return &wire.Error{Code: wire.CodeAcceptanceDrift, Stage: "artifact_observation", Class: "artifact_error",
		Message: fmt.Sprintf("The work tree changed while the result of turn %s was being accepted: %s.",
			a.turn.TurnID, wire.ListSome(a.op.Drift, 5)),
		Hint:    "find what changed it (a hook?), then: git agentxchain accept " + a.turn.TurnID,
		Details: ojson.NewObject("files", a.op.Drift)}
}

func (a *acceptance) checkReplay(*ojson.Object) *wire.Error {
	if r := a.op.Replay; r != nil && r.Drift != "" {
		return &wire.Error{
			Code:    wire.CodeReplayDrift,
			Stage:   "verification_replay",
			Class:   "verification_replay_error",
			Message: "Running the declared verification again changed the work tree: " + r.Drift,
		}
	}
	return nil
}

// coverIntent refuses a result that leaves contract items unanswered. An item is
// answered by an intent_response entry, or when at least half of its words of
// four letters and more occur in the result.
func (a *acceptance) coverIntent(doc *ojson.Object) *wire.Error {
	if a.res.Status != wire.ResultCompleted {
		return nil
	}
	e := intents.Uncovered(a.t.Config, a.t.State, a.turn, a.res.Raw.Objects("intent_response"), doc)
	if e != nil && intents.Lenient(a.t.Config, a.turn.IntakeContext) {
		a.warnings = append(a.warnings, e.Message)
		return nil
	}
	return e
}
