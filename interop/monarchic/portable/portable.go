// What all types of the portable family share.

package portable

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Version is the value of version and contract_version of every object we write.
const Version = "v1"

// Document is every type that may be a document on its own.
type Document interface {
	Task | RunContext | Artifact | Event | GateResult | FailureClass | FailureDetail |
		RoleProvenance | PlanProvenance | PlanStep | Plan | ExecutionReceipt | RunOutcome |
		DatasetRef | AcceptanceCriteria | ExperimentSpec | ObjectiveSpec | EvalResult |
		Provenance | DeliveryContract | TaskMessage | TaskMessageAck | PipelineSpec |
		PipelineTask | TaskDependency | SkillRef | RoleDefinition | ResolvedRoleBundle |
		PlanStatus | AgentRole
}

// From reads a document from its JSON value. It checks the types of the members it knows; the
// schema says which members a document must have. The error is wire.Problems.
func From[T Document](v ojson.Value) (*T, error) {
	dst := new(T)
	if err := wire.Decode(v, dst); err != nil {
		return nil, err
	}
	return dst, nil
}
