// Completing the parts of a run state that fixtures omit (docs/conformance.md#becoming-a-target).

package conformance

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// stateDefaults returns the members of every completed state, in order.
func stateDefaults(projectID string) *ojson.Object {
	return ojson.NewObject(
		"schema_version", run.StateSchema, "run_id", nil, "project_id", projectID,
		"status", string(wire.StatusIdle), "phase", "planning", "accepted_integration_ref", nil,
		"active_turns", ojson.NewObject(), "pending_phase_transition", nil, "pending_run_completion", nil,
		"blocked_on", nil, "blocked_reason", nil, "escalation", nil, "last_gate_failure", nil,
		"accepted_sequence", 0, "turn_sequence", 0,
		"budget_reservations", ojson.NewObject(), "phase_gate_status", ojson.NewObject(),
	)
}

// engineMembers returns further members of a fixture's state that the engine uses. Members in neither list are
// dropped: fixtures keep notes there.
func engineMembers() []string {
	return []string{
		"created_at", "phase_entered_at", "completed_at", "last_completed_turn_id", "last_completed_turn",
		"queued_phase_transition", "queued_run_completion", "budget_status", "delegation_queue",
		"pending_delegation_review", "next_recommended_role", "provenance", "inherited_context", "repo_decisions",
		"non_progress_signature", "non_progress_count",
	}
}

// inflateState returns the state that a fixture describes: the defaults of docs/conformance.md §4.2 under its own
// members, then the engine's own load-time repair. nil and null mean the idle state.
func inflateState(v ojson.Value, cfg *config.Config) (*run.State, error) {
	if v == nil {
		v = ojson.NewObject()
	}
	raw, ok := v.(*ojson.Object)
	if !ok {
		return nil, fmt.Errorf("must be an object, not %s", ojson.TypeName(v))
	}
	o := stateDefaults(cfg.Project.ID)
	for _, k := range o.Keys() {
		// The schema is always the one that the engine writes.
		if have, _ := raw.Get(k); have != nil && k != "schema_version" {
			o.Set(k, ojson.CloneValue(have))
		}
	}
	for _, k := range engineMembers() {
		if have, has := raw.Get(k); has {
			o.Set(k, ojson.CloneValue(have))
		}
	}
	turns := o.Object("active_turns")
	if turns == nil {
		return nil, fmt.Errorf("active_turns must be an object, not %s", ojson.TypeName(o.Value("active_turns")))
	}
	for id, v := range turns.All() {
		t, ok := v.(*ojson.Object)
		if !ok {
			return nil, fmt.Errorf("active_turns.%s must be an object, not %s", text.Clip(id, 80), ojson.TypeName(v))
		}
		inflateTurn(id, t, cfg)
	}
	s, problems := run.DecodeStateObject(o)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s", problems.Join())
	}
	s, _ = run.RepairState(s, cfg)
	return s, nil
}

func inflateTurn(id string, t *ojson.Object, cfg *config.Config) {
	fill(t, "turn_id", id)
	role := t.String("role")
	if role == "" {
		role = "dev"
	}
	fill(t, "assigned_role", role)
	runtime := defaultRuntime
	if r := cfg.Role(t.String("assigned_role")); r != nil && r.RuntimeID != "" {
		runtime = r.RuntimeID
	}
	fill(t, "runtime_id", runtime)
	fill(t, "status", wire.TurnRunning)
	fill(t, "attempt", 1)
	fill(t, "assigned_sequence", 1)
}

// stateView returns the state for fixtures. The engine omits what does not wait; a fixture asserts that with null.
func stateView(s *run.State) *ojson.Object {
	o := ojson.Marshal(s).Clone()
	fill(o, "pending_phase_transition", nil)
	fill(o, "pending_run_completion", nil)
	return o
}
