// The campaign pipeline, the nearest closed relative of a pipeline (docs/monarchic.md#types).

package strict

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// CampaignGate is a gate of a campaign pipeline.
type CampaignGate struct {
	Name    string   `json:"name"`
	Command []string `json:"command" wire:"default"`
	Workdir *string  `json:"workdir" wire:"omit"`
}

// Check checks the gate against the rules of docs/monarchic.md#types.
func (g *CampaignGate) Check(tell report) {
	if blank(g.Name) {
		tell("name", wire.RuleEmpty, "campaign_pipeline_spec gate name must not be empty")
	}
}

// CampaignGatePolicy says which gates a campaign pipeline must pass.
type CampaignGatePolicy struct {
	RequireStandard bool           `json:"require_standard" wire:"default"`
	RequiredGates   []CampaignGate `json:"required_gates" wire:"default"`
}

// CampaignConnection is an edge between two tasks of a campaign pipeline.
type CampaignConnection struct {
	FromTaskID  string         `json:"from_task_id"`
	ToTaskID    string         `json:"to_task_id"`
	Kind        ConnectionKind `json:"kind" wire:"default=depends_on"`
	Required    bool           `json:"required" wire:"default"`
	Description *string        `json:"description" wire:"omit"`
}

// SkillBinding names a skill that a campaign task requires.
type SkillBinding struct {
	ID       string  `json:"id"`
	Required bool    `json:"required" wire:"default"`
	Purpose  *string `json:"purpose" wire:"omit"`
}

// FilesystemPolicy says what a task may touch, as lists of globs.
type FilesystemPolicy struct {
	Read    []string `json:"read" wire:"empty"`
	Write   []string `json:"write" wire:"empty"`
	Execute []string `json:"execute" wire:"empty"`
}

// CampaignTask is one task of a campaign pipeline; TaskArtifact is the path of
// its payload.
type CampaignTask struct {
	TaskID              string           `json:"task_id"`
	TaskArtifact        string           `json:"task_artifact"`
	RoleID              *string          `json:"role_id" wire:"omit"`
	TaskMilestone       *string          `json:"task_milestone" wire:"omit"`
	TaskFormat          *string          `json:"task_format" wire:"omit"`
	DependsOn           []string         `json:"depends_on" wire:"default"`
	RunnerArgs          []string         `json:"runner_args" wire:"default"`
	InteractionMode     *string          `json:"interaction_mode" wire:"omit"`
	NetworkMode         *string          `json:"network_mode" wire:"omit"`
	RequiresHumanReview bool             `json:"requires_human_review" wire:"default"`
	FilesystemPolicy    FilesystemPolicy `json:"filesystem_policy" wire:"default"`
	RequiredSkills      []SkillBinding   `json:"required_skills" wire:"default"`
	RequiredMCPIDs      []string         `json:"required_mcp_ids" wire:"default"`
}

// Check checks the task against the rules of docs/monarchic.md#types.
func (t *CampaignTask) Check(tell report) {
	notEmpty(tell, "campaign_pipeline_spec", "task_id", t.TaskID, "task_artifact", t.TaskArtifact)
}

// CampaignPipelineSpec is a campaign pipeline (docs/monarchic.md#types).
type CampaignPipelineSpec struct {
	PipelineID      string               `json:"pipeline_id"`
	Version         string               `json:"version"`
	Objective       *string              `json:"objective" wire:"omit"`
	ProjectKey      *string              `json:"project_key" wire:"omit"`
	ContinueOnError bool                 `json:"continue_on_error" wire:"default"`
	GatePolicy      *CampaignGatePolicy  `json:"gate_policy" wire:"omit"`
	Metadata        ojson.Value          `json:"metadata" wire:"omit"`
	Connections     []CampaignConnection `json:"connections" wire:"default"`
	Tasks           []CampaignTask       `json:"tasks"`
}

// Check checks the pipeline against the rules of docs/monarchic.md#types.
func (s *CampaignPipelineSpec) Check(tell report) {
	notEmpty(tell, "campaign_pipeline_spec", "pipeline_id", s.PipelineID, "version", s.Version)
	if len(s.Tasks) == 0 {
		tell("tasks", wire.RuleEmpty, "campaign_pipeline_spec must include at least one task")
	}
}
