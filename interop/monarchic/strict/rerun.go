// Client boundary: repeating parts of a plan, pull requests, and the event log of a run
// (docs/monarchic.md#types).

package strict

// RerunScope says which part of a plan has to be repeated (docs/monarchic.md#types). CreatedAt is
// Unix milliseconds.
type RerunScope struct {
	ScopeID          string       `json:"scope_id"`
	PlanID           string       `json:"plan_id"`
	Trigger          RerunTrigger `json:"trigger" wire:"default=unspecified"`
	Reason           string       `json:"reason"`
	SourceDecisionID *string      `json:"source_decision_id" wire:"omit"`
	TaskIDs          []string     `json:"task_ids" wire:"default"`
	StepIDs          []string     `json:"step_ids" wire:"default"`
	Paths            []string     `json:"paths" wire:"default"`
	CreatedAt        uint64       `json:"created_at"`
}

// RerunExecutionResult is the outcome of a rerun (docs/monarchic.md#types). Times are Unix
// milliseconds.
type RerunExecutionResult struct {
	ResultID         string                 `json:"result_id"`
	PlanID           string                 `json:"plan_id"`
	RerunScopeID     string                 `json:"rerun_scope_id"`
	SourceDecisionID *string                `json:"source_decision_id" wire:"omit"`
	Trigger          RerunTrigger           `json:"trigger" wire:"default=unspecified"`
	MatchedStrategy  RerunSelectionStrategy `json:"matched_strategy" wire:"default=unspecified"`
	RootTasks        []string               `json:"root_tasks" wire:"default"`
	SelectedTasks    []string               `json:"selected_tasks" wire:"default"`
	MatchedPaths     []string               `json:"matched_paths" wire:"default"`
	Reason           string                 `json:"reason"`
	Status           RerunExecutionStatus   `json:"status" wire:"default=unspecified"`
	CompletedTasks   []string               `json:"completed_tasks" wire:"default"`
	FailedTasks      []string               `json:"failed_tasks" wire:"default"`
	SkippedTasks     []string               `json:"skipped_tasks" wire:"default"`
	CreatedAt        uint64                 `json:"created_at"`
	UpdatedAt        uint64                 `json:"updated_at"`
}

// PrLifecycleState is the state of the pull request of a plan (docs/monarchic.md#types).
// UpdatedAt is Unix milliseconds.
type PrLifecycleState struct {
	StateID             string                `json:"state_id"`
	PlanID              string                `json:"plan_id"`
	PrNumber            *uint64               `json:"pr_number" wire:"omit"`
	PrURL               *string               `json:"pr_url" wire:"omit"`
	ReviewDecision      *ReviewDecision       `json:"review_decision" wire:"omit"`
	RerunScope          *RerunScope           `json:"rerun_scope" wire:"omit"`
	RerunResult         *RerunExecutionResult `json:"rerun_result" wire:"omit"`
	VerificationReceipt *VerificationReceipt  `json:"verification_receipt" wire:"omit"`
	MergeReady          bool                  `json:"merge_ready"`
	ReleaseReady        bool                  `json:"release_ready"`
	BlockedOutcomes     []BlockedOutcome      `json:"blocked_outcomes" wire:"default"`
	UpdatedAt           uint64                `json:"updated_at"`
}

// RunEventRecord is one row of the event log of a run (docs/monarchic.md#types). Absent
// step_id, task_id and message are written as null. RecordedAt is Unix
// milliseconds.
type RunEventRecord struct {
	ContractVersion string         `json:"contract_version" wire:"default=v1"`
	EventID         string         `json:"event_id"`
	RunID           string         `json:"run_id"`
	PlanID          string         `json:"plan_id"`
	Sequence        uint64         `json:"sequence"`
	Stream          RunEventStream `json:"stream"`
	RecordedAt      uint64         `json:"recorded_at"`
	StepID          *string        `json:"step_id" wire:"null"`
	TaskID          *string        `json:"task_id" wire:"null"`
	EventType       string         `json:"event_type"`
	Status          string         `json:"status"`
	Message         *string        `json:"message" wire:"null"`
	ArtifactIDs     []string       `json:"artifact_ids" wire:"default"`
}

// Check checks the row against the rules of docs/monarchic.md#types.
func (r *RunEventRecord) Check(tell report) {
	notEmpty(tell, "run event record", "contract_version", r.ContractVersion, "event_id", r.EventID,
		"run_id", r.RunID, "plan_id", r.PlanID, "event_type", r.EventType, "status", r.Status)
}
