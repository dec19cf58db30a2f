// Client boundary: the strict forms of a task and of a message between tasks
// (docs/monarchic.md#types).

package strict

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// RunContext is where a task runs; only Repo is required here.
type RunContext struct {
	Version    *string     `json:"version" wire:"omit"`
	Repo       string      `json:"repo"`
	Worktree   *string     `json:"worktree" wire:"omit"`
	Image      *string     `json:"image" wire:"omit"`
	Runner     *string     `json:"runner" wire:"omit"`
	Labels     []string    `json:"labels" wire:"default"`
	Extensions ojson.Value `json:"extensions" wire:"omit"`
}

// Check checks the context against the rules of docs/monarchic.md#types.
func (c *RunContext) Check(tell report) {
	if blank(c.Repo) {
		tell("repo", wire.RuleEmpty, "task run_context.repo must not be empty")
	}
	isObject(tell, "task run_context.extensions", "extensions", c.Extensions)
}

// RequiredMCP names a tool server that a task requires.
type RequiredMCP struct {
	ID      string  `json:"id"`
	Purpose *string `json:"purpose" wire:"omit"`
}

// Task is work for an agent (docs/monarchic.md#types). Inputs, Constraints and Extensions
// are objects.
type Task struct {
	Version         string        `json:"version"`
	TaskID          string        `json:"task_id"`
	Role            string        `json:"role"`
	RoleID          *string       `json:"role_id" wire:"omit"`
	Goal            string        `json:"goal"`
	Inputs          ojson.Value   `json:"inputs" wire:"omit"`
	Constraints     ojson.Value   `json:"constraints" wire:"omit"`
	GatesRequired   []string      `json:"gates_required" wire:"default"`
	RunContext      *RunContext   `json:"run_context" wire:"omit"`
	InteractionMode *string       `json:"interaction_mode" wire:"omit"`
	Interactive     *bool         `json:"interactive" wire:"omit"`
	RequiredMCPs    []RequiredMCP `json:"required_mcps" wire:"empty"`
	Extensions      ojson.Value   `json:"extensions" wire:"omit"`
}

// Check checks the task against the rules of docs/monarchic.md#types.
func (t *Task) Check(tell report) {
	notEmpty(tell, "task", "version", t.Version, "task_id", t.TaskID, "role", t.Role, "goal", t.Goal)
	if t.RoleID != nil && blank(*t.RoleID) {
		tell("role_id", wire.RuleEmpty, "task role_id must not be empty when present")
	}
	isObject(tell, "task inputs", "inputs", t.Inputs)
	isObject(tell, "task constraints", "constraints", t.Constraints)
	isObject(tell, "task extensions", "extensions", t.Extensions)
	t.checkExtensions(tell)
}

// checkExtensions compares the members that older writers put into extensions.
func (t *Task) checkExtensions(tell report) {
	ext, ok := t.Extensions.(*ojson.Object)
	if !ok {
		return
	}
	compare := func(key string, v ojson.Value) {
		if old, there := ext.Get(key); there && !ojson.Equal(old, v) {
			tell(key, wire.RuleMatch,
				"task "+key+" compatibility field must match extensions."+key+" when both are present")
		}
	}
	if t.InteractionMode != nil {
		compare("interaction_mode", *t.InteractionMode)
	}
	if t.Interactive != nil {
		compare("interactive", *t.Interactive)
	}
	if len(t.RequiredMCPs) > 0 {
		list := make([]any, len(t.RequiredMCPs))
		for i := range t.RequiredMCPs {
			list[i] = wire.Encode(&t.RequiredMCPs[i])
		}
		compare("required_mcps", list)
	}
}

// TaskMessage is a message between two tasks of one run (docs/monarchic.md#messages).
type TaskMessage struct {
	Version      string          `json:"version"`
	MessageID    string          `json:"message_id"`
	RunID        string          `json:"run_id"`
	FromTaskID   string          `json:"from_task_id"`
	ToTaskID     string          `json:"to_task_id"`
	Kind         TaskMessageKind `json:"kind" wire:"default=unspecified"`
	Subject      *string         `json:"subject" wire:"omit"`
	Body         *string         `json:"body" wire:"omit"`
	ArtifactRefs []string        `json:"artifact_refs" wire:"default"`
	ReplyTo      *string         `json:"reply_to" wire:"omit"`
	CreatedAt    string          `json:"created_at"`
	RequiresAck  bool            `json:"requires_ack" wire:"default"`
	Extensions   ojson.Value     `json:"extensions" wire:"omit"`
}

// Check checks the message against the rules of docs/monarchic.md#messages.
func (m *TaskMessage) Check(tell report) {
	notEmpty(tell, "task_message", "version", m.Version, "message_id", m.MessageID, "run_id", m.RunID,
		"from_task_id", m.FromTaskID, "to_task_id", m.ToTaskID, "created_at", m.CreatedAt)
	if m.Kind == "unspecified" {
		tell("kind", wire.RuleEnum, "task_message kind must not be unspecified")
	}
	if m.ReplyTo != nil && m.Kind != KindClarificationResponse {
		tell("reply_to", wire.RuleState, "task_message reply_to is only allowed for clarification_response messages")
	}
	isObject(tell, "task_message extensions", "extensions", m.Extensions)
}

func isObject(tell report, what, member string, v ojson.Value) {
	if v == nil {
		return
	}
	if _, ok := v.(*ojson.Object); !ok {
		tell(member, wire.RuleType, what+" must be a JSON object")
	}
}
