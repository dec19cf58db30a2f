// What a lenient reader accepts, and what it writes.

package portable_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// line reads text as T and returns how it is written.
func line[T any](t *testing.T, text string) string {
	t.Helper()
	v, err := decode[T]([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return compact(v)
}

func refused[T any](t *testing.T, text, pointer, rule string) {
	t.Helper()
	_, err := decode[T]([]byte(text))
	var problems wire.Problems
	if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Pointer != pointer || problems[0].Rule != rule {
		t.Errorf("%s: %v, want %s at %q", text, err, rule, pointer)
	}
}

func TestLenientReadingCanonicalWriting(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"version":"v1","taskId":"t","role":"DEV","goal":"g","gatesRequired":["qa"],"runContext":{"repo":"r"}}`:              `{"version":"v1","task_id":"t","role":"dev","goal":"g","gates_required":["qa"],"run_context":{"repo":"r"}}`,
		`{"version":"v1","task_id":"t","taskId":"t","role":3,"goal":"g"}`:                                                     `{"version":"v1","task_id":"t","role":"dev","goal":"g"}`,
		`{"version":"v1","taskId":"t","task_id":"t","role":0,"goal":"g"}`:                                                     `{"version":"v1","task_id":"t","role":"AGENT_ROLE_UNSPECIFIED","goal":"g"}`,
		`{"version":"v1","task_id":"t","role":9,"goal":"g"}`:                                                                  `{"version":"v1","task_id":"t","role":9,"goal":"g"}`,
		`{"version":"v1","task_id":"t","role":"researcher","goal":"g"}`:                                                       `{"version":"v1","task_id":"t","role":9,"goal":"g"}`,
		`{"version":"v1","task_id":"t","role":77,"goal":"g"}`:                                                                 `{"version":"v1","task_id":"t","role":77,"goal":"g"}`,
		`{"version":"v1","task_id":"t","role":"emperor","role_id":"emperor","goal":"g"}`:                                      `{"version":"v1","task_id":"t","role":"emperor","role_id":"emperor","goal":"g"}`,
		`{"version":"v1","task_id":"t","role":"scribe","goal":"g"}`:                                                           `{"version":"v1","task_id":"t","role":"scribe","goal":"g"}`,
		`{"version":"v1","task_id":"t","role":"dev","goal":"g","delivery_contract":{"riskTier":"low","max_agent_turns":"3"}}`: `{"version":"v1","task_id":"t","role":"dev","goal":"g","delivery_contract":{"risk_tier":"low","max_agent_turns":3}}`,
	} {
		if got := line[portable.Task](t, in); got != want {
			t.Errorf("%s\nis written %s\nwant       %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"plan_id":"p","status":"BOUNDED","created_at_ms":"1760000000000","updatedAtMs":1.0}`: `{"plan_id":"p","status":"bounded","created_at_ms":1760000000000,"updated_at_ms":1.0}`,
		`{"plan_id":"p","status":0}`:                           `{"plan_id":"p","status":"unspecified"}`,
		`{"plan_id":"p","status":"PLAN_STATUS_UNSPECIFIED"}`:   `{"plan_id":"p","status":"unspecified"}`,
		`{"plan_id":"p","run_id":null,"steps":[]}`:             `{"plan_id":"p","run_id":null,"steps":[]}`,
		`{"plan_id":"p","created_at_ms":18446744073709551615}`: `{"plan_id":"p","created_at_ms":18446744073709551615}`,
	} {
		if got := line[portable.Plan](t, in); got != want {
			t.Errorf("%s\nis written %s\nwant       %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"objective_score":"NaN","estimated_cost_usd":"Infinity","budget_limit_usd":"1.5","final_decision":"ACCEPT","risk_decision":4}`: `{"objective_score":"NaN","estimated_cost_usd":"Infinity","budget_limit_usd":1.5,"final_decision":"accept","risk_decision":"escalate"}`,
		`{"objective_score":1e2,"cost_decision":"OUTCOME_DECISION_UNSPECIFIED"}`:                                                         `{"objective_score":1e2,"cost_decision":"OUTCOME_DECISION_UNSPECIFIED"}`,
	} {
		if got := line[portable.RunOutcome](t, in); got != want {
			t.Errorf("%s\nis written %s\nwant       %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"kind":1}`: `{"kind":"artifact_ready"}`,
		`{"kind":"TASK_MESSAGE_KIND_CLARIFICATION_RESPONSE"}`:  `{"kind":"clarification_response"}`,
		`{"kind":"blocker","requires_ack":false,"replyTo":""}`: `{"kind":"blocker","requires_ack":false,"reply_to":""}`,
		`{"kind":"anything at all"}`:                           `{"kind":"anything at all"}`,
	} {
		if got := line[portable.TaskMessage](t, in); got != want {
			t.Errorf("%s\nis written %s\nwant       %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`{"pipelineId":"p","tasks":[{"task_id":"a","task":{"x":1}},{"taskId":"b","dependsOn":["a"],"required_skills":["go"]}]}`: `{"pipeline_id":"p","tasks":[{"id":"a","task":{"x":1}},{"id":"b","depends_on":["a"],"required_skills":["go"]}]}`,
	} {
		if got := line[portable.PipelineSpec](t, in); got != want {
			t.Errorf("%s\nis written %s\nwant       %s", in, got, want)
		}
	}
}

func TestWhatEvenALenientReaderRefuses(t *testing.T) {
	t.Parallel()
	refused[portable.Task](t, `{"task_id":"t","taskId":"u"}`, "/taskId", wire.RuleAlias)
	refused[portable.Task](t, `{"taskId":"t","task_id":"u"}`, "/taskId", wire.RuleAlias)
	refused[portable.PipelineTask](t, `{"task_id":"t","taskId":"u"}`, "/taskId", wire.RuleAlias)
	refused[portable.Task](t, `{"role":"emperor"}`, "/role", wire.RuleRole)
	refused[portable.Task](t, `{"role":"emperor","role_id":" "}`, "/role", wire.RuleRole)
	refused[portable.Task](t, `{"role":3000000000}`, "/role", wire.RuleEnum)
	refused[portable.Task](t, `{"role":{}}`, "/role", wire.RuleType)
	refused[portable.Task](t, `{"goal":null}`, "/goal", wire.RuleType)
	refused[portable.Task](t, `{"inputs":[]}`, "/inputs", wire.RuleType)
	refused[portable.Task](t, `{"gates_required":["qa",7]}`, "/gates_required/1", wire.RuleType)
	refused[portable.Plan](t, `{"status":"Draft"}`, "/status", wire.RuleEnum)
	refused[portable.Plan](t, `{"created_at_ms":-1}`, "/created_at_ms", wire.RuleInteger)
	refused[portable.Plan](t, `{"created_at_ms":1.5}`, "/created_at_ms", wire.RuleInteger)
	refused[portable.Plan](t, `{"created_at_ms":"0x10"}`, "/created_at_ms", wire.RuleType)
	refused[portable.Plan](t, `{"steps":[{"failure":{"details":1}}]}`, "/steps/0/failure/details", wire.RuleType)
	refused[portable.EvalResult](t, `{"value":1e999}`, "/value", wire.RuleNumber)
	refused[portable.EvalResult](t, `{"value":"one"}`, "/value", wire.RuleType)
	refused[portable.EvalResult](t, `{"seed":9223372036854775808}`, "/seed", wire.RuleInteger)
	refused[portable.DeliveryContract](t, `{"max_agent_turns":4294967296}`, "/max_agent_turns", wire.RuleInteger)
	refused[portable.SkillRef](t, `7`, "", wire.RuleType)
	refused[portable.AgentRole](t, `true`, "", wire.RuleType)
	refused[portable.Task](t, `{"a":1,"a":1}`, "", wire.RuleSyntax)
}

func TestEditsKeepEverythingElse(t *testing.T) {
	t.Parallel()
	task, err := decode[portable.Task](
		[]byte(`{"zz":1,"goal":"g","role":"dev","role_id":"r","x":{"b":1.0,"a":2},"task_id":"t","version":"v1"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	task.Goal = "h"
	task.RoleID = ""
	task.GatesRequired = []string{"qa"}
	task.SetUnknown("new", 5)
	task.SetUnknown("zz", "two")
	want := `{"zz":"two","goal":"h","role":"dev","x":{"b":1.0,"a":2},"task_id":"t","version":"v1","new":5,"gates_required":["qa"]}`
	if got := compact(task); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(ojson.Compact(task.Unknown())); got != `{"zz":"two","x":{"b":1.0,"a":2},"new":5}` {
		t.Error(got)
	}
	// A bare string stays one only while it says everything.
	spec, err := decode[portable.PipelineSpec](
		[]byte(`{"pipeline_id":"p","tasks":[{"id":"b","depends_on":["a","c"]}]}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	spec.Tasks[0].DependsOn[1].Kind = "review"
	if got := compact(spec); got != `{"pipeline_id":"p","tasks":[{"id":"b","depends_on":["a",{"task_id":"c","kind":"review"}]}]}` {
		t.Error(got)
	}
}

func TestMadeObjectsSayEverythingRequired(t *testing.T) {
	t.Parallel()
	if got := compact(&portable.Plan{}); got != `{"contract_version":"","plan_id":"","objective":"","status":"unspecified","created_at_ms":0,"updated_at_ms":0,"provenance":{"generated_by":"","generated_at_ms":0},"steps":[]}` {
		t.Error(got)
	}
	if got := compact(&portable.PlanStep{}); got != `{"step_id":"","description":"","task_template":{}}` {
		t.Error(got)
	}
	inf := math.Inf(-1)
	if got := compact(&portable.RunOutcome{
		ObjectiveScore: &inf,
	}); got != `{"version":"","task_id":"","objective_score":"-Infinity"}` {
		t.Error(got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"version":"v1","task_id":"t","taskId":"t","role":"dev","goal":"g","run_context":{"labels":["x"]},"inputs":{"n":1.0}}`,
		`{"plan_id":"p","steps":[{"step_id":"s","task_template":{}}],"provenance":{"role":{}},"created_at_ms":"7"}`,
		`{"pipeline_id":"p","tasks":[{"task_id":"a","depends_on":["b",{"task_id":"c"}],"required_skills":["go"]}]}`,
		`{"objective_score":"NaN","final_decision":4}`, `{"kind":"\ud800"}`, `"DEV"`, `9`, `[[[]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[portable.Task](t, data)
		stable[portable.Plan](t, data)
		stable[portable.PipelineSpec](t, data)
		stable[portable.RunOutcome](t, data)
		stable[portable.TaskMessage](t, data)
		stable[portable.ExperimentSpec](t, data)
		stable[portable.AgentRole](t, data)
	})
}

// stable: what was read and written once is always written the same, and reading loses no member
// that has no second spelling.
func stable[T any](t *testing.T, data []byte) {
	v, err := decode[T](data)
	if err != nil {
		return
	}
	once := []byte(compact(v))
	again, err := decode[T](once)
	if err != nil {
		t.Fatalf("%v\nread    %s\nwritten %s", err, data, once)
	}
	if twice := compact(again); twice != string(once) {
		t.Fatalf("not stable\nread  %s\nonce  %s\ntwice %s", data, once, twice)
	}
	if was, ok := v2object(data); ok {
		is, _ := v2object(once)
		for _, k := range was.Keys() {
			if strings.ToLower(k) == k && !is.Has(k) && k != "task_id" {
				t.Fatalf("%s is lost\nread    %s\nwritten %s", k, data, once)
			}
		}
	}
}

func v2object(data []byte) (*ojson.Object, bool) {
	v, err := wire.Parse(data)
	o, ok := v.(*ojson.Object)
	return o, err == nil && ok
}

// decode reads text as T.
func decode[T any](text []byte) (*T, error) {
	v, err := wire.Parse(text)
	if err != nil {
		return nil, err
	}
	return wire.From[T](v)
}

// compact returns how v is written on one line.
func compact(v any) string { return string(ojson.Compact(wire.Encode(v))) }
