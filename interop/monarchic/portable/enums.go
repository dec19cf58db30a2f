// Enums of the portable family that protobuf numbers (docs/monarchic.md#types).

package portable

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// AgentRole is one of the roles that every reader knows; role_id names any other. The last two are
// numbers in JSON (docs/monarchic.md#types).
type AgentRole string

const (
	RoleUnspecified    AgentRole = "AGENT_ROLE_UNSPECIFIED"
	RoleProductOwner   AgentRole = "product_owner"
	RoleProjectManager AgentRole = "project_manager"
	RoleDev            AgentRole = "dev"
	RoleQA             AgentRole = "qa"
	RoleReviewer       AgentRole = "reviewer"
	RoleSecurity       AgentRole = "security"
	RoleOps            AgentRole = "ops"
	RolePublisher      AgentRole = "publisher"
	RoleResearcher     AgentRole = "researcher"
	RoleVerification   AgentRole = "verification"
)

// Set describes the enum.
func (AgentRole) Set() *wire.Set {
	return &wire.Set{
		Tokens: []string{"", "product_owner", "project_manager", "dev", "qa", "reviewer", "security",
			"ops", "publisher", "researcher", "verification"},
		Zero: "AGENT_ROLE_UNSPECIFIED", Strings: 9, Free: true,
	}
}

// PlanStatus is the status of a plan.
type PlanStatus string

const (
	PlanPlanned   PlanStatus = "planned"
	PlanExecuting PlanStatus = "executing"
	PlanComplete  PlanStatus = "complete"
	PlanBounded   PlanStatus = "bounded"
	PlanFailed    PlanStatus = "failed"
)

// Set describes the enum.
func (PlanStatus) Set() *wire.Set {
	return &wire.Set{
		Tokens: []string{"unspecified", "draft", "planned", "executing", "complete", "bounded", "failed", "cancelled",
			"unknown"},
		Zero:   "PLAN_STATUS_UNSPECIFIED",
		Closed: true,
	}
}

// OutcomeDecision says what should become of a run.
type OutcomeDecision string

const (
	OutcomeAccept   OutcomeDecision = "accept"
	OutcomeIterate  OutcomeDecision = "iterate"
	OutcomeReject   OutcomeDecision = "reject"
	OutcomeEscalate OutcomeDecision = "escalate"
)

// Set describes the enum.
func (OutcomeDecision) Set() *wire.Set {
	return &wire.Set{
		Tokens: []string{"", "accept", "iterate", "reject", "escalate"},
		Zero:   "OUTCOME_DECISION_UNSPECIFIED",
	}
}

// MessageKind is the purpose of a message. Protobuf numbers those of the strict family, and hand-off and
// blocker; any other text travels beside it (docs/monarchic.md#messages).
type MessageKind string

const (
	KindArtifactReady         MessageKind = "artifact_ready"
	KindClarificationResponse MessageKind = "clarification_response"
	KindHandoff               MessageKind = "handoff"
	KindBlocker               MessageKind = "blocker"
)

// Set describes the enum.
func (MessageKind) Set() *wire.Set {
	return &wire.Set{
		Tokens: []string{"", "artifact_ready", "clarification_request", "clarification_response", "handoff",
			"blocker"},
		Zero: "TASK_MESSAGE_KIND_UNSPECIFIED", Prefix: "TASK_MESSAGE_KIND_", Free: true,
	}
}
