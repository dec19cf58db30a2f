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
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// pairing is a Go type and its protobuf message.
type pairing struct {
	goType  reflect.Type
	message proto.Message
}

// member is one member of a protocol object, as its tags define it.
type member struct {
	name     string
	required bool // closed objects: must be present
	always   bool // written even when it says nothing
	goType   reflect.Type
	index    []int
}

func membersOf(t reflect.Type) []member {
	var out []member
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" {
			mode, _, _ := strings.Cut(f.Tag.Get("wire"), "=")
			required := mode == "" || mode == "bare" || mode == "alias"
			out = append(out, member{name, required, required || mode == "default", f.Type, f.Index})
		}
	}
	return out
}

func pairings() []pairing {
	return []pairing{
		{reflect.TypeFor[portable.Task](), &pb.Task{}},
		{reflect.TypeFor[portable.RunContext](), &pb.RunContext{}},
		{reflect.TypeFor[portable.Artifact](), &pb.Artifact{}},
		{reflect.TypeFor[portable.Event](), &pb.Event{}},
		{reflect.TypeFor[portable.GateResult](), &pb.GateResult{}},
		{reflect.TypeFor[portable.RunOutcome](), &pb.RunOutcome{}},
		{reflect.TypeFor[portable.TaskMessage](), &pb.TaskMessage{}},
		{reflect.TypeFor[portable.TaskMessageAck](), &pb.TaskMessageAck{}},
		{reflect.TypeFor[portable.FailureClass](), &pb.FailureClass{}},
		{reflect.TypeFor[portable.FailureDetail](), &pb.FailureDetail{}},
		{reflect.TypeFor[portable.RoleProvenance](), &pb.RoleProvenance{}},
		{reflect.TypeFor[portable.PlanProvenance](), &pb.PlanProvenance{}},
		{reflect.TypeFor[portable.PlanStep](), &pb.PlanStep{}},
		{reflect.TypeFor[portable.Plan](), &pb.Plan{}},
		{reflect.TypeFor[portable.ExecutionReceipt](), &pb.ExecutionReceipt{}},
		{reflect.TypeFor[portable.DatasetRef](), &pb.DatasetRef{}},
		{reflect.TypeFor[portable.AcceptanceCriteria](), &pb.AcceptanceCriteria{}},
		{reflect.TypeFor[portable.ExperimentSpec](), &pb.ExperimentSpec{}},
		{reflect.TypeFor[portable.ObjectiveSpec](), &pb.ObjectiveSpec{}},
		{reflect.TypeFor[portable.EvalResult](), &pb.EvalResult{}},
		{reflect.TypeFor[portable.Provenance](), &pb.Provenance{}},
		{reflect.TypeFor[portable.PipelineSpec](), &pb.PipelineSpec{}},
		{reflect.TypeFor[portable.ResolvedRoleBundle](), &pb.ResolvedRoleBundle{}},
		{reflect.TypeFor[strict.Intent](), &pb.Intent{}},
		{reflect.TypeFor[strict.PlanStep](), &pb.PlanStep{}},
		{reflect.TypeFor[strict.Plan](), &pb.Plan{}},
		{reflect.TypeFor[strict.ArtifactDescriptor](), &pb.ArtifactDescriptor{}},
		{reflect.TypeFor[strict.DigestManifest](), &pb.DigestManifest{}},
		{reflect.TypeFor[strict.VerificationCheck](), &pb.VerificationCheck{}},
		{reflect.TypeFor[strict.BlockedOutcome](), &pb.BlockedOutcome{}},
		{reflect.TypeFor[strict.VerificationReceipt](), &pb.VerificationReceipt{}},
		{reflect.TypeFor[strict.ReviewDecision](), &pb.ReviewDecision{}},
		{reflect.TypeFor[strict.RerunScope](), &pb.RerunScope{}},
		{reflect.TypeFor[strict.RerunExecutionResult](), &pb.RerunExecutionResult{}},
		{reflect.TypeFor[strict.PrLifecycleState](), &pb.PrLifecycleState{}},
		{reflect.TypeFor[strict.RunEventRecord](), &pb.RunEventRecord{}},
		{reflect.TypeFor[strict.TaskMessage](), &pb.TaskMessage{}},
		{reflect.TypeFor[strict.FencingToken](), &pb.FencingToken{}},
		{reflect.TypeFor[strict.Lease](), &pb.Lease{}},
		{reflect.TypeFor[strict.RecoveryEvent](), &pb.RecoveryEvent{}},
		{reflect.TypeFor[strict.PrincipalRef](), &pb.PrincipalRef{}},
		{reflect.TypeFor[strict.TenantRef](), &pb.TenantRef{}},
		{reflect.TypeFor[strict.AuthContext](), &pb.AuthContext{}},
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
		"strict.TaskMessage.provenance":      "no member of the strict form",
		"portable.SkillRef.extensions":       "members of others stand beside its own",
		"portable.TaskDependency.extensions": "members of others stand beside its own",
	}
	fewer = map[string]string{ // type.member whose enum ends earlier
		"strict.TaskMessage.kind": ", handoff, blocker",
	}
)

// otherForm returns the fields of a message that belong to the other family's form.
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
	renamed := map[string]string{
		"strict.Plan.created_at":                 "created_at_ms",
		"strict.PlanStep.dependencies":           "depends_on",
		"strict.VerificationReceipt.verified_at": "verified_at_ms",
	}
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
		for _, m := range membersOf(goType) {
			id := goType.String() + "." + m.name
			name := m.name
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
			if got, want := jsonKind(m.goType)+fewer[id], protoKind(fd); got != want {
				t.Errorf("%s is %s, its field %s", id, got, want)
			}
			if fd.Message() != nil && fd.Message().ParentFile().Package() != "google.protobuf" {
				agree(elem(m.goType), fd.Message())
			}
		}
		for name := range fields {
			if !slices.Contains(otherForm(goType), name) && protoOnly[goType.String()+"."+name] == "" {
				t.Errorf("field %s.%s has no member in %s", md.Name(), name, goType)
			}
		}
	}
	for _, p := range pairings() {
		agree(p.goType, p.message.ProtoReflect().Descriptor())
	}
	// Every message that is not a call of the service has a pairing.
	covered := make(map[protoreflect.FullName]bool)
	for _, p := range pairings() {
		mark(p.message.ProtoReflect().Descriptor(), covered)
	}
	pb.Register()
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

// onlyInCalls reports the messages that are transport only (docs/leases.md#the-calls).
func onlyInCalls(name string) bool {
	return strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Response") ||
		slices.Contains([]string{"LeaseRef", "LeaseStatus", "LeaseAssignment", "CancellationIntent",
			"RunnerCapabilities"}, name)
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
	if fd.Message() != nil && fd.Message().ParentFile().Package() == "google.protobuf" {
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

// commonPrefix returns the prefix of the names of an enum's values, as docs/monarchic.md#types
// defines it.
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
