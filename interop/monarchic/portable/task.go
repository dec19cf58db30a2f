// Tasks, what they leave behind, and what is said about them (docs/monarchic.md#types).

package portable

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// RunContext holds execution hints for a runner.
type RunContext struct {
	wire.Open
	Version    string        `json:"version"`
	Repo       string        `json:"repo"`
	Worktree   string        `json:"worktree"`
	Image      string        `json:"image"`
	Runner     string        `json:"runner"`
	Labels     []string      `json:"labels" wire:"omit"`
	Extensions *ojson.Object `json:"extensions" wire:"omit"`
}

// Task is work for an agent. RoleID, when set, overrides Role. DeliveryContract exists in JSON
// only; in protobuf it is part of extensions, never a numbered field (docs/monarchic.md#types).
type Task struct {
	wire.Open
	Version          string            `json:"version"`
	TaskID           string            `json:"task_id"`
	Role             AgentRole         `json:"role"`
	RoleID           string            `json:"role_id" wire:"omit"`
	Goal             string            `json:"goal"`
	Inputs           *ojson.Object     `json:"inputs" wire:"omit"`
	Constraints      *ojson.Object     `json:"constraints" wire:"omit"`
	GatesRequired    []string          `json:"gates_required" wire:"omit"`
	RunContext       *RunContext       `json:"run_context" wire:"omit"`
	ExperimentSpec   *ExperimentSpec   `json:"experiment_spec" wire:"omit"`
	ObjectiveSpec    *ObjectiveSpec    `json:"objective_spec" wire:"omit"`
	DeliveryContract *DeliveryContract `json:"delivery_contract" wire:"omit"`
	Extensions       *ojson.Object     `json:"extensions" wire:"omit"`
}

// Check refuses an unknown role unless role_id names the real one.
func (t *Task) Check(tell func(member, rule, text string)) { checkRole(tell, t.Role, t.RoleID) }

func checkRole(tell func(member, rule, text string), role AgentRole, id string) {
	_, numbered := role.Set().Number(string(role))
	if !numbered && role != "scribe" && strings.TrimSpace(id) == "" {
		tell("role", wire.RuleRole, "must be one of "+role.Set().List()+
			", not "+ojson.Shown(string(role))+"; any other role needs a role_id")
	}
}

// Artifact is something that an agent or runner made.
type Artifact struct {
	wire.Open
	Version        string          `json:"version"`
	ArtifactID     string          `json:"artifact_id"`
	Type           string          `json:"type"`
	Summary        string          `json:"summary"`
	Path           string          `json:"path"`
	TaskID         string          `json:"task_id"`
	Provenance     *Provenance     `json:"provenance" wire:"omit"`
	DatasetRefs    []DatasetRef    `json:"dataset_refs" wire:"omit"`
	EvalResults    []EvalResult    `json:"eval_results" wire:"omit"`
	ExperimentSpec *ExperimentSpec `json:"experiment_spec" wire:"omit"`
	Extensions     *ojson.Object   `json:"extensions" wire:"omit"`
}

// Event is one update of a life cycle. Timestamp is RFC 3339.
type Event struct {
	wire.Open
	Version      string        `json:"version"`
	EventType    string        `json:"event_type"`
	Timestamp    string        `json:"timestamp"`
	TaskID       string        `json:"task_id"`
	Status       string        `json:"status"`
	Message      string        `json:"message" wire:"omit"`
	Provenance   *Provenance   `json:"provenance" wire:"omit"`
	EvalResults  []EvalResult  `json:"eval_results" wire:"omit"`
	FailureClass *FailureClass `json:"failure_class" wire:"omit"`
	Extensions   *ojson.Object `json:"extensions" wire:"omit"`
}

// GateResult is the outcome of a gate; Status is free text such as pass or fail.
type GateResult struct {
	wire.Open
	Version      string        `json:"version"`
	Gate         string        `json:"gate"`
	Status       string        `json:"status"`
	Reason       string        `json:"reason" wire:"omit"`
	Evidence     *ojson.Object `json:"evidence" wire:"omit"`
	FailureClass *FailureClass `json:"failure_class" wire:"omit"`
	Extensions   *ojson.Object `json:"extensions" wire:"omit"`
}

// FailureClass classifies a failure for machines. Category is one of validation, dependency,
// environment, timeout, conflict, permission, resource, internal, unknown; Scope one of task,
// artifact, gate, runner, orchestrator, unknown.
type FailureClass struct {
	wire.Open
	Category   string        `json:"category"`
	Code       string        `json:"code"`
	Retryable  bool          `json:"retryable"`
	Detail     string        `json:"detail" wire:"omit"`
	Scope      string        `json:"scope" wire:"omit"`
	Source     string        `json:"source" wire:"omit"`
	NextAction string        `json:"next_action" wire:"omit"`
	Extensions *ojson.Object `json:"extensions" wire:"omit"`
}

// FailureDetail is a failure of a plan, a step or a receipt. Class is one of
// validation, execution, agent, infra, policy, unknown.
type FailureDetail struct {
	wire.Open
	Class   string        `json:"class"`
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details *ojson.Object `json:"details" wire:"omit"`
}

// RunOutcome holds scores and decisions at the end of a run (docs/monarchic.md#types).
type RunOutcome struct {
	wire.Open
	Version           string          `json:"version"`
	TaskID            string          `json:"task_id"`
	RunID             string          `json:"run_id" wire:"omit"`
	ObjectiveMetric   string          `json:"objective_metric" wire:"omit"`
	ObjectiveScore    *float64        `json:"objective_score" wire:"omit"`
	ObjectiveDecision OutcomeDecision `json:"objective_decision" wire:"omit"`
	EstimatedCostUSD  *float64        `json:"estimated_cost_usd" wire:"omit"`
	BudgetLimitUSD    *float64        `json:"budget_limit_usd" wire:"omit"`
	CostDecision      OutcomeDecision `json:"cost_decision" wire:"omit"`
	RiskLevel         string          `json:"risk_level" wire:"omit"`
	RiskSummary       string          `json:"risk_summary" wire:"omit"`
	RiskDecision      OutcomeDecision `json:"risk_decision" wire:"omit"`
	FinalDecision     OutcomeDecision `json:"final_decision" wire:"omit"`
	Summary           string          `json:"summary" wire:"omit"`
	Evidence          *ojson.Object   `json:"evidence" wire:"omit"`
	Extensions        *ojson.Object   `json:"extensions" wire:"omit"`
}
