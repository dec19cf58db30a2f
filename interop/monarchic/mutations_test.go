// The negative corpus of docs/monarchic.md#rules and everything that a closed reader refuses.

package monarchic_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// first returns the first sample of a type.
func first(t *testing.T, name monarchic.Type) *ojson.Object {
	t.Helper()
	return parse(t, samples()[name][0]).(*ojson.Object)
}

// drop removes and set replaces a member.
func drop(key string) func(*ojson.Object) { return func(o *ojson.Object) { o.Delete(key) } }
func set(key string, v any) func(*ojson.Object) {
	return func(o *ojson.Object) { o.Set(key, v) }
}

func TestMutations(t *testing.T) {
	t.Parallel()
	blocked, _ := parse(t, sampleBlocked).(*ojson.Object)
	for _, c := range []struct {
		name    monarchic.Type
		mutate  func(*ojson.Object)
		pointer string // of the fault; "-" when the document stays valid
		rule    string
		text    string
	}{
		{"client_boundary/intent", drop("intent_class"), "-", "", ""},
		{"client_boundary/intent", set("intent_class", "unspecified"), "-", "", ""},
		{"client_boundary/intent", set("intent_class", "destroy"), "/intent_class", wire.RuleEnum, "inspect"},
		{"client_boundary/intent", set("intent_class", "Execute"), "/intent_class", wire.RuleEnum, ""},
		{"client_boundary/intent", set("intent_class", nil), "/intent_class", wire.RuleType, ""},
		{"client_boundary/intent", set("intent_class", 3), "/intent_class", wire.RuleEnum, ""},
		{"client_boundary/intent", set("extra", 1), "/extra", wire.RuleUnknown, ""},
		{"client_boundary/intent", set("intentId", "x"), "/intentId", wire.RuleUnknown, ""},
		{"client_boundary/intent", set("submitted_at", ojson.Number("1.0")), "/submitted_at", wire.RuleInteger, ""},
		{"client_boundary/intent", set("submitted_at", ojson.Number("-1")), "/submitted_at", wire.RuleInteger, ""},
		{"client_boundary/intent", set("submitted_at", ojson.Number("1e3")), "/submitted_at", wire.RuleInteger, ""},
		{"client_boundary/intent", set("submitted_at", "1"), "/submitted_at", wire.RuleType, ""},
		{"client_boundary/intent", set("submitted_at", ojson.Number("18446744073709551615")), "-", "", ""},
		{"client_boundary/intent", set("submitted_at",
			ojson.Number("18446744073709551616")), "/submitted_at", wire.RuleInteger, ""},
		{"client_boundary/intent", set("constraints", nil), "/constraints", wire.RuleType, ""},
		{"client_boundary/intent", set("constraints",
			ojson.NewObject("n", ojson.Number("1e999"))), "/constraints/n", wire.RuleNumber, ""},
		{"client_boundary/intent", set("goal", "\xed\xa0\x80"), "/goal", wire.RuleText, ""},
		{"client_boundary/plan", drop("intent_id"), "/intent_id", wire.RuleMissing, ""},
		{"client_boundary/plan", func(o *ojson.Object) {
			o.Objects("steps")[0].Set("extra", true)
		}, "/steps/0/extra", wire.RuleUnknown, ""},
		{"client_boundary/plan", func(o *ojson.Object) {
			o.Object("replan_policy").Set("max_attempts", ojson.Number("4294967296"))
		}, "/replan_policy/max_attempts", wire.RuleInteger, ""},
		{"client_boundary/plan", func(o *ojson.Object) {
			o.Objects("steps")[0].Object("inputs").Set("any", []any{1, nil})
		}, "-", "", ""},
		{"client_boundary/plan", set("contract_version", "v1"), "/contract_version", wire.RuleUnknown, ""},
		{"client_boundary/execution_receipt", drop("receipt_id"), "/receipt_id", wire.RuleMissing, ""},
		{"client_boundary/execution_receipt", set("status", "complete"), "/status", wire.RuleEnum, ""},
		{"client_boundary/verification_receipt", drop("contract_version"), "-", "", ""},
		{"client_boundary/verification_receipt", set("contract_version",
			" "), "/contract_version", wire.RuleEmpty, "verification receipt contract_version must not be empty"},
		{"client_boundary/verification_receipt", drop("execution_receipt_ids"), "-", "", ""},
		{"client_boundary/verification_receipt", set("execution_receipt_ids",
			nil), "/execution_receipt_ids", wire.RuleType, ""},
		{"client_boundary/verification_receipt", set("blocked_outcomes", []any{blocked}), "/blocked_outcomes",
			wire.RuleState, "passed verification receipts must not include blocked_outcomes"},
		{"client_boundary/verification_receipt", set("status", "blocked"), "/blocked_outcomes", wire.RuleState,
			"blocked verification receipts must include at least one blocked_outcome"},
		{"client_boundary/verification_receipt", set("status", "failed"), "/checks", wire.RuleState,
			"failed verification receipts must include a failed or blocked check, or a blocked_outcome"},
		{"client_boundary/verification_receipt", func(o *ojson.Object) {
			o.Objects("checks")[0].Set("status", "failed")
		}, "-", "", ""},
		{"client_boundary/blocked_outcome", set("scope", "galaxy"), "/scope", wire.RuleEnum, ""},
		{"client_boundary/rerun_scope", set("trigger", "whim"), "/trigger", wire.RuleEnum, ""},
		{"client_boundary/rerun_scope", drop("trigger"), "-", "", ""},
		{"client_boundary/rerun_scope", set("source_decision_id", nil), "-", "", ""},
		{"client_boundary/rerun_execution_result", set("status", "odd"), "/status", wire.RuleEnum, ""},
		{"client_boundary/rerun_execution_result", set("status", "unspecified"), "-", "", ""},
		{"client_boundary/run_event_record", set("stream", "gossip"), "/stream", wire.RuleEnum, ""},
		{"client_boundary/run_event_record", set("stream", "unspecified"), "/stream", wire.RuleEnum, ""},
		{"client_boundary/run_event_record", set("event_type",
			""), "/event_type", wire.RuleEmpty, "run event record event_type must not be empty"},
		{"client_boundary/digest_manifest", set("artifact_descriptors", []any{}), "/artifact_descriptors",
			wire.RuleEmpty, "digest manifest must include at least one artifact_descriptor"},
		{"client_boundary/digest_manifest", set("manifest_id",
			"\u00a0"), "/manifest_id", wire.RuleEmpty, "digest manifest manifest_id must not be empty"},
		{"client_boundary/task", drop("task_id"), "/task_id", wire.RuleMissing, ""},
		{"client_boundary/task", set("goal", ""), "/goal", wire.RuleEmpty, "task goal must not be empty"},
		{"client_boundary/task", set("role_id",
			" "), "/role_id", wire.RuleEmpty, "task role_id must not be empty when present"},
		{"client_boundary/task", set("inputs",
			[]any{}), "/inputs", wire.RuleType, "task inputs must be a JSON object"},
		{"client_boundary/task", set("objective_spec", &ojson.Object{}), "/objective_spec", wire.RuleUnknown, ""},
		{"client_boundary/task", set("extensions", ojson.NewObject("required_mcps", []any{})), "/required_mcps",
			wire.RuleMatch,
			"task required_mcps compatibility field must match extensions.required_mcps when both are present"},
		{"client_boundary/task", set("extensions", ojson.NewObject("interactive", true)), "/interactive",
			wire.RuleMatch,
			"task interactive compatibility field must match extensions.interactive when both are present"},
		{"client_boundary/task", func(o *ojson.Object) {
			o.Object("run_context").Set("repo", "")
		}, "/run_context/repo", wire.RuleEmpty, "task run_context.repo must not be empty"},
		{"client_boundary/task_message", set("kind", "clarification_reply"), "/kind", wire.RuleEnum, ""},
		{"client_boundary/task_message", set("kind",
			"unspecified"), "/kind", wire.RuleEnum, "task_message kind must not be unspecified"},
		{"client_boundary/task_message", drop("kind"), "/kind", wire.RuleEnum,
			"task_message kind must not be unspecified"},
		{"client_boundary/task_message", set("reply_to", "m0"), "/reply_to", wire.RuleState,
			"task_message reply_to is only allowed for clarification_response messages"},
		{"client_boundary/task_message", set("kind", "clarification_response"), "-", "", ""},
		{"client_boundary/task_message", set("provenance", &ojson.Object{}), "/provenance", wire.RuleUnknown, ""},
		{"client_boundary/task_message", set("extensions",
			[]any{}), "/extensions", wire.RuleType, "task_message extensions must be a JSON object"},
		{"client_boundary/campaign_pipeline_spec", func(o *ojson.Object) {
			o.Objects("tasks")[0].Delete("task_artifact")
		}, "/tasks/0/task_artifact", wire.RuleMissing, ""},
		{"client_boundary/campaign_pipeline_spec", func(o *ojson.Object) {
			o.Objects("tasks")[0].Set("task_artifact", "")
		}, "/tasks/0/task_artifact", wire.RuleEmpty, "campaign_pipeline_spec task_artifact must not be empty"},
		{"client_boundary/campaign_pipeline_spec", set("tasks",
			[]any{}), "/tasks", wire.RuleEmpty, "campaign_pipeline_spec must include at least one task"},
		{"durable_authority/lease", set("status", "lost"), "/status", wire.RuleEnum, ""},
		{"durable_authority/lease", func(o *ojson.Object) {
			o.Object("fencing_token").Set("owner", "x")
		}, "/fencing_token/owner", wire.RuleUnknown, ""},
		{"durable_authority/lease", set("issued_at", 1), "/issued_at", wire.RuleUnknown, ""},
		{"durable_authority/recovery_event", drop("contract_version"), "/contract_version", wire.RuleMissing, ""},
		{"durable_authority/recovery_event", set("lease_rejection_reason",
			"LEASE_REJECTION_EXPIRED"), "/lease_rejection_reason", wire.RuleEnum, ""},
		{"durable_authority/recovery_event", set("run_state", nil), "-", "", ""},
		{"durable_authority/manual_override_record", set("action",
			"unspecified"), "/action", wire.RuleEnum, "manual override action must not be unspecified"},
		{"durable_authority/manual_override_record", set("expires_at_ms",
			1), "/expires_at_ms", wire.RuleState, "manual override expires_at_ms must be greater than created_at_ms"},
		{"durable_authority/manual_override_record", set("step_id",
			""), "/step_id", wire.RuleEmpty, "manual override step_id must not be empty when present"},
	} {
		o := first(t, c.name)
		c.mutate(o)
		_, err := monarchic.Decode(c.name, o)
		if c.pointer == "-" {
			if err != nil {
				t.Errorf("%s: %v\n%s", c.name, err, ojson.Compact(o))
			}
			continue
		}
		var problems wire.Problems
		if !errors.As(err, &problems) || len(problems) != 1 {
			t.Errorf("%s: %v, want one fault at %s\n%s", c.name, err, c.pointer, ojson.Compact(o))
			continue
		}
		if p := problems[0]; p.Pointer != c.pointer || p.Rule != c.rule || !strings.Contains(p.Text, c.text) {
			t.Errorf("%s: %+v, want %s %s %q", c.name, p, c.pointer, c.rule, c.text)
		}
	}
}

// Every missing required member of every strict type is reported, every null is noticed where it is
// not allowed, and every object is closed.
func TestEveryStrictMemberIsGuarded(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, name := range monarchic.Types() {
		goType := reflect.TypeOf(monarchic.New(name)).Elem()
		if !name.Strict() || goType.Kind() != reflect.Struct {
			continue
		}
		for _, m := range membersOf(goType) {
			o := first(t, name)
			o.Delete(m.name)
			_, err := monarchic.Decode(name, o)
			if m.required != (err != nil) && name+"."+monarchic.Type(m.name) != "client_boundary/task_message.kind" {
				t.Errorf("%s without %s: %v", name, m.name, err)
			}
			o = first(t, name)
			o.Set(m.name, nil)
			_, err = monarchic.Decode(name, o)
			optional := m.goType.Kind() == reflect.Pointer && m.goType != reflect.TypeFor[*ojson.Object]() ||
				m.goType.Kind() == reflect.Interface || !m.always && wire.SetOf(m.goType) != nil
			if optional != (err == nil) {
				t.Errorf("%s with %s null: %v", name, m.name, err)
			}
			checked++
		}
	}
	if checked < 150 {
		t.Fatalf("only %d members were checked", checked)
	}
}

func TestDefaultsAreWritten(t *testing.T) {
	t.Parallel()
	o := first(t, "client_boundary/verification_receipt")
	o.Delete("contract_version")
	o.Delete("execution_receipt_ids")
	r, err := wire.From[strict.VerificationReceipt](o)
	if err != nil {
		t.Fatal(err)
	}
	if r.ContractVersion != "v1" || r.ExecutionReceiptIDs == nil || len(r.ExecutionReceiptIDs) != 0 {
		t.Errorf("defaults: %+v", r)
	}
	line := compact(r)
	if !strings.HasPrefix(line,
		`{"contract_version":"v1","verification_id":"v","plan_id":"p1","execution_receipt_ids":[],`) {
		t.Error(line)
	}
	event, err := decode[strict.RunEventRecord](
		[]byte(`{"event_id":"e","run_id":"r","plan_id":"p","sequence":1,"stream":"custom","recorded_at":2,"event_type":"x","status":"y"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := compact(event),
		`{"contract_version":"v1","event_id":"e","run_id":"r","plan_id":"p","sequence":1,"stream":"custom","recorded_at":2,"step_id":null,"task_id":null,"event_type":"x","status":"y","message":null,"artifact_ids":[]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101)
	for _, text := range []string{"", " ", "{", `{"a":1,"a":2}`, "\xef\xbb\xbf{}", "{}\x00", `{"a":"` + "\xff" + `"}`,
		"{} {}", deep, `{"a":01}`, `{"token":"` + "\x01" + `"}`} {
		if _, err := decode[strict.FencingToken]([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	for _, text := range []string{"null", "[]", "7", `"x"`, "true"} {
		_, err := decode[strict.FencingToken]([]byte(text))
		var problems wire.Problems
		if !errors.As(err, &problems) || problems[0].Pointer != "" || problems[0].Rule != wire.RuleType {
			t.Errorf("%s: %v", text, err)
		}
	}
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
