// Solve: the request and its response (docs/serve.md#asking).

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// SolveRequest requests a governed run for an intent.
type SolveRequest struct {
	Intent         string      `json:"intent" jsonschema:"the result to reach; becomes the goal of the run"`
	Constraints    ojson.Value `json:"constraints,omitempty" jsonschema:"what must hold on the way; text, a list or an object"`
	IdempotencyKey string      `json:"idempotencyKey,omitempty" jsonschema:"the same key and request give the same execution"`
	CorrelationID  string      `json:"correlationId,omitempty" jsonschema:"trace identifier, when the header does not carry one"`
	Protocol       *Protocol   `json:"protocol,omitempty" jsonschema:"what the client speaks"`
	UserID         string      `json:"userId,omitempty" jsonschema:"who asks"`
	SessionID      string      `json:"sessionId,omitempty" jsonschema:"the id the session should have"`
	Extra          ojson.Extra `json:"-"`
}

// SolveResponse is the state of an execution. The fields up to Error are
// canonical (WG-06); those after it are aliases, never authoritative.
type SolveResponse struct {
	Envelope
	Success     bool            `json:"success" jsonschema:"whether the solve operation succeeded"`
	ExecutionID string          `json:"executionId" jsonschema:"the run's id"`
	Artifact    *KnowledgeBlock `json:"artifact" jsonschema:"what was accepted, null when nothing was"`
	Result      string          `json:"result" jsonschema:"the last accepted summary; empty when nothing was accepted"`
	Confidence  float64         `json:"confidence" jsonschema:"0 to 1: share of accepted turns with machine-evidenced verification"`
	Execution   Execution       `json:"execution" jsonschema:"how the run went"`
	Steps       []Step          `json:"steps" jsonschema:"one an accepted or rejected turn, in order"`
	Learning    Learning        `json:"learning" jsonschema:"what was objected to, rejected and escalated"`
	Error       *Error          `json:"error,omitempty" jsonschema:"why, when ok is false"`

	IdempotencyKey  string      `json:"idempotencyKey,omitempty" jsonschema:"alias: the key of the request"`
	Cached          *bool       `json:"cached,omitempty" jsonschema:"alias: the execution was under way or done already"`
	ConfidenceScore *float64    `json:"confidenceScore,omitempty" jsonschema:"alias of confidence"`
	Reason          string      `json:"reason,omitempty" jsonschema:"alias: why the run stands where it does"`
	Improvement     ojson.Value `json:"improvement,omitempty" jsonschema:"alias; not made here, kept when read"`
	FallbackUsed    *bool       `json:"fallbackUsed,omitempty" jsonschema:"alias; not made here, kept when read"`
	SelectMeta      ojson.Value `json:"selectMeta,omitempty" jsonschema:"alias; not made here, kept when read"`
	Extra           ojson.Extra `json:"-"`
}

// Execution describes how a run went. Times are UTC, RFC 3339, milliseconds.
type Execution struct {
	Status     SessionStatus `json:"status" jsonschema:"where the run stands"`
	Phase      string        `json:"phase" jsonschema:"the phase the run is in"`
	SessionID  string        `json:"sessionId" jsonschema:"the session that shows the run"`
	StartedAt  string        `json:"startedAt,omitempty" jsonschema:"when the run started"`
	EndedAt    string        `json:"endedAt,omitempty" jsonschema:"when it ended"`
	DurationMS int64         `json:"durationMs" jsonschema:"from start to end, or to now"`
	Turns      int           `json:"turns" jsonschema:"accepted turns"`
	Settlement *Settlement   `json:"settlement,omitempty" jsonschema:"what the run cost, by role and runtime"`
	Extra      ojson.Extra   `json:"-"`
}

// StepStatus is the outcome of a turn.
type StepStatus string

// The two ends of a turn that a response lists.
const (
	StepAccepted StepStatus = "accepted"
	StepRejected StepStatus = "rejected"
)

// Step is one accepted or rejected turn.
type Step struct {
	Index        int         `json:"index" jsonschema:"from 1"`
	TurnID       string      `json:"turnId" jsonschema:"the turn"`
	Role         string      `json:"role" jsonschema:"who worked"`
	Runtime      string      `json:"runtime,omitempty" jsonschema:"what carried the turn out"`
	Phase        string      `json:"phase,omitempty" jsonschema:"the phase the turn belonged to"`
	Attempt      int         `json:"attempt,omitempty" jsonschema:"from 1"`
	Status       StepStatus  `json:"status" jsonschema:"accepted or rejected"`
	Summary      string      `json:"summary" jsonschema:"what the turn says it did, or why it was rejected"`
	Verification string      `json:"verification,omitempty" jsonschema:"the recorded verification status"`
	StartedAt    string      `json:"startedAt,omitempty" jsonschema:"when the turn was assigned"`
	EndedAt      string      `json:"endedAt,omitempty" jsonschema:"when it was judged"`
	DurationMS   int64       `json:"durationMs,omitempty" jsonschema:"from one to the other"`
	CostMicroUSD int64       `json:"costMicroUsd,omitempty" jsonschema:"recorded cost in millionths of a dollar"`
	Extra        ojson.Extra `json:"-"`
}

// Learning is what a run can teach.
type Learning struct {
	Objections  Objections  `json:"objections" jsonschema:"objections of accepted turns"`
	Rejections  int         `json:"rejections" jsonschema:"rejected attempts"`
	Escalations int         `json:"escalations" jsonschema:"times a person was called"`
	Extra       ojson.Extra `json:"-"`
}

// Objections counts what turns objected to.
type Objections struct {
	Raised   int `json:"raised" jsonschema:"all"`
	Resolved int `json:"resolved" jsonschema:"those that are settled"`
	OpenHigh int `json:"openHigh" jsonschema:"open ones of high or blocking severity"`
}
