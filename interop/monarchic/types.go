// The types of the protocol and their Go structs.

package monarchic

import (
	"reflect"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Type names a type by the path of its schema file without ".json": "plan" is
// the portable Plan, "client_boundary/plan" the strict one (docs/monarchic.md).
type Type string

// Strict reports whether the type belongs to the closed family.
func (t Type) Strict() bool { return strings.Contains(string(t), "/") }

type entry struct {
	name   Type
	goType reflect.Type
}

// table lists the types a document may be: the index of docs/monarchic.md#types in its
// order, the other portable types, the strict ones.
func table() []entry {
	return []entry{
		{"task", reflect.TypeFor[portable.Task]()},
		{"artifact", reflect.TypeFor[portable.Artifact]()},
		{"event", reflect.TypeFor[portable.Event]()},
		{"gate_result", reflect.TypeFor[portable.GateResult]()},
		{"failure_class", reflect.TypeFor[portable.FailureClass]()},
		{"plan_status", reflect.TypeFor[portable.PlanStatus]()},
		{"failure_detail", reflect.TypeFor[portable.FailureDetail]()},
		{"role_provenance", reflect.TypeFor[portable.RoleProvenance]()},
		{"plan_provenance", reflect.TypeFor[portable.PlanProvenance]()},
		{"plan_step", reflect.TypeFor[portable.PlanStep]()},
		{"plan", reflect.TypeFor[portable.Plan]()},
		{"execution_receipt", reflect.TypeFor[portable.ExecutionReceipt]()},
		{"run_context", reflect.TypeFor[portable.RunContext]()},
		{"dataset_ref", reflect.TypeFor[portable.DatasetRef]()},
		{"experiment_spec", reflect.TypeFor[portable.ExperimentSpec]()},
		{"objective_spec", reflect.TypeFor[portable.ObjectiveSpec]()},
		{"eval_result", reflect.TypeFor[portable.EvalResult]()},
		{"provenance", reflect.TypeFor[portable.Provenance]()},

		{"agent_role", reflect.TypeFor[portable.AgentRole]()},
		{"run_outcome", reflect.TypeFor[portable.RunOutcome]()},
		{"delivery_contract", reflect.TypeFor[portable.DeliveryContract]()},
		{"task_message", reflect.TypeFor[portable.TaskMessage]()},
		{"task_message_ack", reflect.TypeFor[portable.TaskMessageAck]()},
		{"pipeline_spec", reflect.TypeFor[portable.PipelineSpec]()},
		{"pipeline_task", reflect.TypeFor[portable.PipelineTask]()},
		{"task_dependency", reflect.TypeFor[portable.TaskDependency]()},
		{"skill_ref", reflect.TypeFor[portable.SkillRef]()},
		{"role_definition", reflect.TypeFor[portable.RoleDefinition]()},
		{"resolved_role_bundle", reflect.TypeFor[portable.ResolvedRoleBundle]()},

		{"client_boundary/intent", reflect.TypeFor[strict.Intent]()},
		{"client_boundary/plan", reflect.TypeFor[strict.Plan]()},
		{"client_boundary/plan_step", reflect.TypeFor[strict.PlanStep]()},
		{"client_boundary/execution_receipt", reflect.TypeFor[strict.ExecutionReceipt]()},
		{"client_boundary/verification_receipt", reflect.TypeFor[strict.VerificationReceipt]()},
		{"client_boundary/review_decision", reflect.TypeFor[strict.ReviewDecision]()},
		{"client_boundary/rerun_scope", reflect.TypeFor[strict.RerunScope]()},
		{"client_boundary/blocked_outcome", reflect.TypeFor[strict.BlockedOutcome]()},
		{"client_boundary/artifact_descriptor", reflect.TypeFor[strict.ArtifactDescriptor]()},
		{"client_boundary/digest_manifest", reflect.TypeFor[strict.DigestManifest]()},
		{"client_boundary/run_event_record", reflect.TypeFor[strict.RunEventRecord]()},
		{"client_boundary/rerun_execution_result", reflect.TypeFor[strict.RerunExecutionResult]()},
		{"client_boundary/pr_lifecycle_state", reflect.TypeFor[strict.PrLifecycleState]()},
		{"client_boundary/task", reflect.TypeFor[strict.Task]()},
		{"client_boundary/task_message", reflect.TypeFor[strict.TaskMessage]()},
		{"client_boundary/campaign_pipeline_spec", reflect.TypeFor[strict.CampaignPipelineSpec]()},
		{"durable_authority/fencing_token", reflect.TypeFor[strict.FencingToken]()},
		{"durable_authority/lease", reflect.TypeFor[strict.Lease]()},
		{"durable_authority/run_lifecycle_state", reflect.TypeFor[strict.RunLifecycleState]()},
		{"durable_authority/step_lifecycle_state", reflect.TypeFor[strict.StepLifecycleState]()},
		{"durable_authority/lease_rejection_reason", reflect.TypeFor[strict.LeaseRejectionReason]()},
		{"durable_authority/recovery_event", reflect.TypeFor[strict.RecoveryEvent]()},
		{"durable_authority/manual_override_record", reflect.TypeFor[strict.ManualOverrideRecord]()},
		{"service_boundary/principal_ref", reflect.TypeFor[strict.PrincipalRef]()},
		{"service_boundary/tenant_ref", reflect.TypeFor[strict.TenantRef]()},
		{"service_boundary/auth_context", reflect.TypeFor[strict.AuthContext]()},
		{"service_boundary/usage_record", reflect.TypeFor[strict.UsageRecord]()},
		{"service_boundary/audit_export_manifest", reflect.TypeFor[strict.AuditExportManifest]()},
	}
}

// Types returns every type that has a Go struct, portable ones first.
func Types() []Type {
	var out []Type
	for _, e := range table() {
		out = append(out, e.name)
	}
	return out
}

// New returns a pointer to a new zero value of the type's Go struct, nil when
// there is no such type.
func New(t Type) any {
	all := table()
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == t })
	if i < 0 {
		return nil
	}
	return reflect.New(all[i].goType).Interface()
}

// Decode reads v as the type t and returns a pointer to its Go struct. The
// error is wire.Problems.
func Decode(t Type, v ojson.Value) (any, error) {
	dst := New(t)
	if dst == nil {
		return nil, wire.Problems{{Rule: wire.RuleType, Text: "there is no type " + ojson.Shown(string(t))}}
	}
	if err := wire.Decode(v, dst); err != nil {
		return nil, err
	}
	return dst, nil
}
