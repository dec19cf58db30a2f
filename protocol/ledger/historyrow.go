// Rows of history.jsonl as an acceptance and a reissue write them (docs/spec/state.md#history,
// docs/spec/lifecycle.md#accepting-a-turn).

package ledger

import (
	"cmp"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// HistoryEntry has the facts of an accepted turn's row.
type HistoryEntry struct {
	Turn             *run.Turn
	RunID            string
	Phase            string // at acceptance, before any advance
	Result           *result.Result
	FilesChanged     []string      // effective declared files
	Verification     *ojson.Object // normalised: {status, reason, reproducible}
	Observed         *ojson.Object // observed_artifact, docs/spec/observation.md
	AcceptedSequence int
	AcceptedAt       time.Time
	Replay           *ojson.Object   // verification_replay, nil when nothing was replayed
	ForwardRevision  *ojson.Object   // nil when none
	Conflict         *ojson.Object   // conflict_resolution, nil when none
	Overruled        []*ojson.Object // {on, said, by, reason, at} of people who took the turn as it is
	IdleExpansion    *ojson.Object   // idle_expansion_result_summary, nil when none
}

// BuildHistoryEntry returns the row in the member order of the reference. It omits phase_transition_request when
// the request was stripped.
func BuildHistoryEntry(e HistoryEntry) *ojson.Object {
	t, r := e.Turn, e.Result
	raw := func(key string, fallback any) any {
		if v, ok := r.Raw.Get(key); ok && v != nil {
			return ojson.CloneValue(v)
		}
		return fallback
	}
	o := ojson.NewObject(
		"turn_id", t.TurnID,
		"run_id", e.RunID,
		"role", t.AssignedRole,
		"phase", e.Phase,
		"runtime_id", t.RuntimeID,
		"status", r.Status,
		"summary", r.Summary,
		"decisions", raw("decisions", []any{}),
		"objections", raw("objections", []any{}),
		"files_changed", wire.NonNil(e.FilesChanged),
		"artifacts_created", raw("artifacts_created", []any{}),
		"verification", raw("verification", ojson.NewObject()),
		"normalized_verification", e.Verification,
	)
	set := func(key string, v *ojson.Object) {
		if v != nil {
			o.Set(key, v)
		}
	}
	set("verification_replay", e.Replay)
	o.Set("artifact", raw("artifact", ojson.NewObject()))
	o.Set("intent_id", ojson.OrNull(t.IntakeContext.String("intent_id")))
	o.Set("observed_artifact", e.Observed)
	o.Set("proposed_next_role", raw("proposed_next_role", nil))
	if v, ok := r.Raw.Get("phase_transition_request"); ok && (v == nil || r.PhaseTransitionRequest != nil) {
		o.Set("phase_transition_request", r.PhaseTransitionRequest)
	} else if r.PhaseTransitionRequest != nil {
		o.Set("phase_transition_request", *r.PhaseTransitionRequest)
	}
	o.Set("run_completion_request", r.RunCompletionRequest)
	o.Set("assigned_sequence", t.AssignedSequence)
	o.Set("accepted_sequence", e.AcceptedSequence)
	o.Set("concurrent_with", wire.NonNil(t.ConcurrentWith))
	o.Set("cost", raw("cost", ojson.NewObject()))
	o.Set("accepted_at", wire.FormatTime(e.AcceptedAt))
	if t.StartedAt != "" {
		o.Set("started_at", t.StartedAt)
		if ms, ok := wire.DurationMS(t.StartedAt, wire.FormatTime(e.AcceptedAt)); ok {
			o.Set("duration_ms", ms)
		}
	}
	set("forward_revision", e.ForwardRevision)
	set("conflict_resolution", e.Conflict)
	if len(e.Overruled) > 0 {
		o.Set("overruled", e.Overruled)
	}
	if len(r.Delegations) > 0 {
		issued := ojson.List(r.Delegations, func(d result.DelegationRequest) *ojson.Object {
			return ojson.NewObject("id", d.ID, "to_role", d.ToRole, "charter", d.Charter,
				"acceptance_contract", wire.NonNil(d.AcceptanceContract),
				"required_decision_ids", wire.NonNil(d.RequiredDecisionIDs))
		})
		o.Set("delegations_issued", issued)
	}
	set("delegation_context", t.DelegationContext.Clone())
	set("delegation_review", t.DelegationReview.Clone())
	set("idle_expansion_result_summary", e.IdleExpansion)
	if id := t.CharterID(); id != "" {
		o.Set("charter_id", id)
	}
	return o
}

// BuildReissuedEntry returns the row of a turn that was given up for a new one;
// it has no accepted_sequence (docs/spec/lifecycle.md#reissuing-a-turn).
func BuildReissuedEntry(old *run.Turn, runID, phase, reason string, at time.Time) *ojson.Object {
	now := wire.FormatTime(at)
	o := ojson.NewObject("turn_id", old.TurnID, "run_id", runID, "role", old.AssignedRole, "phase", phase,
		"status", run.HistoryReissued, "summary", "Turn reissued: "+reason, "files_changed", []string{},
		"assigned_sequence", old.AssignedSequence, "accepted_at", now)
	ms, _ := wire.DurationMS(cmp.Or(old.StartedAt, old.AssignedAt), now)
	o.Set("duration_ms", ms)
	o.Set("reissue_reason", reason)
	return o
}
