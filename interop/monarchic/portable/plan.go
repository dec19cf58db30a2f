// Plans and the receipt of a run (docs/monarchic.md#types).

package portable

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// RoleProvenance says which role template was rendered.
type RoleProvenance struct {
	wire.Open
	RoleName     string `json:"role_name"`
	TemplateHash string `json:"template_hash"`
	RenderHash   string `json:"render_hash"`
}

// PlanProvenance says who made a plan and under which policy. GeneratedAtMs is
// Unix milliseconds.
type PlanProvenance struct {
	wire.Open
	GeneratedBy   string          `json:"generated_by"`
	PolicyProfile string          `json:"policy_profile" wire:"omit"`
	GeneratedAtMs uint64          `json:"generated_at_ms"`
	Role          *RoleProvenance `json:"role" wire:"omit"`
}

// StepOutput is an artifact that a step is expected to leave.
type StepOutput struct {
	wire.Open
	Kind        strict.ArtifactKind `json:"kind"`
	LogicalName string              `json:"logical_name"`
}

// ReplanPolicy says what to do when a step fails.
type ReplanPolicy struct {
	wire.Open
	Strategy    strict.ReplanStrategy `json:"strategy"`
	MaxAttempts uint32                `json:"max_attempts"`
}

// PlanStep is one step of a portable plan. The members from TaskID on belong to the client
// boundary; see Plan.
type PlanStep struct {
	wire.Open
	StepID       string         `json:"step_id"`
	Description  string         `json:"description"`
	DependsOn    []string       `json:"depends_on" wire:"omit"`
	TaskTemplate *ojson.Object  `json:"task_template"`
	Failure      *FailureDetail `json:"failure" wire:"omit"`

	TaskID          string              `json:"task_id" wire:"omit"`
	Kind            strict.PlanStepKind `json:"kind" wire:"omit"`
	Inputs          *ojson.Object       `json:"inputs" wire:"omit"`
	ExpectedOutputs []StepOutput        `json:"expected_outputs" wire:"omit"`
	PolicyTags      []string            `json:"policy_tags" wire:"omit"`
	Extensions      *ojson.Object       `json:"extensions" wire:"omit"`
}

// Plan is a portable plan. Times are Unix milliseconds. The members from IntentID on belong to the
// client boundary, whose own form is strict.Plan; one protobuf message serves both, so a plan that
// came over the wire may have them (docs/monarchic.md). Extensions exist in JSON only.
type Plan struct {
	wire.Open
	ContractVersion string         `json:"contract_version"`
	PlanID          string         `json:"plan_id"`
	RunID           string         `json:"run_id" wire:"omit"`
	Objective       string         `json:"objective"`
	Status          PlanStatus     `json:"status"`
	CreatedAtMs     uint64         `json:"created_at_ms"`
	UpdatedAtMs     uint64         `json:"updated_at_ms"`
	Provenance      PlanProvenance `json:"provenance"`
	Steps           []PlanStep     `json:"steps"`

	IntentID       string        `json:"intent_id" wire:"omit"`
	PlanVersion    string        `json:"plan_version" wire:"omit"`
	PlannerVersion string        `json:"planner_version" wire:"omit"`
	ReplanPolicy   *ReplanPolicy `json:"replan_policy" wire:"omit"`
	InputDigest    string        `json:"input_digest" wire:"omit"`
	Extensions     *ojson.Object `json:"extensions" wire:"omit"`
}

// ResolvedRunner is the runner that was chosen for a run (docs/monarchic.md#types).
type ResolvedRunner struct {
	wire.Open
	RunnerID        string        `json:"runner_id"`
	Model           string        `json:"model" wire:"omit"`
	Provider        string        `json:"provider" wire:"omit"`
	ReasoningEffort string        `json:"reasoning_effort" wire:"omit"`
	PreferenceIndex uint32        `json:"preference_index" wire:"omit"`
	SelectionReason string        `json:"selection_reason" wire:"omit"`
	Extensions      *ojson.Object `json:"extensions" wire:"omit"`
}

// ExecutionReceipt says what a run did, as digests (docs/monarchic.md#types).
// Extensions exist in JSON only.
type ExecutionReceipt struct {
	wire.Open
	ContractVersion string          `json:"contract_version"`
	RunID           string          `json:"run_id"`
	PlanID          string          `json:"plan_id"`
	PlanHash        string          `json:"plan_hash"`
	TaskHashes      []string        `json:"task_hashes"`
	ArtifactHashes  []string        `json:"artifact_hashes"`
	OutcomeHash     string          `json:"outcome_hash"`
	Status          PlanStatus      `json:"status"`
	Failure         *FailureDetail  `json:"failure" wire:"omit"`
	GeneratedAtMs   uint64          `json:"generated_at_ms"`
	ResolvedRunner  *ResolvedRunner `json:"resolved_runner" wire:"omit"`
	Extensions      *ojson.Object   `json:"extensions" wire:"omit"`
}
