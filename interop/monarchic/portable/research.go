// Experiments, measurements and provenance (docs/monarchic.md#types).

package portable

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// DatasetRef names a dataset by its digest: SHA256 is 64 hex digits without a
// prefix. Split is one of train, validation, test, holdout, reference, other.
type DatasetRef struct {
	wire.Open
	DatasetID   string        `json:"dataset_id"`
	URI         string        `json:"uri" wire:"omit"`
	SHA256      string        `json:"sha256"`
	Format      string        `json:"format"`
	Split       string        `json:"split" wire:"omit"`
	SizeBytes   *uint64       `json:"size_bytes" wire:"omit"`
	Description string        `json:"description" wire:"omit"`
	Extensions  *ojson.Object `json:"extensions" wire:"omit"`
}

// AcceptanceCriteria says when an experiment counts as successful. Direction is
// one of maximize, minimize, target.
type AcceptanceCriteria struct {
	wire.Open
	Metric          string        `json:"metric"`
	Direction       string        `json:"direction"`
	Threshold       float64       `json:"threshold"`
	MinEffectSize   *float64      `json:"min_effect_size" wire:"omit"`
	MaxVariance     *float64      `json:"max_variance" wire:"omit"`
	ConfidenceLevel *float64      `json:"confidence_level" wire:"omit"`
	Extensions      *ojson.Object `json:"extensions" wire:"omit"`
}

// ExperimentSpec is the design of an experiment.
type ExperimentSpec struct {
	wire.Open
	ExperimentID string             `json:"experiment_id"`
	Objective    string             `json:"objective"`
	Hypothesis   string             `json:"hypothesis" wire:"omit"`
	ModelFamily  string             `json:"model_family" wire:"omit"`
	Seeds        []int64            `json:"seeds" wire:"omit"`
	DatasetRefs  []DatasetRef       `json:"dataset_refs"`
	Acceptance   AcceptanceCriteria `json:"acceptance"`
	Constraints  *ojson.Object      `json:"constraints" wire:"omit"`
	Extensions   *ojson.Object      `json:"extensions" wire:"omit"`
}

// ObjectiveSpec says how progress towards an objective is scored. Direction is one of maximize,
// minimize, target; Target or MinDelta must be present.
type ObjectiveSpec struct {
	wire.Open
	MetricKey    string        `json:"metric_key"`
	Direction    string        `json:"direction"`
	Target       *float64      `json:"target" wire:"omit"`
	MinDelta     *float64      `json:"min_delta" wire:"omit"`
	Tolerance    *float64      `json:"tolerance" wire:"omit"`
	ReportFile   string        `json:"report_file" wire:"omit"`
	ReportTaskID string        `json:"report_task_id" wire:"omit"`
	Weight       *float64      `json:"weight" wire:"omit"`
	Description  string        `json:"description" wire:"omit"`
	Extensions   *ojson.Object `json:"extensions" wire:"omit"`
}

// EvalResult is one measured metric.
type EvalResult struct {
	wire.Open
	Metric     string        `json:"metric"`
	Value      float64       `json:"value"`
	LowerCI    *float64      `json:"lower_ci" wire:"omit"`
	UpperCI    *float64      `json:"upper_ci" wire:"omit"`
	Variance   *float64      `json:"variance" wire:"omit"`
	Seed       *int64        `json:"seed" wire:"omit"`
	Passed     bool          `json:"passed"`
	Notes      string        `json:"notes" wire:"omit"`
	Extensions *ojson.Object `json:"extensions" wire:"omit"`
}

// Provenance holds the digests and programs that an object came from. Every digest is 64 hex digits
// without a prefix, CreatedAt is RFC 3339.
type Provenance struct {
	wire.Open
	PromptSHA256   string        `json:"prompt_sha256"`
	CodeSHA256     string        `json:"code_sha256"`
	DatasetSHA256  []string      `json:"dataset_sha256" wire:"omit"`
	Runtime        string        `json:"runtime"`
	Model          string        `json:"model" wire:"omit"`
	Runner         string        `json:"runner"`
	Orchestrator   string        `json:"orchestrator"`
	TaskSpecSHA256 string        `json:"task_spec_sha256" wire:"omit"`
	PipelineSHA256 string        `json:"pipeline_sha256" wire:"omit"`
	CommandSHA256  string        `json:"command_sha256" wire:"omit"`
	CreatedAt      string        `json:"created_at"`
	SourceTaskID   string        `json:"source_task_id" wire:"omit"`
	DatasetRefs    []DatasetRef  `json:"dataset_refs" wire:"omit"`
	Extensions     *ojson.Object `json:"extensions" wire:"omit"`
}

// DeliveryContract says when a delivery is done. It exists in JSON only.
// RiskTier is one of low, medium, high, critical (docs/monarchic.md#types).
type DeliveryContract struct {
	wire.Open
	Objective        string        `json:"objective"`
	DefinitionOfDone []string      `json:"definition_of_done"`
	RequiredChecks   []string      `json:"required_checks"`
	RiskTier         string        `json:"risk_tier"`
	MaxCycleMinutes  *uint32       `json:"max_cycle_minutes" wire:"omit"`
	MaxAgentTurns    *uint32       `json:"max_agent_turns" wire:"omit"`
	PRStrategy       string        `json:"pr_strategy" wire:"omit"`
	ReviewPolicy     string        `json:"review_policy" wire:"omit"`
	RollbackStrategy string        `json:"rollback_strategy" wire:"omit"`
	Notes            string        `json:"notes" wire:"omit"`
	Extensions       *ojson.Object `json:"extensions" wire:"omit"`
}
