// The upgrade of the portable plan and receipt, which the client boundary calls legacy v0, to its
// own forms (docs/monarchic.md#upgrading).

package monarchic

import (
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// The legacy reader requires these members and ignores all others.
type legacyStep struct {
	wire.Open
	StepID       string      `json:"step_id"`
	Description  string      `json:"description"`
	DependsOn    []string    `json:"depends_on"`
	TaskTemplate ojson.Value `json:"task_template"`
}

type legacyProvenance struct {
	wire.Open
	GeneratedBy string `json:"generated_by"`
}

type legacyPlan struct {
	wire.Open
	PlanID      string           `json:"plan_id"`
	RunID       *string          `json:"run_id" wire:"omit"`
	CreatedAtMs uint64           `json:"created_at_ms"`
	Provenance  legacyProvenance `json:"provenance"`
	Steps       []legacyStep     `json:"steps"`
}

type legacyReceipt struct {
	wire.Open
	RunID          string   `json:"run_id"`
	PlanID         string   `json:"plan_id"`
	PlanHash       string   `json:"plan_hash"`
	TaskHashes     []string `json:"task_hashes"`
	ArtifactHashes []string `json:"artifact_hashes"`
	OutcomeHash    string   `json:"outcome_hash"`
	Status         string   `json:"status"`
	GeneratedAtMs  uint64   `json:"generated_at_ms"`
}

func (s *legacyStep) Check(tell func(member, rule, text string)) {
	required(tell, &s.Open, "step_id", "description", "depends_on", "task_template")
	if _, ok := s.TaskTemplate.(*ojson.Object); !ok && s.Declares("task_template") {
		tell("task_template", wire.RuleType, "legacy task_template must be an object")
	}
}

func (p *legacyProvenance) Check(tell func(member, rule, text string)) {
	required(tell, &p.Open, "generated_by")
}

func (p *legacyPlan) Check(tell func(member, rule, text string)) {
	required(tell, &p.Open, "plan_id", "created_at_ms", "provenance", "steps")
}

func (r *legacyReceipt) Check(tell func(member, rule, text string)) {
	required(tell, &r.Open, "run_id", "plan_id", "plan_hash", "task_hashes", "artifact_hashes", "outcome_hash",
		"status", "generated_at_ms")
	if _, ok := r.executionStatus(); !ok && r.Declares("status") {
		tell("status", wire.RuleEnum, "unknown legacy execution status '"+r.Status+"'")
	}
	if len(r.TaskHashes) > 1 {
		tell("task_hashes", wire.RuleState,
			"legacy execution receipt contains multiple task hashes and cannot be losslessly upgraded")
	}
}

func required(tell func(member, rule, text string), o *wire.Open, members ...string) {
	for _, m := range members {
		if !o.Declares(m) {
			tell(m, wire.RuleMissing, "is required")
		}
	}
}

func (r *legacyReceipt) executionStatus() (strict.ExecutionStatus, bool) {
	switch r.Status {
	case "complete":
		return strict.ExecutionCompleted, true
	case "failed", "cancelled", "blocked", "running":
		return strict.ExecutionStatus(r.Status), true
	}
	return "", false
}

// UpgradePlan turns a portable plan into the strict form. Objective, status,
// updated_at_ms, most of the provenance and the failures of steps have no place
// there. The error is wire.Problems.
func UpgradePlan(v ojson.Value) (*strict.Plan, error) {
	var old legacyPlan
	if err := wire.Decode(v, &old); err != nil {
		return nil, err
	}
	plan := &strict.Plan{
		PlanID: old.PlanID, IntentID: "legacy-intent-" + old.PlanID,
		PlanVersion: strict.Version, PlannerVersion: old.Provenance.GeneratedBy,
		CreatedAt: old.CreatedAtMs, Steps: []strict.PlanStep{},
		ReplanPolicy: strict.ReplanPolicy{Strategy: strict.ReplanRepair, MaxAttempts: 1},
		InputDigest:  "legacy-plan:" + old.PlanID,
	}
	if old.RunID != nil {
		plan.IntentID = *old.RunID
	}
	for _, s := range old.Steps {
		inputs, _ := s.TaskTemplate.(*ojson.Object)
		plan.Steps = append(plan.Steps, strict.PlanStep{
			StepID: s.StepID, TaskID: s.StepID, Kind: strict.StepCustom,
			Description: s.Description, Dependencies: s.DependsOn, Inputs: inputs,
			ExpectedOutputs: []strict.StepOutput{}, PolicyTags: []string{"legacy-compat"},
		})
	}
	return plan, strict.Validate(plan)
}

// UpgradeReceipt turns the portable receipt of a run with at most one task into
// the strict form. The error is wire.Problems.
func UpgradeReceipt(v ojson.Value) (*strict.ExecutionReceipt, error) {
	var old legacyReceipt
	if err := wire.Decode(v, &old); err != nil {
		return nil, err
	}
	status, _ := old.executionStatus()
	receipt := &strict.ExecutionReceipt{
		ReceiptID: "legacy-receipt:" + old.PlanID + ":" + old.RunID,
		PlanID:    old.PlanID, StepID: "legacy-step", TaskID: "legacy-task", RunnerID: "legacy-runner",
		ContractVersion: strict.Version, Status: status,
		StartedAt: old.GeneratedAtMs, FinishedAt: old.GeneratedAtMs,
		ArtifactDescriptors: []strict.ArtifactDescriptor{},
		EventDigest:         old.PlanHash, OutputDigest: old.OutcomeHash,
	}
	if len(old.TaskHashes) == 1 {
		receipt.TaskID = old.TaskHashes[0]
	}
	for i, hash := range old.ArtifactHashes {
		id := "legacy-artifact-" + strconv.Itoa(i)
		receipt.ArtifactDescriptors = append(receipt.ArtifactDescriptors, strict.ArtifactDescriptor{
			ArtifactID: id, Kind: strict.ArtifactCustom, Digest: hash,
			MediaType: "application/octet-stream", LogicalName: id,
			Producer: "legacy-runtime", ContractVersion: strict.Version,
		})
	}
	return receipt, strict.Validate(receipt)
}
