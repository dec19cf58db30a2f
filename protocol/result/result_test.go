// Tests of the validation pipeline: order of stages, what is reported, what the view contains.

package result

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// resultConfig has three phases and one role of each authority:
//
//	planning        entry pm   next dev, pm, human     gate plan_gate
//	implementation  entry dev  next dev, qa, human     gate code_gate
//	qa              entry qa   next qa, dev, human     gate ship_gate
func resultConfig() *config.Config {
	c := &config.Config{Rules: config.Rules{ChallengeRequired: true}}
	for _, r := range []config.Role{
		{ID: "pm", WriteAuthority: wire.Authoritative, RuntimeID: "hand"},
		{ID: "dev", WriteAuthority: wire.Authoritative, RuntimeID: "hand"},
		{ID: "qa", WriteAuthority: wire.ReviewOnly, RuntimeID: "hand"},
		{ID: "writer", WriteAuthority: wire.Proposed, RuntimeID: "api"},
	} {
		c.Roles.Set(r.ID, &r)
	}
	c.Runtimes.Set("hand", &config.Runtime{ID: "hand", Type: "manual"})
	c.Runtimes.Set("api", &config.Runtime{ID: "api", Type: "api_proxy"})
	c.Routing.Set("planning", &config.Route{
		Phase:            "planning",
		EntryRole:        "pm",
		AllowedNextRoles: []string{"dev", "pm", "human"},
		ExitGate:         "plan_gate",
	})
	c.Routing.Set("implementation", &config.Route{
		Phase:            "implementation",
		EntryRole:        "dev",
		AllowedNextRoles: []string{"dev", "qa", "human"},
		ExitGate:         "code_gate",
	})
	c.Routing.Set("qa", &config.Route{
		Phase:            "qa",
		EntryRole:        "qa",
		AllowedNextRoles: []string{"qa", "dev", "human"},
		ExitGate:         "ship_gate",
	})
	for _, g := range []string{"plan_gate", "code_gate", "ship_gate", "loose_gate"} {
		c.Gates.Set(g, &config.Gate{ID: g})
	}
	return c
}

// resultCase is one validation: a role's ordinary result with some members
// replaced.
type resultCase struct {
	role  string // default dev
	phase string // default implementation
	patch string // JSON object of members to set; "-name" deletes a member
	tweak func(*Input)
}

func (c resultCase) input(t testing.TB) Input {
	t.Helper()
	if c.role == "" {
		c.role = "dev"
	}
	if c.phase == "" {
		c.phase = "implementation"
	}
	cfg := resultConfig()
	runtime := cfg.Role(c.role).RuntimeID
	doc := ojson.NewObject("schema_version", "1.0", "run_id", "run_1", "turn_id", "turn_a", "role", c.role,
		"runtime_id", runtime,
		"status", "completed", "summary", "Did it", "decisions", []any{}, "objections", []any{},
		"files_changed", []string{"src/a.go"},
		"verification", ojson.NewObject("status", "skipped"), "artifact", ojson.NewObject("type", "workspace"),
		"proposed_next_role", "human")
	switch c.role {
	case "qa":
		doc.Set("files_changed", []any{})
		doc.Set("artifact", ojson.NewObject("type", "review"))
		doc.Set("objections", []any{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement", "A small thing")})
	case "writer":
		doc.Set("artifact", ojson.NewObject("type", "patch"))
		doc.Set("proposed_changes", []any{ojson.NewObject("path", "src/a.go", "action", "create", "content", "")})
	}
	if c.patch != "" {
		patch, err := ojson.DecodeObject([]byte(c.patch))
		if err != nil {
			t.Fatalf("patch %s: %v", c.patch, err)
		}
		for k, v := range patch.All() {
			if name, ok := strings.CutPrefix(k, "-"); ok {
				doc.Delete(name)
			} else {
				doc.Set(k, v)
			}
		}
	}
	runID := "run_1"
	in := Input{Config: cfg, State: &run.State{RunID: &runID, Phase: c.phase},
		Turn: &run.Turn{TurnID: "turn_a", RunID: "run_1", AssignedRole: c.role, RuntimeID: runtime}, Raw: doc}
	if c.tweak != nil {
		c.tweak(&in)
	}
	return in
}

func (c resultCase) validate(t testing.TB) *Validation {
	t.Helper()
	return Validate(c.input(t))
}

// passes validates a case that must be accepted.
func (c resultCase) passes(t testing.TB) *Validation {
	t.Helper()
	v := c.validate(t)
	if !v.OK {
		t.Fatalf("refused at %s: %s", v.Stage, v.Errors.Join())
	}
	return v
}

// findings formats the errors as "code field".
func findings(v *Validation) []string {
	out := []string{}
	for _, p := range v.Errors {
		out = append(out, strings.TrimSpace(p.Code+" "+p.Field))
	}
	return out
}

// refusalCase expects a refusal with exactly these findings.
type refusalCase struct {
	name string
	resultCase
	want []string
}

func runRefusals(t *testing.T, stage string, cases []refusalCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := c.validate(t)
			if v.OK || v.Stage != stage || v.Class != stage+"_error" || v.Result != nil {
				t.Fatalf("got ok=%v stage=%q class=%q result=%v: %s", v.OK, v.Stage, v.Class, v.Result != nil,
					v.Errors.Join())
			}
			if diff := cmp.Diff(c.want, findings(v)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, p := range v.Errors {
				if p.Message == "" || strings.Contains(p.Message, "%!") {
					t.Errorf("message of %s: %q", p.Code, p.Message)
				}
			}
		})
	}
}

func TestTurnResultPassesUnchanged(t *testing.T) {
	for _, role := range []string{"pm", "dev", "writer"} {
		v := resultCase{role: role}.passes(t)
		if len(v.Events) != 0 || len(v.Warnings) != 0 {
			t.Errorf("%s: events %v warnings %v", role, v.Events, v.Warnings)
		}
	}
}

func TestTurnResultNotAnObject(t *testing.T) {
	for _, raw := range []ojson.Value{nil, true, ojson.Number("1"), "x", []any{}, (*ojson.Object)(nil)} {
		v := Validate(Input{Raw: raw})
		if v.OK || v.Stage != StageSchema || v.Errors[0].Code != ProblemNotObject {
			t.Errorf("%v: %+v", raw, v)
		}
	}
}

// Each later stage's fault is always present; the first faulty stage is the one reported.
func TestTurnResultStageOrder(t *testing.T) {
	faults := []struct{ stage, patch string }{
		{StageProtocol, `"delegations":[{"id":"del-001","to_role":"dev","charter":"c","acceptance_contract":["a"]}]`},
		{StageVerification, `"verification":{"status":"fail","commands":[1]}`},
		{StageArtifact, `"files_changed":["../x"]`},
		{StageAssignment, `"turn_id":"turn_b"`},
		{StageSchema, `"summary":3`},
	}
	patch := ""
	for _, f := range faults {
		if patch != "" {
			patch += ","
		}
		patch += f.patch
		if v := (resultCase{patch: "{" + patch + "}"}).validate(t); v.Stage != f.stage {
			t.Errorf("%s: stage %q", patch, v.Stage)
		}
	}
	if got := Stages(); !slices.Equal(got, []string{"schema", "assignment", "artifact", "verification", "protocol"}) {
		t.Errorf("stages %v", got)
	}
}

func TestValidationCode(t *testing.T) {
	for _, c := range []struct {
		want string
		resultCase
	}{
		{"", resultCase{}},
		{"missing_required_field", resultCase{patch: `{"-schema_version":0}`}},
		{"schema_error", resultCase{patch: `{"schema_version":"2.0"}`}},
		{"turn_id_mismatch", resultCase{patch: `{"turn_id":"turn_b"}`}},
		{"run_id_mismatch", resultCase{patch: `{"turn_id":"turn_b","run_id":"run_2"}`}},
		{"assignment_error", resultCase{patch: `{"role":"qa"}`}},
		{"reserved_path_violation", resultCase{patch: `{"files_changed":["./.agentxchain//state.json"]}`}},
		{"artifact_error", resultCase{patch: `{"files_changed":["/etc/passwd","src/a.go"]}`}},
		{"verification_error", resultCase{patch: `{"verification":{"status":"pass","commands":[""]}}`}},
		{"challenge_requirement_violated", resultCase{role: "qa", phase: "qa", patch: `{"objections":[]}`}},
		// The undefined phase is found first, yet the pair of requests names the refusal.
		{"mutually_exclusive_requests", resultCase{
			phase: "qa",
			patch: `{"phase_transition_request":"nowhere","run_completion_request":true}`,
		}},
		// Delegating while completing violates another rule, which has no code of its own there.
		{"protocol_error",
			resultCase{patch: `{"run_completion_request":true,"delegations":[{"id":"del-001","to_role":"qa","charter":"c","acceptance_contract":["a"]}]}`}},
	} {
		if got := c.validate(t).Code(); got != c.want {
			t.Errorf("%s: code %q, want %q", c.patch, got, c.want)
		}
	}
}

func TestWarningsOfFailedStageOnly(t *testing.T) {
	// A normalisation note, a stage C warning and a stage D error.
	v := resultCase{patch: `{"-decisions":0,"files_changed":["tests/a.go"],"verification":{"status":"pass","commands":[""]}}`}.validate(t)
	if v.Stage != StageVerification || len(v.Warnings) != 0 {
		t.Errorf("stage %s, warnings %q", v.Stage, v.Warnings)
	}
}

func TestTurnResultView(t *testing.T) {
	v := resultCase{patch: `{
		"decisions":[{"id":"DEC-7","category":"scope","statement":"s","rationale":"r","durability":"repo","overrides":"DEC-2","x-own":1}],
		"objections":[{"id":"OBJ-1","severity":"high","statement":"o","status":"resolved","against_turn_id":"turn_z","against_decision_id":"DEC-1","proposed_resolution":"p"}],
		"files_changed":["src/a.go","./docs//b.md"],
		"artifacts_created":["n.md"],
		"verification":{"status":"pass","commands":["go test"],"evidence_summary":"fine","machine_evidence":[{"command":"go test","argv":["go","test"],"exit_code":0},{"command":"false","exit_code":1,"expected_exit_code":1}],
			"produced_files":[{"path":"out/x"},{"path":"out/y","disposition":"ignore"}]},
		"artifact":{"type":"workspace","ref":null},
		"phase_transition_request":"qa","run_completion_request":null,"needs_human_reason":null,
		"delegations":[{"id":"del-001","to_role":"qa","charter":"c","acceptance_contract":["a","b"],"required_decision_ids":["DEC-9"]}],
		"cost":{"input_tokens":1,"output_tokens":2,"usd":0.25},
		"x-unknown":{"kept":true}}`}.passes(t)
	r := v.Result
	if r.Status != "completed" || r.Role != "dev" || r.RunID != "run_1" || r.TurnID != "turn_a" ||
		r.RuntimeID != "hand" || r.Summary != "Did it" || r.ProposedNextRole != "human" {
		t.Errorf("identity: %+v", r)
	}
	if d := r.Decisions[0]; d.ID != "DEC-7" || d.Durability != "repo" || d.Overrides != "DEC-2" ||
		d.Raw.String("x-own") != "" || !d.Raw.Has("x-own") {
		t.Errorf("decision %+v", d)
	}
	if o := r.Objections[0]; o.Severity != "high" || o.Open() || o.Serious() || o.AgainstTurnID != "turn_z" ||
		o.AgainstDecisionID != "DEC-1" || o.ProposedResolution != "p" {
		t.Errorf("objection %+v", o)
	}
	if diff := cmp.Diff([]string{"src/a.go", "docs/b.md"}, r.FilesChanged); diff != "" {
		t.Error(diff)
	}
	if e := r.Verification.MachineEvidence; len(e) != 2 || !slices.Equal(e[0].Argv, []string{"go", "test"}) ||
		e[0].ExpectedExitCode != nil || e[1].ExitCode != 1 || *e[1].ExpectedExitCode != 1 {
		t.Errorf("evidence %+v", e)
	}
	if r.Artifact.Type != "workspace" || r.Artifact.Ref != "" || r.PhaseTransitionRequest == nil ||
		*r.PhaseTransitionRequest != "qa" || r.RunCompletionRequest {
		t.Errorf("requests %+v", r)
	}
	if d := r.Delegations[0]; d.ToRole != "qa" || len(d.AcceptanceContract) != 2 ||
		!slices.Equal(d.RequiredDecisionIDs, []string{"DEC-9"}) {
		t.Errorf("delegation %+v", d)
	}
	if r.CostUSD != 0.25 || !r.Raw.Object("x-unknown").Bool("kept") {
		t.Errorf("cost %v, raw %s", r.CostUSD, ojson.Compact(r.Raw))
	}
	if v := (resultCase{patch: `{"cost":{"total_usd":2},"phase_transition_request":null}`}).passes(
		t); v.Result.CostUSD != 2 || v.Result.PhaseTransitionRequest != nil {
		t.Errorf("legacy cost %v, request %v", v.Result.CostUSD, v.Result.PhaseTransitionRequest)
	}
}
