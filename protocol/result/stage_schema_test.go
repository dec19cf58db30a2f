// Table tests of stage A (docs/spec/results.md#the-five-stages).

package result

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const okDecision = `"id":"DEC-1","category":"scope","statement":"s","rationale":"r"`

func TestStageSchema(t *testing.T) {
	patch := func(p string) resultCase { return resultCase{patch: p} }
	decision := func(extra string) resultCase { return patch(`{"decisions":[{` + okDecision + extra + `}]}`) }
	objection := func(members string) resultCase { return patch(`{"objections":[{` + members + `}]}`) }
	delegation := func(id, to, charter, contract, extra string) resultCase {
		return patch(`{"delegations":[{"id":` + id + `,"to_role":` + to + `,"charter":` + charter +
			`,"acceptance_contract":` + contract + extra + `}]}`)
	}
	runRefusals(t, StageSchema, []refusalCase{
		{"required, all of them",
			patch(`{"-schema_version":0,"-turn_id":0,"-role":0,"-status":0,"-files_changed":0,"-verification":0,"decisions":1}`),
			[]string{"missing_required_field schema_version", "missing_required_field turn_id",
				"missing_required_field role", "missing_required_field status", "missing_required_field files_changed",
				"missing_required_field verification"}},
		{"version", patch(`{"schema_version":"1.1"}`), []string{"unsupported_schema_version schema_version"}},
		{"version null", patch(`{"schema_version":null}`), []string{"unsupported_schema_version schema_version"}},
		{"turn_id", patch(`{"turn_id":""}`), []string{"empty_field turn_id"}},
		{"runtime_id", patch(`{"runtime_id":5}`), []string{"empty_field runtime_id"}},
		{"summary", patch(`{"summary":5}`), []string{"empty_field summary"}},
		{"role", patch(`{"role":"Dev"}`), []string{"invalid_role_id role"}},
		{"status", patch(`{"status":"Completed"}`), []string{"invalid_enum_value status"}},
		{"status null", patch(`{"status":null}`), []string{"invalid_enum_value status"}},
		{"next role", patch(`{"proposed_next_role":5}`), []string{"invalid_role_id proposed_next_role"}},
		{"order",
			patch(`{"proposed_next_role":5,"status":"x","role":"X","decisions":1,"artifact":{"type":"zip"},"cost":5}`),
			[]string{"invalid_role_id role", "invalid_enum_value status", "invalid_role_id proposed_next_role",
				"wrong_type decisions", "invalid_enum_value artifact.type", "wrong_type cost"}},
		{"arrays",
			patch(`{"decisions":null,"objections":{},"files_changed":"x","artifacts_created":null,"delegations":null}`),
			[]string{"wrong_type decisions", "wrong_type objections", "wrong_type files_changed",
				"wrong_type artifacts_created", "wrong_type delegations"}},
		{"items",
			patch(`{"decisions":[1],"objections":["x"],"files_changed":["a",1],"artifacts_created":[null],"delegations":[[]]}`),
			[]string{"wrong_type decisions[0]", "wrong_type objections[0]", "wrong_type files_changed[1]",
				"wrong_type artifacts_created[0]", "wrong_type delegations[0]"}},
		{"decision without text", patch(`{"decisions":[{"id":"DEC-1","category":"scope"}]}`),
			[]string{"empty_field decisions[0].statement", "empty_field decisions[0].rationale"}},
		{"durability", decision(`,"durability":"forever"`), []string{"invalid_enum_value decisions[0].durability"}},
		{"overrides null", decision(`,"overrides":null`),
			[]string{"invalid_override_id_format decisions[0].overrides"}},
		{"overrides itself", decision(`,"overrides":"DEC-1"`), []string{"self_override decisions[0].overrides"}},
		{"overrides itself, other spelling", decision(`,"overrides":"DEC-001"`),
			[]string{"self_override decisions[0].overrides"}},
		{"severity", objection(`"id":"OBJ-1","statement":"s"`), []string{"invalid_enum_value objections[0].severity"}},
		{"objection statement", objection(`"id":"OBJ-1","severity":"low","statement":" "`),
			[]string{"empty_field objections[0].statement"}},
		{"objection status", objection(`"id":"OBJ-1","severity":"low","statement":"s","status":"open"`),
			[]string{"invalid_enum_value objections[0].status"}},
		{"verification", patch(`{"verification":[]}`), []string{"wrong_type verification"}},
		{"verification.status empty", patch(`{"verification":{"status":""}}`),
			[]string{"empty_field verification.status"}},
		{"verification.status", patch(`{"verification":{"status":"attested_pass"}}`),
			[]string{"invalid_enum_value verification.status"}},
		{"artifact.type null", patch(`{"artifact":{"type":null}}`), []string{"empty_field artifact.type"}},
		{"requests", patch(`{"phase_transition_request":1,"run_completion_request":"yes","needs_human_reason":false}`),
			[]string{"wrong_type phase_transition_request", "wrong_type run_completion_request",
				"wrong_type needs_human_reason"}},
		{"cost negative", patch(`{"cost":{"usd":-0.01}}`), []string{"invalid_cost cost.usd"}},
		{"cost string", patch(`{"cost":{"usd":"1","total_usd":true}}`),
			[]string{"invalid_cost cost.usd", "invalid_cost cost.total_usd"}},
		{"cost beyond doubles", patch(`{"cost":{"usd":1e999}}`), []string{"invalid_cost cost.usd"}},
		{"tokens", patch(`{"cost":{"input_tokens":1.5,"output_tokens":-1}}`),
			[]string{"invalid_cost cost.input_tokens", "invalid_cost cost.output_tokens"}},
		{"delegation", delegation(`"del-1"`, `"A B"`, `" "`, `[]`, ``),
			[]string{"invalid_delegation_id_format delegations[0].id", "invalid_role_id delegations[0].to_role",
				"empty_field delegations[0].charter", "wrong_type delegations[0].acceptance_contract"}},
		{"delegation contract", delegation(`"del-001"`, `"qa"`, `"c"`, `["a"," "]`, ``),
			[]string{"empty_field delegations[0].acceptance_contract[1]"}},
		{"required decisions empty", delegation(`"del-001"`, `"qa"`, `"c"`, `["a"]`, `,"required_decision_ids":[]`),
			[]string{"wrong_type delegations[0].required_decision_ids"}},
		{"required decisions", delegation(`"del-001"`, `"qa"`, `"c"`, `["a"]`,
			`,"required_decision_ids":["DEC-1","x","DEC-01"]`),
			[]string{"invalid_required_decision_id delegations[0].required_decision_ids[1]",
				"duplicate_required_decision delegations[0].required_decision_ids[2]"}},
		{"placeholders",
			patch(`{"summary":"<what you did>","decisions":[{"id":"DEC-1","category":"scope","statement":"<s>","rationale":"<r>"}],"objections":[{"id":"OBJ-1","severity":"low","statement":"<o>","against_turn_id":"<t>"}],
			"files_changed":["<f>"],"verification":{"status":"pass","commands":["<c>"],"evidence_summary":"<e>","machine_evidence":[{"command":"<m>","exit_code":0}]}}`),
			[]string{"unfilled_placeholder summary", "unfilled_placeholder decisions[0].statement",
				"unfilled_placeholder decisions[0].rationale", "unfilled_placeholder objections[0].against_turn_id",
				"unfilled_placeholder objections[0].statement",
				"unfilled_placeholder files_changed[0]", "unfilled_placeholder verification.commands[0]",
				"unfilled_placeholder verification.evidence_summary",
				"unfilled_placeholder verification.machine_evidence[0].command"}},
		{"placeholder role", patch(`{"proposed_next_role":"<role>"}`),
			[]string{"unfilled_placeholder proposed_next_role"}},
	})
}

func TestStageSchemaTolerates(t *testing.T) {
	for _, patch := range []string{
		`{"x-anything":[1,{"a":null}],"intent_response":5}`,
		`{"intent_response":[{"item":"i","status":"addressed","detail":"d"}]}`,
		`{"cost":null,"needs_human_reason":null,"phase_transition_request":null,"run_completion_request":null}`,
		`{"cost":{"usd":0,"input_tokens":null,"model":"m"}}`,
		`{"summary":"<a> and <b>"}`, `{"summary":" <a>"}`, `{"summary":"<>"}`,
		`{"proposed_changes":null}`,
		`{"decisions":[{` + okDecision + `,"durability":"run","overrides":"DEC-2"}]}`,
	} {
		resultCase{patch: patch}.passes(t)
	}
}

func TestStageSchemaLimits(t *testing.T) {
	long := strings.Repeat("x", maxStringBytes+1)
	many := make([]any, maxArrayItems+1)
	for i := range many {
		many[i] = "x"
	}
	for field, v := range map[string]ojson.Value{
		"summary": long, "files_changed": many, "x.y[0]": ojson.NewObject("y",
			[]any{long}), "proposed_changes[0].content": []any{ojson.NewObject("content", long)},
	} {
		in := resultCase{}.input(t)
		top, _, _ := strings.Cut(strings.ReplaceAll(field, "[", "."), ".")
		in.Raw.(*ojson.Object).Set(top, v)
		got := Validate(in)
		if got.Stage != StageSchema || !cmp.Equal(findings(got), []string{"limit_exceeded " + field}) {
			t.Errorf("%s: %s %q", field, got.Stage, findings(got))
		}
	}
	in := resultCase{}.input(t)
	in.Raw.(*ojson.Object).Set("summary", long[:maxStringBytes])
	in.Raw.(*ojson.Object).Set("files_changed", many[:maxArrayItems])
	if v := Validate(in); !v.OK {
		t.Errorf("at the limit: %s", v.Errors.Join())
	}
}

func TestFindingsAreBounded(t *testing.T) {
	in := resultCase{}.input(t)
	bad := make([]any, maxArrayItems)
	in.Raw.(*ojson.Object).Set("files_changed", bad)
	if v := Validate(in); v.Stage != StageSchema || len(v.Errors) != maxStageProblems {
		t.Errorf("%s with %d findings", v.Stage, len(v.Errors))
	}
}
