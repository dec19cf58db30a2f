// Durable authority: who holds which step, and how a run recovers (docs/leases.md).

package strict

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// FencingToken is proof of ownership; its value changes with the owner.
type FencingToken struct {
	Token      string        `json:"token"`
	IssuedAtMs uint64        `json:"issued_at_ms"`
	Issuer     string        `json:"issuer"`
	Scope      string        `json:"scope"`
	Extensions *ojson.Object `json:"extensions" wire:"empty"`
}

// Lease is the right of one runner session to work on one step until a time.
type Lease struct {
	LeaseID      string              `json:"lease_id"`
	RunID        string              `json:"run_id"`
	PlanID       string              `json:"plan_id"`
	StepID       string              `json:"step_id"`
	TaskID       string              `json:"task_id"`
	RunnerID     string              `json:"runner_id"`
	SessionID    string              `json:"session_id"`
	FencingToken FencingToken        `json:"fencing_token"`
	IssuedAtMs   uint64              `json:"issued_at_ms"`
	ExpiresAtMs  uint64              `json:"expires_at_ms"`
	Status       LeaseLifecycleState `json:"status"`
	Extensions   *ojson.Object       `json:"extensions" wire:"empty"`
}

// RecoveryEvent is one row of the recovery log of a run. Absent enum members are "".
type RecoveryEvent struct {
	EventID              string               `json:"event_id"`
	RunID                string               `json:"run_id"`
	PlanID               string               `json:"plan_id"`
	StepID               *string              `json:"step_id" wire:"omit"`
	Kind                 RecoveryEventKind    `json:"kind"`
	OccurredAtMs         uint64               `json:"occurred_at_ms"`
	Actor                string               `json:"actor"`
	Details              *ojson.Object        `json:"details"`
	ContractVersion      string               `json:"contract_version"`
	RunState             RunLifecycleState    `json:"run_state" wire:"omit"`
	StepState            StepLifecycleState   `json:"step_state" wire:"omit"`
	LeaseRejectionReason LeaseRejectionReason `json:"lease_rejection_reason" wire:"omit"`
	Extensions           *ojson.Object        `json:"extensions" wire:"empty"`
}

// ManualOverrideRecord is a person's act against the rules of a run (docs/monarchic.md).
// Times are Unix milliseconds.
type ManualOverrideRecord struct {
	ContractVersion      string         `json:"contract_version" wire:"default=v1"`
	OverrideID           string         `json:"override_id"`
	RunID                string         `json:"run_id"`
	PlanID               string         `json:"plan_id"`
	StepID               *string        `json:"step_id" wire:"omit"`
	TaskID               *string        `json:"task_id" wire:"omit"`
	Action               OverrideAction `json:"action"`
	Actor                string         `json:"actor"`
	Reason               string         `json:"reason"`
	SourceDecisionID     *string        `json:"source_decision_id" wire:"omit"`
	AffectedArtifactIDs  []string       `json:"affected_artifact_ids" wire:"default"`
	SupersedesOverrideID *string        `json:"supersedes_override_id" wire:"omit"`
	CreatedAtMs          uint64         `json:"created_at_ms"`
	ExpiresAtMs          *uint64        `json:"expires_at_ms" wire:"omit"`
	Extensions           *ojson.Object  `json:"extensions" wire:"empty"`
}

// Check checks the record against the rules of docs/leases.md.
func (r *ManualOverrideRecord) Check(tell report) {
	notEmpty(tell, "manual override", "contract_version", r.ContractVersion, "override_id", r.OverrideID,
		"run_id", r.RunID, "plan_id", r.PlanID, "actor", r.Actor, "reason", r.Reason)
	optional := func(member string, v *string) {
		if v != nil && blank(*v) {
			tell(member, wire.RuleEmpty, "manual override "+member+" must not be empty when present")
		}
	}
	optional("step_id", r.StepID)
	optional("task_id", r.TaskID)
	optional("source_decision_id", r.SourceDecisionID)
	optional("supersedes_override_id", r.SupersedesOverrideID)
	if r.Action == "unspecified" {
		tell("action", wire.RuleEnum, "manual override action must not be unspecified")
	}
	if r.ExpiresAtMs != nil && *r.ExpiresAtMs <= r.CreatedAtMs {
		tell("expires_at_ms", wire.RuleState, "manual override expires_at_ms must be greater than created_at_ms")
	}
}
