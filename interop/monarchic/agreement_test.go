// JSON and protobuf agree field by field.

package monarchic_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbjson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// pairing is a Go type and its protobuf message.
type pairing struct {
	goType  reflect.Type
	message func() proto.Message
	from    func(v any, msg proto.Message) error
	to      func(msg proto.Message) (any, error)
}

func portablePair[T pbjson.Portable](empty proto.Message) pairing {
	return pairing{
		reflect.TypeFor[T](),
		func() proto.Message { return empty.ProtoReflect().New().Interface() },
		func(v any, msg proto.Message) error { return pbjson.FromPortable(v.(*T), msg) },
		func(msg proto.Message) (any, error) { return pbjson.ToPortable[T](msg) },
	}
}

func strictPair[T pbjson.Strict](empty proto.Message) pairing {
	return pairing{
		reflect.TypeFor[T](),
		func() proto.Message { return empty.ProtoReflect().New().Interface() },
		func(v any, msg proto.Message) error { return pbjson.FromStrict(v.(*T), msg) },
		func(msg proto.Message) (any, error) { return pbjson.ToStrict[T](msg) },
	}
}

func pairings() []pairing {
	return []pairing{
		portablePair[portable.Task](&pb.Task{}),
		portablePair[portable.RunContext](&pb.RunContext{}),
		portablePair[portable.Artifact](&pb.Artifact{}),
		portablePair[portable.Event](&pb.Event{}),
		portablePair[portable.GateResult](&pb.GateResult{}),
		portablePair[portable.RunOutcome](&pb.RunOutcome{}),
		portablePair[portable.TaskMessage](&pb.TaskMessage{}),
		portablePair[portable.TaskMessageAck](&pb.TaskMessageAck{}),
		portablePair[portable.FailureClass](&pb.FailureClass{}),
		portablePair[portable.FailureDetail](&pb.FailureDetail{}),
		portablePair[portable.RoleProvenance](&pb.RoleProvenance{}),
		portablePair[portable.PlanProvenance](&pb.PlanProvenance{}),
		portablePair[portable.PlanStep](&pb.PlanStep{}),
		portablePair[portable.Plan](&pb.Plan{}),
		portablePair[portable.ExecutionReceipt](&pb.ExecutionReceipt{}),
		portablePair[portable.DatasetRef](&pb.DatasetRef{}),
		portablePair[portable.AcceptanceCriteria](&pb.AcceptanceCriteria{}),
		portablePair[portable.ExperimentSpec](&pb.ExperimentSpec{}),
		portablePair[portable.ObjectiveSpec](&pb.ObjectiveSpec{}),
		portablePair[portable.EvalResult](&pb.EvalResult{}),
		portablePair[portable.Provenance](&pb.Provenance{}),
		strictPair[strict.Intent](&pb.Intent{}),
		strictPair[strict.PlanStep](&pb.PlanStep{}),
		strictPair[strict.Plan](&pb.Plan{}),
		strictPair[strict.ArtifactDescriptor](&pb.ArtifactDescriptor{}),
		strictPair[strict.DigestManifest](&pb.DigestManifest{}),
		strictPair[strict.VerificationCheck](&pb.VerificationCheck{}),
		strictPair[strict.BlockedOutcome](&pb.BlockedOutcome{}),
		strictPair[strict.VerificationReceipt](&pb.VerificationReceipt{}),
		strictPair[strict.ReviewDecision](&pb.ReviewDecision{}),
		strictPair[strict.RerunScope](&pb.RerunScope{}),
		strictPair[strict.RerunExecutionResult](&pb.RerunExecutionResult{}),
		strictPair[strict.PrLifecycleState](&pb.PrLifecycleState{}),
		strictPair[strict.RunEventRecord](&pb.RunEventRecord{}),
		strictPair[strict.TaskMessage](&pb.TaskMessage{}),
		strictPair[strict.FencingToken](&pb.FencingToken{}),
		strictPair[strict.Lease](&pb.Lease{}),
		strictPair[strict.RecoveryEvent](&pb.RecoveryEvent{}),
		strictPair[strict.PrincipalRef](&pb.PrincipalRef{}),
		strictPair[strict.TenantRef](&pb.TenantRef{}),
		strictPair[strict.AuthContext](&pb.AuthContext{}),
	}
}

// trim removes from v what exists in JSON only and protobuf refuses.
func (p pairing) trim(v any) {
	switch v := v.(type) {
	case *portable.Task:
		// What moves into extensions and out again cannot leave an empty object behind.
		if v.DeliveryContract != nil && v.Extensions.Len() == 0 {
			v.Extensions = nil
		}
	case *portable.Plan:
		v.Extensions = nil
		for i := range v.Steps {
			v.Steps[i].Extensions = nil
		}
	case *portable.PlanStep:
		v.Extensions = nil
	case *portable.ExecutionReceipt:
		v.Extensions = nil
	case *strict.RecoveryEvent:
		v.Extensions = nil
	}
}

// Where the two forms differ on purpose.
var (
	jsonOnly = map[string]string{ // type.member without a field
		"portable.Task.delivery_contract":      "travels in extensions; its old field number means something else now",
		"portable.Plan.extensions":             "the message has none",
		"portable.PlanStep.extensions":         "the message has none",
		"portable.ExecutionReceipt.extensions": "the message has none",
		"strict.RecoveryEvent.extensions":      "the message has none",
	}
	protoOnly = map[string]string{ // type.field without a member
		"strict.TaskMessage.provenance": "no member of the strict form",
	}
)

// otherForm are the fields of a message that belong to the other family's form.
func otherForm(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[strict.Plan]():
		return []string{"contract_version", "run_id", "objective", "status", "updated_at_ms", "provenance"}
	case reflect.TypeFor[strict.PlanStep]():
		return []string{"task_template", "failure"}
	}
	return nil
}

func TestEveryFieldHasAMemberAndBack(t *testing.T) {
	t.Parallel()
	renamed := map[string]string{"strict.Plan.created_at": "created_at_ms", "strict.PlanStep.dependencies": "depends_on", "strict.VerificationReceipt.verified_at": "verified_at_ms"}
	seen := make(map[reflect.Type]bool)
	var agree func(goType reflect.Type, md protoreflect.MessageDescriptor)
	agree = func(goType reflect.Type, md protoreflect.MessageDescriptor) {
		if seen[goType] {
			return
		}
		seen[goType] = true
		fields := make(map[string]protoreflect.FieldDescriptor)
		for i := range md.Fields().Len() {
			fields[string(md.Fields().Get(i).Name())] = md.Fields().Get(i)
		}
		for _, m := range wire.Members(goType) {
			id := goType.String() + "." + m.Name
			name := m.Name
			if renamed[id] != "" {
				name = renamed[id]
			}
			fd, ok := fields[name]
			if !ok {
				if jsonOnly[id] == "" {
					t.Errorf("%s has no field in %s", id, md.Name())
				}
				continue
			}
			delete(fields, name)
			if got, want := jsonKind(m.Type), protoKind(fd); got != want {
				t.Errorf("%s is %s, its field %s", id, got, want)
			}
			if fd.Message() != nil && fd.Message().FullName() != "google.protobuf.Struct" {
				agree(elem(m.Type), fd.Message())
			}
		}
		for name := range fields {
			if !slices.Contains(otherForm(goType), name) && protoOnly[goType.String()+"."+name] == "" {
				t.Errorf("field %s.%s has no member in %s", md.Name(), name, goType)
			}
		}
	}
	for _, p := range pairings() {
		agree(p.goType, p.message().ProtoReflect().Descriptor())
	}
	// Every message that is no call of the service has a pairing.
	covered := make(map[protoreflect.FullName]bool)
	for _, p := range pairings() {
		mark(p.message().ProtoReflect().Descriptor(), covered)
	}
	all := pb.File_monarchic_agent_protocol_proto.Messages()
	for i := range all.Len() {
		name := all.Get(i).FullName()
		if !covered[name] && !onlyInCalls(string(name.Name())) {
			t.Errorf("message %s has no JSON form", name)
		}
	}
}

func mark(md protoreflect.MessageDescriptor, covered map[protoreflect.FullName]bool) {
	if covered[md.FullName()] {
		return
	}
	covered[md.FullName()] = true
	for i := range md.Fields().Len() {
		if sub := md.Fields().Get(i).Message(); sub != nil {
			mark(sub, covered)
		}
	}
}

// onlyInCalls names the messages that are transport only (spec/08 §6.1).
func onlyInCalls(name string) bool {
	return strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Response") ||
		slices.Contains([]string{"LeaseRef", "LeaseStatus", "LeaseAssignment", "CancellationIntent", "RunnerCapabilities"}, name)
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func jsonKind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[*ojson.Object](), t == reflect.TypeFor[ojson.Value]():
		return "struct"
	case t.Kind() == reflect.Slice:
		return "list of " + jsonKind(t.Elem())
	case t.Kind() == reflect.Pointer:
		return jsonKind(t.Elem())
	case wire.SetOf(t) != nil:
		set := wire.SetOf(t)
		return "enum " + set.Zero + " of " + strings.TrimPrefix(set.List(), "unspecified, ")
	case t.Kind() == reflect.Struct:
		return "object"
	}
	return t.Kind().String()
}

func protoKind(fd protoreflect.FieldDescriptor) string {
	kind := map[protoreflect.Kind]string{
		protoreflect.StringKind: "string", protoreflect.BoolKind: "bool", protoreflect.DoubleKind: "float64",
		protoreflect.Uint32Kind: "uint32", protoreflect.Uint64Kind: "uint64", protoreflect.Int64Kind: "int64",
		protoreflect.MessageKind: "object",
	}[fd.Kind()]
	if fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Struct" {
		kind = "struct"
	}
	if e := fd.Enum(); e != nil {
		set := &wire.Set{Zero: string(e.Values().Get(0).Name())}
		prefix := commonPrefix(e)
		for i := 1; i < e.Values().Len(); i++ {
			token := strings.ToLower(strings.TrimPrefix(string(e.Values().Get(i).Name()), prefix))
			if prefix == "LEASE_REJECTION_" && token == "expired" {
				token = "lease_expired"
			}
			set.Tokens = append(set.Tokens, token)
		}
		kind = "enum " + set.Zero + " of " + set.List()
	}
	if fd.IsList() {
		return "list of " + kind
	}
	return kind
}

// commonPrefix is the prefix of the names of an enum's values, as spec/08 §3
// gives it.
func commonPrefix(e protoreflect.EnumDescriptor) string {
	return map[protoreflect.Name]string{
		"AgentRole": "", "OutcomeDecision": "", "PlanStatus": "",
		"LeaseLifecycleState": "LEASE_", "RunLifecycleState": "RUN_", "StepLifecycleState": "STEP_",
		"LeaseRejectionReason": "LEASE_REJECTION_", "RecoveryEventKind": "RECOVERY_EVENT_",
		"IntentClass": "INTENT_CLASS_", "ArtifactKind": "ARTIFACT_KIND_", "PlanStepKind": "PLAN_STEP_KIND_",
		"ReplanStrategy": "REPLAN_STRATEGY_", "VerificationStatus": "VERIFICATION_STATUS_",
		"VerificationCheckStatus": "VERIFICATION_CHECK_STATUS_", "BlockedOutcomeScope": "BLOCKED_OUTCOME_SCOPE_",
		"ReviewDecisionScope": "REVIEW_DECISION_SCOPE_", "ReviewDisposition": "REVIEW_DISPOSITION_",
		"RerunTrigger": "RERUN_TRIGGER_", "RerunSelectionStrategy": "RERUN_SELECTION_STRATEGY_",
		"RerunExecutionStatus": "RERUN_EXECUTION_STATUS_", "RunEventStream": "RUN_EVENT_STREAM_",
		"TaskMessageKind": "TASK_MESSAGE_KIND_", "AuthMechanism": "AUTH_MECHANISM_",
	}[e.Name()]
}
