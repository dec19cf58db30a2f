// Pipelines and roles, which exist in JSON only (docs/monarchic.md#types).

package portable

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// SkillRef names a skill; a bare string is read as its ID.
type SkillRef struct {
	wire.Open
	ID       string `json:"id" wire:"bare"`
	Required bool   `json:"required" wire:"omit"`
	Purpose  string `json:"purpose" wire:"omit"`
}

// TaskDependency is an edge of a pipeline; a bare string is read as its TaskID. Kind "" means
// depends_on, a nil Required means true.
type TaskDependency struct {
	wire.Open
	TaskID      string `json:"task_id" wire:"bare"`
	Kind        string `json:"kind" wire:"omit"`
	Required    *bool  `json:"required" wire:"omit"`
	Description string `json:"description" wire:"omit"`
}

// PipelineTask is one task of a pipeline. Task is the body of a legacy file: a string, an object,
// or nil. Role may be any text: an AgentRole token or, in files of the canonical layout, the role's
// name in its catalog.
type PipelineTask struct {
	wire.Open
	ID             string           `json:"id" wire:"alias=task_id"`
	Task           ojson.Value      `json:"task" wire:"omit"`
	Role           string           `json:"role" wire:"omit"`
	RoleID         string           `json:"role_id" wire:"omit"`
	Goal           string           `json:"goal" wire:"omit"`
	DependsOn      []TaskDependency `json:"depends_on" wire:"omit"`
	RequiredSkills []SkillRef       `json:"required_skills" wire:"omit"`
	GatesRequired  []string         `json:"gates_required" wire:"omit"`
	RunContext     *RunContext      `json:"run_context" wire:"omit"`
	Inputs         *ojson.Object    `json:"inputs" wire:"omit"`
	Constraints    *ojson.Object    `json:"constraints" wire:"omit"`
	Extensions     *ojson.Object    `json:"extensions" wire:"omit"`
}

// PipelineSpec is a pipeline before it runs. A legacy file has PipelineID and
// Tasks only.
type PipelineSpec struct {
	wire.Open
	Version    string         `json:"version" wire:"omit"`
	PipelineID string         `json:"pipeline_id"`
	Objective  string         `json:"objective" wire:"omit"`
	ProjectKey string         `json:"project_key" wire:"omit"`
	Tasks      []PipelineTask `json:"tasks"`
	Extensions *ojson.Object  `json:"extensions" wire:"omit"`
}

// RoleDefinition is a canonical role: what it can do and which skills it requires.
type RoleDefinition struct {
	wire.Open
	RoleID         string        `json:"role_id"`
	DisplayName    string        `json:"display_name" wire:"omit"`
	Description    string        `json:"description" wire:"omit"`
	Role           AgentRole     `json:"role" wire:"omit"`
	Capabilities   []string      `json:"capabilities" wire:"omit"`
	RequiredSkills []SkillRef    `json:"required_skills" wire:"omit"`
	Extensions     *ojson.Object `json:"extensions" wire:"omit"`
}

// Check refuses an unknown role; role_id is required here and names it.
func (r *RoleDefinition) Check(tell func(member, rule, text string)) {
	checkRole(tell, r.Role, r.RoleID)
}

// ResolvedRoleBundle is a role made concrete for one execution of one task.
type ResolvedRoleBundle struct {
	wire.Open
	Role           RoleDefinition  `json:"role"`
	ResolvedSkills []SkillRef      `json:"resolved_skills" wire:"omit"`
	TemplatePath   string          `json:"template_path" wire:"omit"`
	RoleProvenance *RoleProvenance `json:"role_provenance" wire:"omit"`
	TaskID         string          `json:"task_id" wire:"omit"`
	Extensions     *ojson.Object   `json:"extensions" wire:"omit"`
}
