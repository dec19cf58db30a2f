// Client boundary: a client's intent and its plan (docs/monarchic.md#types).

package strict

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Intent is a client's request (docs/monarchic.md#types). SubmittedAt is Unix milliseconds.
type Intent struct {
	IntentID      string        `json:"intent_id"`
	SubmittedAt   uint64        `json:"submitted_at"`
	Submitter     string        `json:"submitter"`
	PolicyVersion string        `json:"policy_version"`
	TargetRepo    string        `json:"target_repo"`
	TargetRef     string        `json:"target_ref"`
	Goal          string        `json:"goal"`
	IntentClass   IntentClass   `json:"intent_class" wire:"default=unspecified"`
	Constraints   *ojson.Object `json:"constraints"`
	ContextDigest string        `json:"context_digest"`
}

// StepOutput is an artifact that a step is expected to leave.
type StepOutput struct {
	Kind        ArtifactKind `json:"kind"`
	LogicalName string       `json:"logical_name"`
}

// PlanStep is one step of a plan (docs/monarchic.md#types).
type PlanStep struct {
	StepID          string        `json:"step_id"`
	TaskID          string        `json:"task_id"`
	Kind            PlanStepKind  `json:"kind"`
	Description     string        `json:"description"`
	Dependencies    []string      `json:"dependencies"`
	Inputs          *ojson.Object `json:"inputs"`
	ExpectedOutputs []StepOutput  `json:"expected_outputs"`
	PolicyTags      []string      `json:"policy_tags"`
}

// ReplanPolicy says what to do when a step fails.
type ReplanPolicy struct {
	Strategy    ReplanStrategy `json:"strategy"`
	MaxAttempts uint32         `json:"max_attempts"`
}

// Plan is a plan made for an intent (docs/monarchic.md#types). CreatedAt is Unix milliseconds.
type Plan struct {
	PlanID         string       `json:"plan_id"`
	IntentID       string       `json:"intent_id"`
	PlanVersion    string       `json:"plan_version"`
	PlannerVersion string       `json:"planner_version"`
	CreatedAt      uint64       `json:"created_at"`
	Steps          []PlanStep   `json:"steps"`
	ReplanPolicy   ReplanPolicy `json:"replan_policy"`
	InputDigest    string       `json:"input_digest"`
}

// ArtifactDescriptor names an artifact by its digest (docs/monarchic.md#types).
type ArtifactDescriptor struct {
	ArtifactID      string       `json:"artifact_id"`
	Kind            ArtifactKind `json:"kind"`
	Digest          string       `json:"digest"`
	MediaType       string       `json:"media_type"`
	LogicalName     string       `json:"logical_name"`
	Producer        string       `json:"producer"`
	ContractVersion string       `json:"contract_version"`
}

// DigestManifest lists the artifacts of a run and their combined digest
// (docs/monarchic.md#types). CreatedAt is Unix milliseconds.
type DigestManifest struct {
	ContractVersion     string               `json:"contract_version" wire:"default=v1"`
	ManifestID          string               `json:"manifest_id"`
	RunID               string               `json:"run_id"`
	PlanID              string               `json:"plan_id"`
	CreatedAt           uint64               `json:"created_at"`
	CombinedDigest      string               `json:"combined_digest"`
	EventDigest         string               `json:"event_digest"`
	ArtifactDescriptors []ArtifactDescriptor `json:"artifact_descriptors"`
}

// Check checks the manifest against the rules of docs/monarchic.md#types.
func (m *DigestManifest) Check(tell report) {
	notEmpty(tell, "digest manifest", "contract_version", m.ContractVersion, "manifest_id", m.ManifestID,
		"run_id", m.RunID, "plan_id", m.PlanID, "combined_digest", m.CombinedDigest, "event_digest", m.EventDigest)
	if len(m.ArtifactDescriptors) == 0 {
		tell("artifact_descriptors", wire.RuleEmpty, "digest manifest must include at least one artifact_descriptor")
	}
}

// blank reports whether s is empty after trimming white space (docs/monarchic.md).
func blank(s string) bool { return strings.TrimSpace(s) == "" }
