// The places where JSON and protobuf do not say the same by themselves.

package pbjson_test

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbjson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// trip sends text through the binary form of msg and returns what arrives.
func trip[T pbjson.Portable](t *testing.T, text string, msg proto.Message) string {
	t.Helper()
	v := decode[T](t, text)
	if err := pbjson.FromPortable(v, msg); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := proto.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	got := proto.Clone(msg)
	proto.Reset(got)
	if err := proto.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	back, err := pbjson.ToPortable[T](got)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(ojson.Compact(wire.Encode(back)))
}

func decode[T pbjson.Portable](t *testing.T, text string) *T {
	t.Helper()
	parsed, err := wire.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v := new(T)
	if err := wire.Decode(parsed, v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// Field 11 of a Task is the objective and 12 the role id, whatever an early
// fork meant by them; the delivery contract has no number.
func TestTaskFieldNumbersOfTheHazard(t *testing.T) {
	t.Parallel()
	text := `{"version":"v1","task_id":"t","role":"dev","role_id":"engineer","goal":"g","objective_spec":{"metric_key":"m","direction":"maximize","target":1},"delivery_contract":{"objective":"o","definition_of_done":["d"],"required_checks":["c"],"risk_tier":"low"},"extensions":{"a":1}}`
	var task pb.Task
	if got := trip[portable.Task](t, text, &task); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	if task.GetExtensions().GetFields()["delivery_contract"] == nil || task.GetExtensions().GetFields()["a"] == nil {
		t.Errorf("extensions: %v", task.GetExtensions())
	}
	data, err := proto.Marshal(&task)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[protowire.Number]string)
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		data = data[n:]
		if typ == protowire.BytesType {
			value, n := protowire.ConsumeBytes(data)
			found[num], data = string(value), data[n:]
			continue
		}
		data = data[protowire.ConsumeFieldValue(num, typ, data):]
	}
	var objective pb.ObjectiveSpec
	if err := proto.Unmarshal([]byte(found[11]), &objective); err != nil || objective.GetMetricKey() != "m" {
		t.Errorf("field 11: %v %v", &objective, err)
	}
	if found[12] != "engineer" || found[13] != "" {
		t.Errorf("field 12 is %q, 13 is %q", found[12], found[13])
	}
}

func TestTokensWithoutANumber(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"handoff", "blocker", "artifact_ready", "something else"} {
		text := `{"version":"v1","message_id":"m","run_id":"r","from_task_id":"a","to_task_id":"b","kind":"` + kind + `","created_at":"2026-01-01T00:00:00Z","requires_ack":false}`
		var msg pb.TaskMessage
		if got := trip[portable.TaskMessage](t, text, &msg); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
		if numbered := msg.GetKind() != 0; numbered != (kind == "artifact_ready") {
			t.Errorf("%s has number %v", kind, msg.GetKind())
		}
	}
	for text, want := range map[string]string{
		`{"version":"v1","task_id":"t","role":"emperor","role_id":"emperor","goal":"g"}`: "",
		`{"version":"v1","task_id":"t","role":9,"goal":"g"}`:                             "",
		`{"version":"v1","task_id":"t","role":77,"goal":"g"}`:                            "",
		`{"version":"v1","task_id":"t","role":"AGENT_ROLE_UNSPECIFIED","goal":"g"}`:      "",
		`{"version":"v1","task_id":"t","role":"OPS","goal":"g"}`:                         `{"version":"v1","task_id":"t","role":"ops","goal":"g"}`,
	} {
		if want == "" {
			want = text
		}
		if got := trip[portable.Task](t, text, &pb.Task{}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestPresenceAndSpecialNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"version":"v1","task_id":"t","run_id":"","objective_score":"NaN","estimated_cost_usd":0,"budget_limit_usd":"-Infinity"}`,
		`{"version":"v1","task_id":"t","evidence":{},"extensions":{}}`,
	} {
		if got := trip[portable.RunOutcome](t, text, &pb.RunOutcome{}); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
	text := `{"metric":"m","value":0,"seed":-9223372036854775808,"passed":false,"notes":""}`
	if got := trip[portable.EvalResult](t, text, &pb.EvalResult{}); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
}

// Both vocabularies share the Plan message; a portable reader keeps what it is
// given of the other one.
func TestPlanOfBothVocabularies(t *testing.T) {
	t.Parallel()
	text := `{"contract_version":"v1","plan_id":"p","objective":"o","status":"planned","created_at_ms":1,"updated_at_ms":2,"provenance":{"generated_by":"g","generated_at_ms":3},"steps":[{"step_id":"s","description":"d","depends_on":["x"],"task_template":{},"task_id":"t","kind":"review","inputs":{"a":1}}],"intent_id":"i","replan_policy":{"strategy":"repair","max_attempts":1},"input_digest":"d"}`
	var plan pb.Plan
	if got := trip[portable.Plan](t, text, &plan); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	_, err := pbjson.ToStrict[strict.Plan](&plan)
	places(t, err, "/steps/0/task_template", "/contract_version", "/objective", "/status", "/updated_at_ms", "/provenance")
}

func places(t *testing.T, err error, want ...string) {
	t.Helper()
	var problems wire.Problems
	if !errors.As(err, &problems) {
		t.Errorf("%v, want faults at %v", err, want)
		return
	}
	got := make(map[string]bool)
	for _, p := range problems {
		got[p.Pointer] = true
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("no fault at %q: %v", w, problems)
		}
	}
}

func TestStrictNamesDifferFromFieldNames(t *testing.T) {
	t.Parallel()
	plan := &strict.Plan{PlanID: "p", IntentID: "i", PlanVersion: "v1", PlannerVersion: "x", CreatedAt: 7,
		Steps:        []strict.PlanStep{{StepID: "s", TaskID: "t", Kind: strict.StepMerge, Dependencies: []string{"a"}}},
		ReplanPolicy: strict.ReplanPolicy{Strategy: strict.ReplanBlock, MaxAttempts: 2}, InputDigest: "d"}
	var msg pb.Plan
	if err := pbjson.FromStrict(plan, &msg); err != nil {
		t.Fatal(err)
	}
	if msg.GetCreatedAtMs() != 7 || msg.GetSteps()[0].GetDependsOn()[0] != "a" || msg.GetSteps()[0].GetKind() != pb.PlanStepKind_PLAN_STEP_KIND_MERGE {
		t.Errorf("%v", &msg)
	}
	var receipt pb.VerificationReceipt
	if err := pbjson.FromStrict(&strict.VerificationReceipt{ContractVersion: "v1", Status: strict.VerificationPassed, VerifiedAt: 9}, &receipt); err != nil || receipt.GetVerifiedAtMs() != 9 {
		t.Errorf("%v %v", &receipt, err)
	}
	var event pb.RecoveryEvent
	if err := pbjson.FromStrict(&strict.RecoveryEvent{Kind: strict.RecoveryLeaseRejected, LeaseRejectionReason: strict.RejectLeaseExpired}, &event); err != nil || event.GetLeaseRejectionReason() != pb.LeaseRejectionReason_LEASE_REJECTION_EXPIRED {
		t.Errorf("%v %v", &event, err)
	}
}

func TestWhatProtobufCannotCarry(t *testing.T) {
	t.Parallel()
	refuse := func(err error, want ...string) { t.Helper(); places(t, err, want...) }
	refuse(pbjson.FromPortable(decode[portable.Plan](t, `{"plan_id":"p","provenance":{"x":1},"steps":[{"extensions":{}}],"extensions":{"a":1},"later":2}`), &pb.Plan{}),
		"/provenance/x", "/steps/0/extensions", "/extensions", "/later")
	refuse(pbjson.FromPortable(decode[portable.Task](t, `{"task_id":"t","inputs":{"n":[9007199254740993]},"x":1e999,"goal":"\ud800"}`), &pb.Task{}),
		"/inputs/n/0", "/x", "/goal")
	refuse(pbjson.FromPortable(decode[portable.Task](t, `{"task_id":"t","x":1,"extensions":{"x":2}}`), &pb.Task{}), "/x")
	refuse(pbjson.FromPortable(&portable.Task{}, &pb.Plan{}), "")
	refuse(pbjson.FromStrict(&strict.RecoveryEvent{Kind: strict.RecoveryStateReloaded, Extensions: ojson.NewObject("a", 1)}, &pb.RecoveryEvent{}), "/extensions")
	_, err := pbjson.ToPortable[portable.Task](&pb.Event{})
	refuse(err, "")
	_, err = pbjson.ToPortable[portable.Task]((*pb.Task)(nil))
	refuse(err, "")
	_, err = pbjson.ToStrict[strict.Lease](&pb.Lease{})
	refuse(err, "/fencing_token", "/status")
	_, err = pbjson.ToStrict[strict.TaskMessage](&pb.TaskMessage{Provenance: &pb.Provenance{}, Kind: 9})
	refuse(err, "/provenance", "/kind")
}

func TestFreeObjects(t *testing.T) {
	t.Parallel()
	o := ojson.NewObject("b", []any{ojson.Number("1.5"), nil, true, "x", ojson.NewObject()}, "a", ojson.NewObject("z", ojson.Number("9007199254740992")))
	s, err := pbjson.StructOf(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(ojson.Compact(pbjson.ObjectOf(s))); got != `{"a":{"z":9007199254740992},"b":[1.5,null,true,"x",{}]}` {
		t.Error(got)
	}
	if pbjson.ObjectOf(nil) != nil {
		t.Error("nil is something")
	}
	odd := &structpb.Struct{Fields: map[string]*structpb.Value{"a": nil, "b": {}, "c": structpb.NewNumberValue(math.NaN()), "d": {Kind: &structpb.Value_StructValue{}}, "e": {Kind: &structpb.Value_ListValue{}}}}
	if got := string(ojson.Compact(pbjson.ObjectOf(odd))); got != `{"a":null,"b":null,"c":"NaN","d":{},"e":[]}` {
		t.Error(got)
	}
}

// The calls upstream proves over the wire (spec/08 §10.3).
func TestResumeOverTheWire(t *testing.T) {
	t.Parallel()
	for _, msg := range []proto.Message{
		&pb.ResumeLeaseRequest{ContractVersion: "v1", RunnerId: "r", SessionId: "s", Lease: &pb.LeaseRef{LeaseId: "l", FencingToken: "f", RunId: "r", PlanId: "p", StepId: "st", TaskId: "t"}},
		&pb.ResumeLeaseResponse{ContractVersion: "v1", OrchestratorId: "o", Lease: &pb.Lease{LeaseId: "l", FencingToken: &pb.FencingToken{Token: "f2", IssuedAtMs: 2}},
			CurrentFencingToken: "f2", Reason: pb.LeaseRejectionReason_LEASE_REJECTION_LEASE_SUPERSEDED, Message: "superseded"},
	} {
		data, err := proto.Marshal(msg)
		if err != nil {
			t.Fatal(err)
		}
		back := msg.ProtoReflect().New().Interface()
		if err := proto.Unmarshal(data, back); err != nil || !proto.Equal(msg, back) {
			t.Errorf("%v became %v (%v)", msg, back, err)
		}
	}
}

func FuzzBinary(f *testing.F) {
	task, _ := proto.Marshal(&pb.Task{Version: "v1", TaskId: "t", Role: 3, Extensions: &structpb.Struct{Fields: map[string]*structpb.Value{"role": structpb.NewStringValue("x"), "delivery_contract": structpb.NewNumberValue(1)}}})
	plan, _ := proto.Marshal(&pb.Plan{PlanId: "p", Steps: []*pb.PlanStep{{StepId: "s", Failure: &pb.FailureDetail{Class: "x"}}}})
	f.Add(task)
	f.Add(plan)
	f.Fuzz(func(t *testing.T, data []byte) {
		binary[portable.Task](t, data, &pb.Task{}, &pb.Task{})
		binary[portable.Plan](t, data, &pb.Plan{}, &pb.Plan{})
		binary[portable.TaskMessage](t, data, &pb.TaskMessage{}, &pb.TaskMessage{})
		var lease pb.Lease
		if proto.Unmarshal(data, &lease) == nil {
			_, _ = pbjson.ToStrict[strict.Lease](&lease)
		}
	})
}

// binary: a message that has a JSON form comes back from it as it was.
func binary[T pbjson.Portable](t *testing.T, data []byte, msg, back proto.Message) {
	if proto.Unmarshal(data, msg) != nil {
		return
	}
	v, err := pbjson.ToPortable[T](msg)
	if err != nil {
		return
	}
	if err := pbjson.FromPortable(v, back); err != nil {
		return
	}
	again, err := pbjson.ToPortable[T](back)
	if err != nil {
		t.Fatalf("%v\n%v\n%v", err, msg, back)
	}
	if a, b := string(ojson.Compact(wire.Encode(v))), string(ojson.Compact(wire.Encode(again))); a != b {
		t.Fatalf("not stable\n%s\n%s", a, b)
	}
}
