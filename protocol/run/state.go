// State is the governed run state, state.json schema 1.1 (docs/spec/state.md#the-state).

package run

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// State is .agentxchain/state.json. Members it does not name survive in Extra.
// Times are RFC 3339 UTC with milliseconds, kept as written.
type State struct {
	SchemaVersion  string      `json:"schema_version"`
	RunID          *string     `json:"run_id"`
	ProjectID      string      `json:"project_id"`
	Status         wire.Status `json:"status"`
	Phase          string      `json:"phase"`
	CreatedAt      *string     `json:"created_at,omitempty"`
	PhaseEnteredAt *string     `json:"phase_entered_at,omitempty"`
	// a member of ours: the phase's time limit runs from here
	PhaseClockAt           *string                  `json:"phase_clock_at,omitempty"`
	CompletedAt            *string                  `json:"completed_at,omitempty"`
	AcceptedIntegrationRef *string                  `json:"accepted_integration_ref"`
	ActiveTurns            ojson.Map[*Turn]         `json:"active_turns"`
	TurnSequence           int                      `json:"turn_sequence"`
	LastCompletedTurnID    *string                  `json:"last_completed_turn_id"`
	LastCompletedTurn      *ojson.Object            `json:"last_completed_turn,omitempty"`
	BlockedOn              *string                  `json:"blocked_on"`
	BlockedReason          *BlockedReason           `json:"blocked_reason"`
	Escalation             *ojson.Object            `json:"escalation"`
	PendingPhaseTransition *PendingTransition       `json:"pending_phase_transition,omitempty"`
	PendingRunCompletion   *PendingCompletion       `json:"pending_run_completion,omitempty"`
	QueuedPhaseTransition  *QueuedTransition        `json:"queued_phase_transition"`
	QueuedRunCompletion    *QueuedCompletion        `json:"queued_run_completion"`
	LastGateFailure        *GateFailure             `json:"last_gate_failure"`
	PhaseGateStatus        ojson.Map[string]        `json:"phase_gate_status"`
	BudgetReservations     ojson.Map[*ojson.Object] `json:"budget_reservations"`
	BudgetStatus           BudgetStatus             `json:"budget_status"`
	DelegationQueue        []*Delegation            `json:"delegation_queue,omitempty"`
	PendingDelegation      *DelegationReview        `json:"pending_delegation_review,omitempty"`
	CharterQueue           []*Charter               `json:"charter_queue,omitempty"` // a member of ours, like the next
	// {plan_id, objective, …, queued_at}
	CharterPlans []*ojson.Object `json:"charter_plans,omitempty"`
	// {source, category, document}: waiting or worked on; also ours
	Intents              []*ojson.Object `json:"intents,omitempty"`
	NextRecommendedRole  *string         `json:"next_recommended_role,omitempty"`
	Provenance           *ojson.Object   `json:"provenance,omitempty"`
	InheritedContext     *ojson.Object   `json:"inherited_context,omitempty"`
	RepoDecisions        []*ojson.Object `json:"repo_decisions,omitempty"`
	NonProgressSignature *string         `json:"non_progress_signature,omitempty"`
	NonProgressCount     int             `json:"non_progress_count,omitempty"`
	Abandoned            *Abandonment    `json:"abandoned,omitempty"` // a member of ours, like the next
	LastApproval         *LastApproval   `json:"last_approval,omitempty"`

	// Members of ours (docs/spec/state.md#documents-and-approvals). AuthorityBase is the commit whose signers
	// count: HEAD when the run began.
	AuthorityBase *string                  `json:"authority_base,omitempty"`
	GateDocuments ojson.Map[*DocumentMark] `json:"gate_documents,omitempty"` // by path
	GateVotes     []*Vote                  `json:"gate_votes,omitempty"`     // for the gate that waits
	SpentNonces   []string                 `json:"spent_nonces,omitempty"`   // of statements this run has used
	// what people took as it is, until the turn or gate is over
	Overruled []*Overrule `json:"overruled,omitempty"`

	Extra ojson.Extra
}

// Turn is one entry of active_turns (docs/spec/state.md#a-turn). Optional members are
// absent when empty.
type Turn struct {
	TurnID            string        `json:"turn_id"`
	RunID             string        `json:"run_id,omitempty"`
	AssignedRole      string        `json:"assigned_role"`
	Status            string        `json:"status"`
	Attempt           int           `json:"attempt"`
	AssignedAt        string        `json:"assigned_at,omitempty"`
	StartedAt         string        `json:"started_at,omitempty"`
	DeadlineAt        string        `json:"deadline_at,omitempty"`
	RuntimeID         string        `json:"runtime_id"`
	Baseline          *Baseline     `json:"baseline,omitempty"`
	AssignedSequence  int           `json:"assigned_sequence"`
	ConcurrentWith    []string      `json:"concurrent_with"`
	DispatchedAt      string        `json:"dispatched_at,omitempty"`
	IntakeContext     *ojson.Object `json:"intake_context,omitempty"`
	DelegationContext *ojson.Object `json:"delegation_context,omitempty"`
	DelegationReview  *ojson.Object `json:"delegation_review,omitempty"`
	LastRejection     *ojson.Object `json:"last_rejection,omitempty"`
	ConflictState     *ojson.Object `json:"conflict_state,omitempty"`
	ConflictContext   *ojson.Object `json:"conflict_context,omitempty"`
	FailedAt          string        `json:"failed_at,omitempty"`
	FailureReason     string        `json:"failure_reason,omitempty"`
	ReissuedFrom      string        `json:"reissued_from,omitempty"`
	// changed by earlier attempts and part of this attempt's baseline; a member of ours
	Carried []string `json:"carried_changes,omitempty"`
	Extra   ojson.Extra
}

// Dispatch moves the turn to dispatched (docs/spec/lifecycle.md#the-life-of-a-dispatch) and clears what was seen of
// an agent's work, which belongs to an earlier dispatch.
func (t *Turn) Dispatch(now string) {
	t.Status = wire.TurnDispatched
	t.DispatchedAt = now
	t.StartedAt = ""
	for _, k := range []string{"worker_attached_at", "worker_pid", "first_output_at", "first_output_stream"} {
		t.Extra.Delete(k)
	}
}

// Dispatching reports whether the turn's dispatch is, or may be, in progress.
func (t *Turn) Dispatching() bool {
	return slices.Contains([]string{wire.TurnAssigned, wire.TurnDispatched, wire.TurnStarting, wire.TurnRunning,
		wire.TurnRetrying}, t.Status)
}

// Baseline is the work tree as it was when the turn was assigned (docs/spec/observation.md#baseline).
type Baseline struct {
	Kind          string            `json:"kind"` // git_worktree, no_git
	HeadRef       *string           `json:"head_ref"`
	Clean         bool              `json:"clean"`
	CapturedAt    string            `json:"captured_at"`
	DirtySnapshot ojson.Map[string] `json:"dirty_snapshot"` // path -> sha256:<hex>, deleted, unreadable
	// IgnoreRules digests the rules outside the project's own files that hid untracked files: sha256:<hex>, "none".
	// "" where hidden files were not looked for.
	IgnoreRules string `json:"ignore_rules,omitempty"`
	Extra       ojson.Extra
}

// BlockedReason says why a run is blocked and who can resolve it (docs/spec/state.md#what-blocks-a-run).
type BlockedReason struct {
	Category  string   `json:"category"`
	Recovery  Recovery `json:"recovery"`
	BlockedAt string   `json:"blocked_at"`
	TurnID    *string  `json:"turn_id"`
	Extra     ojson.Extra
}

// Recovery is the way out of a block.
type Recovery struct {
	TypedReason    string  `json:"typed_reason"`
	Owner          string  `json:"owner"` // human, operator
	RecoveryAction string  `json:"recovery_action"`
	TurnRetained   bool    `json:"turn_retained"`
	Detail         *string `json:"detail"`
	Extra          ojson.Extra
}

// PendingTransition is a phase change that waits for a person.
type PendingTransition struct {
	From            string `json:"from"`
	To              string `json:"to"`
	Gate            string `json:"gate"`
	RequestedByTurn string `json:"requested_by_turn,omitempty"`
	RequestedAt     string `json:"requested_at,omitempty"`
	Extra           ojson.Extra
}

// PendingCompletion is a run completion that waits for a person.
type PendingCompletion struct {
	Gate            string `json:"gate"`
	RequestedByTurn string `json:"requested_by_turn,omitempty"`
	RequestedAt     string `json:"requested_at,omitempty"`
	Extra           ojson.Extra
}

// QueuedTransition is a request parked until the last sibling turn is accepted.
type QueuedTransition struct {
	From            string `json:"from"`
	To              string `json:"to"`
	RequestedByTurn string `json:"requested_by_turn"`
	RequestedAt     string `json:"requested_at"`
	Extra           ojson.Extra
}

// QueuedCompletion is a completion request parked like QueuedTransition.
type QueuedCompletion struct {
	RequestedByTurn string `json:"requested_by_turn"`
	RequestedAt     string `json:"requested_at"`
	Extra           ojson.Extra
}

// GateFailure records the last failed gate (docs/spec/state.md#gate-failure).
type GateFailure struct {
	GateType            string   `json:"gate_type"` // phase_transition, run_completion
	GateID              *string  `json:"gate_id"`
	Phase               string   `json:"phase"`
	FromPhase           *string  `json:"from_phase"`
	ToPhase             *string  `json:"to_phase"`
	RequestedByTurn     *string  `json:"requested_by_turn"`
	FailedAt            string   `json:"failed_at"`
	QueuedRequest       bool     `json:"queued_request"`
	Reasons             []string `json:"reasons"`
	MissingFiles        []string `json:"missing_files"`
	MissingVerification bool     `json:"missing_verification"`
	Extra               ojson.Extra
}

// BudgetStatus is what the run has spent; amounts in US dollars.
type BudgetStatus struct {
	SpentUSD     float64  `json:"spent_usd"`
	RemainingUSD *float64 `json:"remaining_usd"` // null: no limit
	Extra        ojson.Extra
}

// Delegation is one entry of delegation_queue (docs/spec/state.md#delegation).
type Delegation struct {
	DelegationID        string   `json:"delegation_id"`
	ParentTurnID        string   `json:"parent_turn_id"`
	ParentRole          string   `json:"parent_role"`
	ToRole              string   `json:"to_role"`
	Charter             string   `json:"charter"`
	AcceptanceContract  []string `json:"acceptance_contract"`
	RequiredDecisionIDs []string `json:"required_decision_ids"`
	Status              string   `json:"status"` // pending, active, completed, failed
	ChildTurnID         *string  `json:"child_turn_id"`
	CreatedAt           string   `json:"created_at"`
	Extra               ojson.Extra
}

// DelegationReview is the parent's duty once all its delegations have ended.
type DelegationReview struct {
	ParentTurnID string          `json:"parent_turn_id"`
	ParentRole   string          `json:"parent_role"`
	Results      []*ojson.Object `json:"delegation_results"`
	Extra        ojson.Extra
}

// Encode returns the bytes of state.json.
func (s *State) Encode() []byte { return ojson.Pretty(ojson.Marshal(s)) }

// Run returns the run id, or "" before the run starts.
func (s *State) Run() string {
	if s.RunID == nil {
		return ""
	}
	return *s.RunID
}

// OnlyTurn returns the single active turn, or nil when there are none or several.
func (s *State) OnlyTurn() *Turn {
	if s.ActiveTurns.Len() != 1 {
		return nil
	}
	return s.ActiveTurns.Value(s.ActiveTurns.Keys()[0])
}
