// Gates decide whether a phase may be left and whether a run may complete (docs/spec/gates.md).

package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Actions of a gate evaluation (docs/spec/gates.md#outcomes).
const (
	ActionNoRequest     = "no_request"
	ActionUnknownPhase  = "unknown_phase"
	ActionGateFailed    = "gate_failed"
	ActionAdvance       = "advance"
	ActionComplete      = "complete"
	ActionAwaitHuman    = "awaiting_human_approval"
	ActionNotFinalPhase = "not_final_phase"
)

// Input is what a gate evaluation reads. Participated says whether a role has an accepted turn in a phase; the
// caller decides which turns count. VerificationStatus is the declared status of the turn that made the request.
type Input struct {
	Config                   *config.Config
	Phase                    string
	Participated             func(phase, role string) bool
	TransitionRequest        *string
	CompletionRequest        bool
	VerificationStatus       string
	VerificationReproducible bool // read only with rules.strict_verification
	Files                    *evidence.Files

	// Marks are the gate documents as they were when the phase began; nil where that is unknown or the
	// configuration has no authority.
	Marks *ojson.Map[*run.DocumentMark]
	// Person: a person passes the gate and answers for what its documents say.
	Person bool

	// Blocking are the ids of the open objections of severity blocking; they prevent completion with
	// rules.objections_block.
	Blocking []string

	// Trace gets a step for each thing that the gate looks at; nil: no trace.
	Trace *verdict.Step
}

// Finding is one reason with its meaning.
type Finding struct {
	Code      string // Finding* constants
	Path      string // file at fault, or ""
	Role      string // role that has not taken part, or ""
	Semantics string // evaluator that failed, or ""
	Reason    string // the wire text
}

// Result is the outcome of a gate evaluation. GateID is nil when no gate
// was reached. NextPhase is set when the phase may be left, TransitionRequest
// whenever one was made.
type Result struct {
	Action              string
	GateID              *string
	Passed              bool
	BlockedByHuman      bool
	Reasons             []string
	MissingFiles        []string
	FailingFiles        []string // missing files among them, each once
	MissingVerification bool
	NextPhase           string
	TransitionRequest   string
	Credentialed        bool
	Findings            []Finding // one for each of Reasons, in order
	Warnings            []Finding // findings that do not fail the gate; not on the wire
	NeedsPerson         string    // why no policy may pass the gate, "" when one may; not on the wire
}

// Files returns every path that an evaluation of the phase's exit gate reads, in order; nil when the phase has no
// defined gate.
func Files(cfg *config.Config, phase string) []string {
	route := cfg.Route(phase)
	if route == nil || route.ExitGate == "" {
		return nil
	}
	gate := cfg.Gate(route.ExitGate)
	if gate == nil {
		return nil
	}
	var out []string
	for _, a := range config.GateArtifacts(cfg, gate, phase) {
		out = append(out, a.Path)
	}
	return out
}

// EvaluatePhaseExit decides a phase transition request (docs/spec/gates.md#outcomes).
func EvaluatePhaseExit(in Input) Result {
	r := Result{Action: ActionNoRequest}
	if in.TransitionRequest == nil || *in.TransitionRequest == "" {
		return r
	}
	want := *in.TransitionRequest
	r.TransitionRequest = want
	if in.Config.Route(want) == nil {
		r.Action = ActionUnknownPhase
		r.add(Finding{
			Code:   verdict.FindingUnknownPhase,
			Reason: fmt.Sprintf("Requested phase %s does not exist in routing config", wire.Quoted(want)),
		})
		return r
	}
	switch next := in.Config.NextPhase(in.Phase); {
	case next == "":
		r.Action = ActionGateFailed
		r.add(Finding{
			Code: verdict.FindingFinalPhase,
			Reason: fmt.Sprintf(
				"phase_transition_request %s is invalid in final phase %s; use run_completion_request instead.",
				wire.Quoted(want), wire.Quoted(in.Phase)),
		})
		return r
	case next != want:
		r.Action = ActionGateFailed
		r.add(Finding{
			Code: verdict.FindingPhaseOrder,
			Reason: fmt.Sprintf("phase_transition_request %s is invalid from phase %s; next phase is %s.",
				wire.Quoted(want), wire.Quoted(in.Phase), wire.Quoted(next)),
		})
		return r
	}
	r.evaluate(in, ActionAdvance, "Gate %s referenced by routing but not defined in gates config — treated as open")
	if r.Passed {
		r.NextPhase = want
	}
	return r
}

// EvaluateRunCompletion decides a run completion request (docs/spec/gates.md#outcomes).
func EvaluateRunCompletion(in Input) Result {
	r := Result{Action: ActionNoRequest}
	if !in.CompletionRequest {
		return r
	}
	if final := in.Config.FinalPhase(); final != "" && in.Phase != final {
		r.Action = ActionNotFinalPhase
		r.add(Finding{
			Code: verdict.FindingNotFinalPhase,
			Reason: fmt.Sprintf("Run completion requested but current phase %s is not the final phase %s",
				wire.Quoted(in.Phase), wire.Quoted(final)),
		})
		return r
	}
	r.evaluate(in, ActionComplete, "Gate %s referenced but not defined — treated as open")
	if in.Config.Rules.ObjectionsBlock && len(in.Blocking) > 0 {
		r.Action, r.Passed, r.BlockedByHuman = ActionGateFailed, false, false
		r.add(Finding{
			Code: verdict.FindingObjection,
			Reason: fmt.Sprintf(
				"Blocking objections are open: %s; a turn resolves them, or a person: git agentxchain objection close",
				wire.List(in.Blocking)),
		})
	}
	return r
}

// evaluate applies the exit gate of the current phase; open is the action of a
// passed gate, undefined the text for a gate that has no definition.
func (r *Result) evaluate(in Input, open, undefined string) {
	r.Action, r.Passed = open, true
	route := in.Config.Route(in.Phase)
	if route == nil || route.ExitGate == "" {
		return
	}
	id := route.ExitGate
	r.GateID = &id
	gate := in.Config.Gate(id)
	if gate == nil {
		r.add(Finding{Code: verdict.FindingUndefinedGate, Reason: fmt.Sprintf(undefined, wire.Quoted(id))})
		return
	}
	r.Credentialed = gate.Credentialed
	var stale []string
	for _, a := range config.GateArtifacts(in.Config, gate, in.Phase) {
		found, warned := len(r.Findings), len(r.Warnings)
		if r.artifact(in, a) {
			stale = append(stale, a.Path)
		}
		traceFile(in, id, a, r.Findings[found:], r.Warnings[warned:])
	}
	if gate.RequiresVerify {
		found := len(r.Findings)
		r.verification(in)
		traceVerification(in, id, r.Findings[found:])
	}
	person := gate.RequiresHuman || r.NeedsPerson != ""
	if in.Config.GateRule(id) != nil {
		person, r.NeedsPerson = true, "authority names who approves gate "+wire.Quoted(id)
	}
	found := len(r.Findings)
	r.stale(in, stale, person)
	traceStale(in, stale, r.Findings[found:])
	tracePerson(in, id, person, r.NeedsPerson)
	switch {
	case len(r.Findings) > 0:
		r.Action, r.Passed = ActionGateFailed, false
	case person:
		r.Action, r.BlockedByHuman = ActionAwaitHuman, true
	}
}

// artifact applies the predicates of one file in the order of docs/spec/gates.md#what-a-gate-looks-at. It returns
// true for a required file that has not changed since the phase began.
func (r *Result) artifact(in Input, a *config.GateArtifact) (stale bool) {
	if !in.Files.Exists(a.Path) {
		if a.Required {
			r.MissingFiles = append(r.MissingFiles, a.Path)
			r.add(Finding{Code: verdict.FindingMissingFile, Path: a.Path, Reason: "Required file missing: " + a.Path})
		}
		return false
	}
	data := in.Files.Data(a.Path)
	if a.PathRules {
		if kind := config.PathSemantics(a.Path); kind != "" {
			r.judge(in, kind, a.Path, data, nil, false)
		}
	}
	for _, k := range a.Kit {
		r.judge(in, k.Semantics, a.Path, data, k.RequiredSections, true)
	}
	if a.OwnedBy != "" && (in.Participated == nil || !in.Participated(in.Phase, a.OwnedBy)) {
		r.add(Finding{
			Code: verdict.FindingOwnership,
			Path: a.Path,
			Role: a.OwnedBy,
			Reason: fmt.Sprintf("%s requires participation from role %s in phase %s, "+
				"but no accepted turn from that role was found",
				wire.Quoted(a.Path), wire.Quoted(a.OwnedBy), wire.Quoted(in.Phase)),
		})
	}
	if !a.Required || in.Person || in.Marks == nil {
		return false
	}
	if in.Config.PersonSigns() && slices.ContainsFunc(artifactSemantics(a), signoffKind) {
		return false // the person who passes the gate writes it
	}
	m, ok := in.Marks.Get(a.Path)
	return ok && m.Phase == wire.Digest(data)
}

// judge checks a document with one evaluator. A sign-off that only people give is asked of the person who passes
// the gate, whatever the document says before.
func (r *Result) judge(in Input, kind, path string, data []byte, sections []string, configured bool) {
	if !in.Config.PersonSigns() || in.Person || !signoffKind(kind) {
		r.semantics(kind, path, data, sections, configured)
		return
	}
	r.NeedsPerson = "a person signs " + wire.Quoted(path)
	if Affirmative(kind, data) {
		r.Warnings = append(r.Warnings, Finding{
			Code:      verdict.FindingSignoffStale,
			Path:      path,
			Semantics: kind,
			Reason:    path + " already says yes, and no person approved that in this run; it counts with an approval",
		})
	}
}

// stale fails a gate whose documents have not changed since before the phase; where a person decides, it leaves
// that to them.
func (r *Result) stale(in Input, paths []string, person bool) {
	for _, p := range paths {
		since := "phase " + in.Phase
		if m, _ := in.Marks.Get(p); m.Run == m.Phase {
			since = "the run"
		}
		f := Finding{
			Code:   verdict.FindingDocumentStale,
			Path:   p,
			Reason: fmt.Sprintf("%s is what it was when %s began", p, since),
		}
		if !person {
			r.add(f)
			continue
		}
		r.Warnings = append(r.Warnings, f)
		if r.NeedsPerson == "" {
			r.NeedsPerson = f.Reason
		}
	}
}

// semantics runs one evaluator; a configured one names the file in its reason
// because its text may be about another path.
func (r *Result) semantics(kind, path string, data []byte, sections []string, configured bool) {
	ok, reason, warnings := EvaluateSemantics(kind, path, data, sections)
	for _, w := range warnings {
		r.Warnings = append(r.Warnings, Finding{
			Code:      verdict.FindingMalformedArtifact,
			Path:      path,
			Semantics: kind,
			Reason:    w,
		})
	}
	if ok {
		return
	}
	if configured && !strings.Contains(reason, path) {
		reason = path + ": " + reason
	}
	r.add(Finding{Code: verdict.FindingSemantics, Path: path, Semantics: kind, Reason: reason})
}

// verification reads the declared status; rules.strict_verification also requires that the claim be reproducible
// (docs/compatibility.md#where-we-differ-on-purpose).
func (r *Result) verification(in Input) {
	switch in.VerificationStatus {
	case "pass", "attested_pass":
		if in.Config.Rules.StrictVerify && !in.VerificationReproducible {
			r.MissingVerification = true
			r.add(Finding{
				Code: verdict.FindingNotReproducible,
				Reason: fmt.Sprintf(
					"Verification status is %s without machine evidence that can be run again, which rules.strict_verification requires", wire.Quoted(in.VerificationStatus)),
			})
		}
		return
	}
	status := in.VerificationStatus
	if status == "" {
		status = "missing"
	}
	r.MissingVerification = true
	r.add(Finding{
		Code:   verdict.FindingVerification,
		Reason: fmt.Sprintf(`Verification status is %s, requires "pass" or "attested_pass"`, wire.Quoted(status)),
	})
}

func (r *Result) add(f Finding) {
	r.Findings = append(r.Findings, f)
	r.Reasons = append(r.Reasons, f.Reason)
	if f.Path != "" && !slices.Contains(r.FailingFiles, f.Path) {
		r.FailingFiles = append(r.FailingFiles, f.Path)
	}
}

// Object returns the result as the protocol shows it (docs/spec/gates.md#outcomes); phaseExit
// adds the members of a phase exit.
func (r *Result) Object(phaseExit bool) *ojson.Object {
	o := ojson.NewObject("gate_id", r.GateID, "passed", r.Passed, "blocked_by_human_approval", r.BlockedByHuman,
		"reasons", slices.Clone(r.Reasons),
		"missing_files", slices.Clone(r.MissingFiles), "failing_files", slices.Clone(r.FailingFiles),
		"missing_verification", r.MissingVerification)
	if phaseExit {
		o.Set("next_phase", ojson.OrNull(r.NextPhase))
		o.Set("transition_request", ojson.OrNull(r.TransitionRequest))
	}
	o.Set("action", r.Action)
	return o
}
