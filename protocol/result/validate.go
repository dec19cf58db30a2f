// Validate: normalisation, then the five stages in order (docs/spec/results.md#the-five-stages).

package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Stages of validation, in order. A stage runs only when all before it passed.
const (
	StageSchema       = "schema"
	StageAssignment   = "assignment"
	StageArtifact     = "artifact"
	StageVerification = "verification"
	StageProtocol     = "protocol"
)

// Stages returns the stages in order.
func Stages() []string {
	return []string{StageSchema, StageAssignment, StageArtifact, StageVerification, StageProtocol}
}

// Input is everything the rules look at.
type Input struct {
	Config *config.Config
	State  *run.State // nil: not loaded, which fails the assignment stage
	Turn   *run.Turn  // the active turn the result is for; nil: none

	Raw ojson.Value // the decoded staged document; it is not modified

	// NormalizeReview is the operator's permission to read an empty workspace artifact as a review (accept
	// --normalize-artifact-type review).
	NormalizeReview bool
	// EarlierProduct: a completed implementation turn accepted earlier in this
	// run changed a product file.
	EarlierProduct bool
	// SeriousObjectionOpen: an earlier turn of this run raised an objection of severity high or blocking that is
	// open. As with one in the result itself, a review is then not read as consent
	// (docs/compatibility.md#where-we-differ-on-purpose).
	SeriousObjectionOpen bool
	// UsedDecisions are the decision ids of the run; nil: none.
	UsedDecisions *run.DecisionIDs
	// DurableDecisions are the ids of the decisions that outlive their runs; nil: none.
	DurableDecisions *run.DecisionIDs
	// Earlier is what the rule set of the result's time did differently.
	Earlier Earlier
	// IdleSidecar is the decoded idle-expansion-result.json next to the staged
	// document, nil when there is none (docs/spec/results.md#idle-expansion).
	IdleSidecar ojson.Value
}

// Earlier is what earlier rule sets did differently with a result; the zero value is the present one.
type Earlier struct {
	InfersExitCodes bool // a failing command under a pass counted as an expected failure
	FreeExitCode    bool // verification.exit_code was not checked against the status
}

// Validation is the outcome. When OK is false, Stage and Class name the first
// stage with errors, Errors holds all errors and Warnings the warnings of that
// stage, and Result is nil.
type Validation struct {
	OK       bool
	Stage    string // StageSchema and so on; "" when OK
	Class    string // <stage>_error; "" when OK
	Errors   wire.Problems
	Warnings []string
	Result   *Result
	// Events are the rewrites, in order; for a refused result, those made before the stage that refused it.
	Events []NormalizationEvent

	// Validated is the result as it passed validation, when an acceptance has since set aside a request of it
	// (docs/spec/gates.md#before-an-acceptance); else nil.
	Validated *ojson.Object
}

// Code returns the typed code of the refusal: the first error's code where the protocol names one,
// mutually_exclusive_requests when any error has that code, else the class (docs/conformance.md#becoming-a-target).
// It is "" when OK.
func (v *Validation) Code() string {
	if v.OK {
		return ""
	}
	for _, p := range v.Errors {
		if p.Code == ProblemMutuallyExclusive {
			return p.Code
		}
	}
	if len(v.Errors) > 0 {
		switch c := v.Errors[0].Code; c {
		case ProblemMissingField, ProblemDecisionID, ProblemRunMismatch, ProblemTurnMismatch, ProblemReservedPath,
			ProblemChallenge:
			return c
		}
	}
	return v.Class
}

// Notes returns one warning per event, for a person.
func (v *Validation) Notes() []string {
	notes := make([]string, len(v.Events))
	for i := range v.Events {
		notes[i] = v.Events[i].Note()
	}
	return notes
}

// Validate normalises a staged document and checks it in five stages; it stops at the first stage with errors
// (docs/spec/results.md#the-five-stages). Whatever the document contains, a failure is always a Validation that is
// not OK.
func Validate(in Input) *Validation {
	if in.Config == nil {
		in.Config = &config.Config{}
	}
	raw, ok := in.Raw.(*ojson.Object)
	if !ok || raw == nil {
		r := &stageReport{}
		r.errorf(ProblemNotObject, "", "", "a turn result must be a JSON object, not %s", ojson.TypeName(in.Raw))
		return r.failed(StageSchema)
	}
	// Bounds first: no later step should have to work on an oversized document.
	r := &stageReport{}
	checkBounds(r, raw)
	if len(r.problems) > 0 {
		return r.failed(StageSchema)
	}

	n := newNormalizer(in, raw.Clone())
	n.run()
	doc := n.doc
	refused := func(r *stageReport, stage string) *Validation {
		v := r.failed(stage)
		v.Events = n.events
		return v
	}
	checkSchema(r, doc)
	if len(r.problems) == 0 && in.Config.StrictResults() {
		checkShapes(r, doc)
	}
	if len(r.problems) == 0 {
		checkIdleExpansion(r, doc, in.Turn)
	}
	if len(r.problems) > 0 {
		return refused(r, StageSchema)
	}

	c := &stageContext{in: in, doc: doc, result: New(doc)}
	if in.State != nil {
		c.phase = in.State.Phase
		c.route = in.Config.Route(c.phase)
	}
	if role := in.Config.Role(c.result.Role); role != nil {
		c.authority = role.WriteAuthority
	}
	var warnings []string
	for _, stage := range []struct {
		name  string
		check func(*stageReport, *stageContext)
	}{
		{StageAssignment, checkAssignment},
		{StageArtifact, checkArtifact},
		{StageVerification, checkVerification},
		{StageProtocol, checkProtocol},
	} {
		r := &stageReport{}
		stage.check(r, c)
		if len(r.problems) > 0 {
			return refused(r, stage.name)
		}
		warnings = append(warnings, r.warnings...)
	}

	// Only now may the spelling of paths change: the messages above quote them as the participant wrote them.
	events := len(n.events)
	n.cleanPaths()
	v := &Validation{OK: true, Result: c.result}
	if len(n.events) > events {
		v.Result = New(doc)
	}
	// In strict no number is taken: stage E refused it.
	v.Events = append(n.events, RenumberDecisions(v.Result, in.UsedDecisions, in.DurableDecisions)...)
	v.Warnings = append(v.Notes(), warnings...)
	return v
}
