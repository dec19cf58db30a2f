// AcceptTurn decides on a staged turn result (spec/01 §6, spec/02 §7).

package protocol

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Resolution modes of a conflicted turn.
const (
	ResolutionStandard   = "standard"
	ResolutionHumanMerge = "human_merge"
)

// AcceptTurn carries the staged result and what was seen of the work tree.
// The order of its checks is that of spec/01 §6.1; nothing it refuses changes a
// user's file.
type AcceptTurn struct {
	TurnID            string         `json:"turn_id,omitempty"` // "" for the only active turn
	StagedPath        string         `json:"staged_path"`
	Staged            *Blob          `json:"staged"`
	Resolution        string         `json:"resolution,omitempty"`              // "" is standard
	NormalizeArtifact string         `json:"normalize_artifact_type,omitempty"` // "" or review
	AlreadyAccepted   bool           `json:"already_accepted,omitempty"`        // history holds an accepted row of the turn
	Seen              Observation    `json:"seen"`
	Files             []FileBlob     `json:"files"`            // files the gates of the phase read
	Proposed          []FileBlob     `json:"proposed"`         // present contents of the paths the result proposes to change
	IdleSidecar       *Blob          `json:"idle_sidecar"`     // idle-expansion-result.json beside the staged result, or nil
	Replay            *ReplayOutcome `json:"replay,omitempty"` // verification replay, when a policy asks for one
}

// FileBlob is a file a rule reads; a nil Blob is a missing file.
type FileBlob struct {
	Path string `json:"path"`
	Blob *Blob  `json:"blob"`
}

// Observation is the work tree at acceptance, compared with the turn's baseline
// (spec/02 §9.2). Paths are project-relative; operational paths are left out.
type Observation struct {
	Available     bool              `json:"available"` // false outside git
	HeadRef       *string           `json:"head_ref"`
	FilesChanged  []string          `json:"files_changed"`
	Markers       ojson.Map[string] `json:"file_markers"`
	DiffSummary   *string           `json:"diff_summary"`
	Dirty         []string          `json:"dirty"`          // every dirty project-owned path now
	UnchangedDirt []string          `json:"unchanged_dirt"` // of these, unchanged since the baseline
	Siblings      []SiblingClaim    `json:"siblings"`
	Existing      []string          `json:"existing"` // declared paths that exist in the work tree or in HEAD
}

// SiblingClaim is what a still active concurrent turn has staged.
type SiblingClaim struct {
	TurnID       string   `json:"turn_id"`
	FilesChanged []string `json:"files_changed"`
}

func (*AcceptTurn) Name() string { return "accept_turn" }

func (op *AcceptTurn) Blobs() []*Blob {
	out := []*Blob{op.Staged, op.IdleSidecar}
	for i := range op.Files {
		out = append(out, op.Files[i].Blob)
	}
	for i := range op.Proposed {
		out = append(out, op.Proposed[i].Blob)
	}
	return out
}

// AcceptResult is the outcome of AcceptTurn.
type AcceptResult struct {
	Turn       *Turn
	Entry      *ojson.Object // the history row
	Validation *Validation
	Warnings   []string
	Gate       *GateResult // the gate that was evaluated, or nil
	GateType   string      // phase_transition, run_completion
	Conflict   *ojson.Object
	Leftover   []string // files declared as ignorable outputs that are still in the work tree
}

func (op *AcceptTurn) apply(t *transition) *Error {
	// Asked before whether the turn is active: a turn that is in the history
	// gets no second row, whatever became of the state (spec/06 §5.2).
	if op.AlreadyAccepted {
		return &Error{Code: CodeTurnAlreadyAccepted, Field: "turn_id",
			Message: fmt.Sprintf("Turn %s was already accepted.", op.TurnID), Hint: "git agentxchain history"}
	}
	turn, err := t.target(op.TurnID, "accept")
	if err != nil {
		return err
	}
	if err := t.acceptable(turn); err != nil {
		return err
	}
	if err := op.checkModes(turn); err != nil {
		return err
	}
	doc, err := op.decode(turn)
	if err != nil {
		return err
	}
	t.about(turn)
	a := &acceptance{t: t, op: op, turn: turn}
	a.role = t.cfg.Role(turn.AssignedRole)
	if err := a.decide(doc); err != nil {
		return a.refuse(err)
	}
	return nil
}

// acceptable says whether the run's status lets the turn be accepted. A block
// is only passed by the turn whose own acceptance caused it, or kept while a
// sibling of the turn at fault is accepted; every other block needs its owner.
func (t *transition) acceptable(turn *Turn) *Error {
	s := t.s
	switch s.Status {
	case StatusActive:
		return nil
	case StatusPaused:
		return pendingError(s, "accept turn "+turn.TurnID)
	case StatusBlocked:
		if r := s.BlockedReason; r != nil {
			own := strOr(r.TurnID) == turn.TurnID
			switch r.Category {
			case "hook_block", "hook_tamper", "conflict_loop", "validation_error":
				return nil
			case "retries_exhausted", "ghost_turn", "stale_turn":
				if !own {
					return nil
				}
			}
		}
		return blockedError(s, "accept turn "+turn.TurnID)
	}
	return &Error{Code: CodeInvalidStateTransition, Field: "status",
		Message: fmt.Sprintf("A turn can be accepted only in an active run; this one is %s.", s.Status), Hint: "git agentxchain status"}
}

func (op *AcceptTurn) checkModes(turn *Turn) *Error {
	switch op.Resolution {
	case "", ResolutionStandard:
	case ResolutionHumanMerge:
		if turn.ConflictState == nil {
			return &Error{Code: CodeProtocolError, Field: "resolution",
				Message: fmt.Sprintf("Turn %s is not in conflict; human_merge applies only to a conflicted turn.", turn.TurnID),
				Hint:    "git agentxchain accept " + turn.TurnID}
		}
	default:
		return &Error{Code: CodeProtocolError, Field: "resolution", Message: fmt.Sprintf("Unknown resolution %q; use standard or human_merge.", op.Resolution)}
	}
	if op.NormalizeArtifact != "" && op.NormalizeArtifact != "review" {
		return &Error{Code: CodeProtocolError, Field: "normalize_artifact_type",
			Message: fmt.Sprintf("The artifact type can be normalised to review only, not to %q.", op.NormalizeArtifact)}
	}
	return nil
}

// Bounds of a staged result. An agent's document is hostile until proven sane.
const (
	MaxStagedBytes = 8 << 20
	maxStagedDepth = 64
)

// DecodeStaged reads a staged result: strict, bounded, an object.
func DecodeStaged(path string, data []byte) (*ojson.Object, *Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxStagedBytes, Depth: maxStagedDepth})
	if err != nil {
		e := &Error{Code: CodeInvalidJSON, Stage: "schema", Class: "schema_error", Field: path,
			Message: fmt.Sprintf("%s is not a valid turn result: %v.", path, err),
			Hint:    "fix the file and run: git agentxchain accept"}
		var syn *ojson.SyntaxError
		if errors.As(err, &syn) {
			e.Details = ojson.NewObject("line", syn.Line, "offset", syn.Offset)
		}
		return nil, e
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, &Error{Code: CodeInvalidJSON, Stage: "schema", Class: "schema_error", Field: path,
			Message: fmt.Sprintf("%s must hold a JSON object, not %s.", path, ojson.TypeName(v)),
			Hint:    "fix the file and run: git agentxchain accept"}
	}
	return o, nil
}

// StagedProof reports whether the bytes count as an actor's output: neither
// blank nor a bare {} (spec/02 §1).
func StagedProof(data []byte) bool {
	s := trimSpace(string(data))
	return s != "" && s != "{}"
}

func (op *AcceptTurn) decode(turn *Turn) (*ojson.Object, *Error) {
	if op.Staged == nil || !StagedProof(op.Staged.Data) {
		return nil, &Error{Code: CodeStagedMissing, Stage: "schema", Class: "schema_error", Field: StagingPath(turn.TurnID),
			Message: fmt.Sprintf("Turn %s has no staged result at %s.", turn.TurnID, StagingPath(turn.TurnID)),
			Hint:    "write the turn result there, then: git agentxchain accept"}
	}
	doc, err := DecodeStaged(op.StagedPath, op.Staged.Data)
	if err != nil {
		return nil, err
	}
	if id := doc.String("turn_id"); op.StagedPath == FlatStagingPath && id != "" && id != turn.TurnID {
		return nil, &Error{Code: CodeStaleStaging, Field: FlatStagingPath,
			Message: fmt.Sprintf("%s belongs to turn %s, but the active turn is %s.", FlatStagingPath, id, turn.TurnID),
			Hint:    fmt.Sprintf("remove it or stage the result at %s", StagingPath(turn.TurnID))}
	}
	return doc, nil
}

// acceptance is the state of one acceptance decision.
type acceptance struct {
	t    *transition
	op   *AcceptTurn
	turn *Turn
	role *Role

	v         *Validation
	res       *TurnResult
	effective []string
	attr      Attribution
	verify    NormalizedVerification
	conflict  *ojson.Object
	forward   *ojson.Object
	warnings  []string
	leftover  []string
}

// refuse records a failed acceptance: the turn and its staged file stay, the
// turn is marked, the event log says why (spec/02 §7).
func (a *acceptance) refuse(err *Error) *Error {
	t := a.t
	if t.failure != nil {
		return nil // a conflict or policy escalation has recorded itself
	}
	turn := *a.turn
	turn.Status = TurnFailedAcceptance
	turn.FailedAt, turn.FailureReason = t.env.Time(), err.Message
	t.s.ActiveTurns.Set(turn.TurnID, &turn)
	t.events = nil
	pairs := []any{"reason", err.Message, "error_code", err.Code, "stage", err.Stage}
	if len(err.Problems) > 0 {
		pairs = append(pairs, "errors", Problems(err.Problems).Messages())
	}
	t.event("acceptance_failed", &turn, pairs...)
	t.session = "acceptance_failed"
	t.subject = fmt.Sprintf("refuse %s (%s): %s", turn.TurnID, turn.AssignedRole, err.Code)
	if err.Hint == "" {
		err.Hint = "fix it and run git agentxchain accept " + turn.TurnID + ", or git agentxchain reject " + turn.TurnID + " --reason ..."
	}
	t.failure = err
	t.result = &AcceptResult{Turn: &turn, Validation: a.v, Warnings: a.warnings}
	return nil
}

func (a *acceptance) decide(doc *ojson.Object) *Error {
	for _, step := range []func(*ojson.Object) *Error{
		a.validate, a.checkOverrides, a.observe, a.coverIntent, a.precheckGate, a.checkReplay, a.checkPolicies, a.checkConflict,
	} {
		if err := step(doc); err != nil {
			return err
		}
		if a.t.failure != nil {
			return nil
		}
	}
	a.commit()
	return nil
}

func (a *acceptance) validate(doc *ojson.Object) *Error {
	t := a.t
	used := DecodeDecisionIDs(t.x.DecisionIDs)
	in := ValidationInput{Config: t.cfg, State: t.s, Turn: a.turn, Raw: doc, NormalizeReview: a.op.NormalizeArtifact == "review",
		EarlierProduct: t.x.ProductTurn, UsedDecisions: used, SeriousObjectionOpen: t.x.SeriousObjection()}
	if a.op.IdleSidecar != nil {
		// An unreadable sidecar counts as absent; the missing member is then refused.
		in.IdleSidecar, _ = ojson.DecodeLimited(a.op.IdleSidecar.Data, ojson.Limits{Bytes: MaxStagedBytes, Depth: maxStagedDepth})
	}
	a.v = ValidateTurnResult(in)
	if !a.v.OK {
		return &Error{Code: CodeValidationFailed, Stage: a.v.Stage, Class: a.v.Class, Problems: a.v.Errors,
			Message: fmt.Sprintf("The result of turn %s fails the %s stage: %s", a.turn.TurnID, a.v.Stage, a.v.Errors.Join()),
			Details: ojson.NewObject("warnings", a.v.Warnings)}
	}
	a.res = a.v.Result
	a.warnings = a.v.Warnings
	norms := append(a.v.Events, RenumberDecisions(a.res, used)...)
	if over := len(norms) - maxNormalizationEvents; over > 0 {
		// A hostile result can need a rewrite per member; the ledger is not its dump.
		norms = norms[:maxNormalizationEvents]
		a.warnings = append(a.warnings, fmt.Sprintf("%d further rewrites of the result are not listed in the event log.", over))
	}
	for _, n := range norms {
		kind := "staged_result_auto_normalized"
		pairs := []any{"field", n.Field, "original_value", n.Original, "normalized_value", n.Normalized, "rationale", n.Rationale, "staging_path", a.op.StagedPath}
		if n.Field == "artifact.type" && n.Rationale == "empty_files_changed_no_repo_mutation_declared" {
			kind = "artifact_type_auto_normalized"
			pairs = []any{"original_artifact_type", n.Original, "normalized_artifact_type", n.Normalized, "reason", n.Rationale, "staging_path", a.op.StagedPath}
		}
		t.event(kind, a.turn, pairs...)
	}
	a.effective = EffectiveFiles(a.res)
	return nil
}

// maxNormalizationEvents bounds what one acceptance writes about its rewrites.
const maxNormalizationEvents = 200

func (a *acceptance) checkOverrides(*ojson.Object) *Error {
	warnings, err := CheckOverrides(a.t.cfg, a.t.snap.RepoDecisions, a.turn.AssignedRole, a.res.Decisions)
	if err != nil {
		return err
	}
	a.warnings = append(a.warnings, warnings...)
	return nil
}

// observe holds the declared changes against the work tree (spec/02 §10).
func (a *acceptance) observe(*ojson.Object) *Error {
	t, seen := a.t, &a.op.Seen
	authority := ""
	if a.role != nil {
		authority = a.role.WriteAuthority
	}
	a.verify = NormalizeVerification(a.res, a.runtimeType())
	a.attr = Attribute(AttributionInput{Turn: a.turn, Active: &t.s.ActiveTurns, Rows: t.x.Recent, Observed: seen.FilesChanged,
		Markers: &seen.Markers, Declared: a.effective, Siblings: seen.Siblings})
	out := CompareObserved(ObservedInput{Authority: authority, TurnID: a.turn.TurnID, Declared: a.effective, Result: a.res, Seen: seen,
		Attribution: a.attr, Uncheckpointed: t.x.Uncheckpointed.Keys(), HasVerification: len(a.res.Verification.Commands)+len(a.res.Verification.MachineEvidence) > 0})
	a.warnings = append(a.warnings, out.Warnings...)
	if out.Err != nil {
		return out.Err
	}
	a.effective = out.Effective
	a.leftover = out.Leftover
	if a.res.Artifact.Type == "workspace" && authority == Authoritative && a.res.Status == ResultCompleted && len(a.effective) == 0 && len(a.attr.Files) == 0 {
		return &Error{Code: CodeEmptyWorkspace, Stage: "artifact_validation", Class: "artifact_error", Field: "artifact.type",
			Message: "The artifact is a workspace change, but no file was changed or declared.",
			Hint:    "git agentxchain accept " + a.turn.TurnID + " --normalize-artifact-type review"}
	}
	return nil
}

func (a *acceptance) runtimeType() string {
	if rt, ok := a.t.cfg.Runtimes.Get(a.turn.RuntimeID); ok {
		return rt.Type
	}
	return "manual"
}

// precheckGate refuses a phase request whose gate fails on files the turn did
// not touch (spec/02 §13.4). The candidate turn counts as a participant.
func (a *acceptance) precheckGate(*ojson.Object) *Error {
	t := a.t
	if a.res.PhaseTransitionRequest == nil || (t.cfg.GateCoverageMode != "" && t.cfg.GateCoverageMode != "strict") {
		return nil
	}
	in := a.gateInput()
	in.TransitionRequest = a.res.PhaseTransitionRequest
	g := EvaluatePhaseExit(in)
	if g.Action != ActionGateFailed {
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
	gate := strOr(g.GateID)
	if t.s.Phase == "planning" {
		// The registered vocabulary has no event of its own for this; it is a
		// normalisation of the staged result and is recorded as one.
		t.event("staged_result_auto_normalized", a.turn, "field", "phase_transition_request", "original_value", *a.res.PhaseTransitionRequest,
			"normalized_value", nil, "rationale", "gate_transition_request_auto_stripped", "staging_path", a.op.StagedPath,
			"gate_id", gate, "uncovered_files", uncovered, "declared_files", a.effective)
		a.res.PhaseTransitionRequest = nil
		a.res.Raw = a.res.Raw.Clone()
		a.res.Raw.Delete("phase_transition_request")
		a.warnings = append(a.warnings, fmt.Sprintf("The phase request was set aside: gate %q fails on %s, which this turn did not change.", gate, list(uncovered)))
		return nil
	}
	e := &Error{Code: CodeGateCoverage, Stage: "gate_semantic_coverage", Class: "gate_coverage_error", Field: "phase_transition_request",
		Message: fmt.Sprintf("Gate %q fails on %s, which turn %s did not change.", gate, list(uncovered), a.turn.TurnID),
		Hint:    "edit the file, or withdraw the phase request",
		Details: ojson.NewObject("gate_id", gate, "files", uncovered, "reasons", g.Reasons)}
	for _, f := range uncovered {
		e.Problems = append(e.Problems, Problem{Code: CodeGateCoverage, Field: f, Value: gate, Message: fmt.Sprintf("Gate %q fails on %q, which the turn did not change.", gate, f)})
	}
	return e
}

// gateInput is the gate evaluation as of this acceptance, the turn included.
func (a *acceptance) gateInput() GateInput {
	in := a.t.gateInput(a.op.Files)
	base := in.Participated
	phase, role := a.t.s.Phase, a.turn.AssignedRole
	in.Participated = func(p, r string) bool { return p == phase && r == role || base(p, r) }
	in.VerificationStatus = a.res.Verification.Status
	in.VerificationReproducible = a.verify.Reproducible
	return in
}

// gateInput fills what every gate evaluation needs from the state and the index.
func (t *transition) gateInput(files []FileBlob) GateInput {
	facts := make([]FileFact, len(files))
	for i, f := range files {
		facts[i] = FileFact{Path: f.Path}
		if f.Blob != nil {
			facts[i].Exists, facts[i].Data = true, f.Blob.Data
		}
	}
	return GateInput{Config: t.cfg, Phase: t.s.Phase, Files: NewFiles(facts), Participated: func(phase, role string) bool {
		roles, _ := t.x.Participants.Get(phase)
		return contains(roles, role)
	}}
}

func (a *acceptance) checkReplay(*ojson.Object) *Error {
	if r := a.op.Replay; r != nil && r.Drift != "" {
		return &Error{Code: CodeReplayDrift, Stage: "verification_replay", Class: "verification_replay_error",
			Message: "Running the declared verification again changed the work tree: " + r.Drift}
	}
	return nil
}

func (a *acceptance) checkPolicies(*ojson.Object) *Error {
	t := a.t
	inPhase, _ := t.x.PhaseAccepted.Get(t.s.Phase)
	streak := 0
	if t.x.StreakRole == a.turn.AssignedRole {
		streak = t.x.Streak
	}
	vs := EvaluatePolicies(t.cfg, PolicyInput{Phase: t.s.Phase, Role: a.turn.AssignedRole, Status: a.res.Status, PhaseTurns: inPhase,
		TotalTurns: t.x.Accepted, Streak: streak, CostUSD: a.res.CostUSD, CostKnown: a.res.Cost.Len() > 0, Replay: a.op.Replay})
	var block, escalate []Violation
	for _, v := range vs {
		switch v.Action {
		case "warn":
			a.warnings = append(a.warnings, v.Message)
		case "escalate":
			escalate = append(escalate, v)
		default: // an unknown action must not let a violation through
			block = append(block, v)
		}
	}
	if len(block) > 0 {
		return &Error{Code: CodePolicyViolation, Stage: "policy", Class: "policy_error", Message: "Policy violation: " + joinViolations(block) + ".",
			Details: ojson.NewObject("violations", violationRows(block))}
	}
	if len(escalate) > 0 {
		a.escalatePolicy(escalate)
	}
	return nil
}

// escalatePolicy blocks the run; the turn keeps its status and its result.
func (a *acceptance) escalatePolicy(vs []Violation) {
	t := a.t
	t.events = nil
	msg := joinViolations(vs)
	t.append(LedgerDecisions, NewPolicyEscalation(t.env.Time(), a.turn, t.s.Phase, violationRows(vs)))
	t.block(blockSpec{On: "policy:" + vs[0].PolicyID, Category: "policy_escalation", TypedReason: "policy_escalation", Owner: "human",
		Action: fmt.Sprintf("Resolve the condition of policy %q, then run: %s", vs[0].PolicyID, t.resumeCommand(a.turn.TurnID)),
		Detail: msg, Turn: a.turn, Retained: true})
	t.session = "blocked"
	t.subject = fmt.Sprintf("block on policy %s at %s", vs[0].PolicyID, a.turn.TurnID)
	t.failure = &Error{Code: CodePolicyEscalation, Stage: "policy", Class: "policy_error", Message: "Policy escalation: " + msg + ".",
		Hint: strOr(&t.s.BlockedReason.Recovery.RecoveryAction), Details: ojson.NewObject("violations", violationRows(vs))}
	t.result = &AcceptResult{Turn: a.turn, Validation: a.v, Warnings: a.warnings}
}

func joinViolations(vs []Violation) string {
	out := ""
	for i, v := range vs {
		if i > 0 {
			out += "; "
		}
		out += v.Message
	}
	return out
}

func violationRows(vs []Violation) []*ojson.Object {
	out := make([]*ojson.Object, len(vs))
	for i, v := range vs {
		out[i] = ojson.NewObject("policy_id", v.PolicyID, "rule", v.Rule, "message", v.Message)
	}
	return out
}
