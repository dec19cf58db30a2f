// Result is the typed view of a turn result, schema 1.0 (docs/spec/results.md#members).

package result

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Result is what a participant reports about its turn. Raw is the document after normalisation, including unknown
// members; the other fields are a view of it. Members that are absent or null are zero.
type Result struct {
	Status    string // completed, blocked, needs_human, failed
	Summary   string
	Role      string
	RuntimeID string
	TurnID    string
	RunID     string

	Decisions        []Decision
	Objections       []Objection
	FilesChanged     []string // project-relative, in the form wire.CleanPath returns
	ArtifactsCreated []string
	Verification     Verification
	Artifact         Artifact

	ProposedNextRole       string
	PhaseTransitionRequest *string // nil when absent, null or empty
	RunCompletionRequest   bool
	NeedsHumanReason       string
	ProposedChanges        []ProposedChange
	Delegations            []DelegationRequest

	CostUSD float64       // US dollars: cost.usd, else cost.total_usd, else 0
	Cost    *ojson.Object // nil when absent

	Raw *ojson.Object
}

// Decision is one entry of decisions (docs/spec/results.md#decisions).
type Decision struct {
	ID         string
	Category   string // implementation, architecture, scope, process, quality, release
	Statement  string
	Rationale  string
	Durability string // run, repo; "" when not given, meaning run
	Overrides  string // id of a repo decision, or ""
	Raw        *ojson.Object
}

// Objection is one entry of objections (docs/spec/results.md#objections).
type Objection struct {
	ID                 string
	Severity           string // low, medium, high, blocking
	Statement          string
	Status             string // "" when not given, meaning raised
	AgainstTurnID      string
	AgainstDecisionID  string
	ProposedResolution string
	Raw                *ojson.Object
}

// Open reports whether the objection is still unresolved.
func (o *Objection) Open() bool {
	switch o.Status {
	case "resolved", "resolved_by_human", "resolved_by_director":
		return false
	}
	return true
}

// Serious reports whether the objection is open and of severity high or blocking.
func (o *Objection) Serious() bool {
	return o.Open() && (o.Severity == "high" || o.Severity == "blocking")
}

// Verification is what the participant claims to have checked (docs/spec/results.md#verification).
type Verification struct {
	Status          string // pass, fail, skipped
	Commands        []string
	MachineEvidence []MachineEvidence
	ProducedFiles   []ProducedFile
	EvidenceSummary string
	Raw             *ojson.Object
}

// MachineEvidence is one command with its exit code.
type MachineEvidence struct {
	Command          string
	Argv             []string // preferred over Command by replay; nil when absent
	ExitCode         int
	ExpectedExitCode *int
}

// ProducedFile is a file that verification commands wrote.
type ProducedFile struct {
	Path        string
	Disposition string // artifact (also when not given), ignore
}

// Artifact is the kind of work product (docs/spec/results.md#members).
type Artifact struct {
	Type string // workspace, patch, commit, review
	Ref  string // "" when absent or null
	Raw  *ojson.Object
}

// ProposedChange is a file that a proposing role wants written (docs/spec/results.md#members).
type ProposedChange struct {
	Path            string
	Action          string // create, modify, delete
	Content         string
	OriginalSnippet string
	Raw             *ojson.Object
}

// DelegationRequest is one entry of delegations (docs/spec/results.md#delegations).
type DelegationRequest struct {
	ID                  string
	ToRole              string
	Charter             string
	AcceptanceContract  []string
	RequiredDecisionIDs []string
	Raw                 *ojson.Object
}

// New returns the view of a document. It does not validate: members
// of a wrong type read as absent. The view refers to raw, which the caller must
// not change afterwards.
func New(raw *ojson.Object) *Result {
	r := &Result{
		Status:               raw.String("status"),
		Summary:              raw.String("summary"),
		Role:                 raw.String("role"),
		RuntimeID:            raw.String("runtime_id"),
		TurnID:               raw.String("turn_id"),
		RunID:                raw.String("run_id"),
		FilesChanged:         raw.Strings("files_changed"),
		ArtifactsCreated:     raw.Strings("artifacts_created"),
		Verification:         newVerification(raw.Object("verification")),
		ProposedNextRole:     raw.String("proposed_next_role"),
		RunCompletionRequest: raw.Bool("run_completion_request"),
		NeedsHumanReason:     raw.String("needs_human_reason"),
		Cost:                 raw.Object("cost"),
		Raw:                  raw,
	}
	if p := raw.String("phase_transition_request"); p != "" {
		r.PhaseTransitionRequest = &p
	}
	for _, o := range raw.Objects("decisions") {
		r.Decisions = append(r.Decisions, Decision{
			ID: o.String("id"), Category: o.String("category"), Statement: o.String("statement"), Rationale: o.String(
				"rationale"),
			Durability: o.String("durability"), Overrides: o.String("overrides"), Raw: o,
		})
	}
	for _, o := range raw.Objects("objections") {
		r.Objections = append(r.Objections, newObjection(o))
	}
	if a := raw.Object("artifact"); a != nil {
		r.Artifact = Artifact{Type: a.String("type"), Ref: a.String("ref"), Raw: a}
	}
	for _, o := range raw.Objects("proposed_changes") {
		r.ProposedChanges = append(r.ProposedChanges, ProposedChange{
			Path: o.String("path"), Action: o.String("action"), Content: o.String(
				"content"), OriginalSnippet: o.String("original_snippet"), Raw: o,
		})
	}
	for _, o := range raw.Objects("delegations") {
		r.Delegations = append(r.Delegations, DelegationRequest{
			ID: o.String("id"), ToRole: o.String("to_role"), Charter: o.String("charter"),
			AcceptanceContract: o.Strings("acceptance_contract"), RequiredDecisionIDs: o.Strings(
				"required_decision_ids"), Raw: o,
		})
	}
	usd, ok := r.Cost.Float("usd")
	if !ok {
		usd, _ = r.Cost.Float("total_usd")
	}
	r.CostUSD = usd
	return r
}

func newObjection(o *ojson.Object) Objection {
	return Objection{
		ID: o.String("id"), Severity: o.String("severity"), Statement: o.String("statement"), Status: o.String(
			"status"),
		AgainstTurnID: o.String("against_turn_id"), AgainstDecisionID: o.String("against_decision_id"),
		ProposedResolution: o.String("proposed_resolution"), Raw: o,
	}
}

func newVerification(o *ojson.Object) Verification {
	v := Verification{
		Status:          o.String("status"),
		Commands:        o.Strings("commands"),
		EvidenceSummary: o.String("evidence_summary"),
		Raw:             o,
	}
	for _, e := range o.Objects("machine_evidence") {
		m := MachineEvidence{Command: e.String("command"), Argv: e.Strings("argv")}
		m.ExitCode, _ = e.Int("exit_code")
		if n, ok := e.Int("expected_exit_code"); ok {
			m.ExpectedExitCode = &n
		}
		v.MachineEvidence = append(v.MachineEvidence, m)
	}
	for _, f := range o.Objects("produced_files") {
		v.ProducedFiles = append(v.ProducedFiles, ProducedFile{
			Path:        f.String("path"),
			Disposition: f.String("disposition"),
		})
	}
	return v
}
