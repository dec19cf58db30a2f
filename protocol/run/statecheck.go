// What a state must be before the engine works on it or writes it
// (docs/spec/state.md#reading-an-older-or-foreign-state).

package run

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CheckState returns everything that is wrong with a repaired state; nothing means valid. Problems have the code
// invalid_state and the path of the member. A "blocked" state before any run, without run and turns, passes: a new
// run may start from it (docs/spec/lifecycle.md#starting-a-run).
func CheckState(s *State) wire.Problems {
	c := &stateCheck{}
	c.identity(s)
	for id, t := range s.ActiveTurns.All() {
		c.turn(id, t)
	}
	if s.TurnSequence < 0 {
		c.add("turn_sequence", "must not be negative")
	}
	c.block(s)
	c.pending(s)
	c.gateFailure(s.LastGateFailure)
	if b := s.BudgetStatus; b.SpentUSD < 0 || math.IsNaN(b.SpentUSD) || math.IsInf(b.SpentUSD, 0) {
		c.add("budget_status.spent_usd", "must be an amount of zero or more")
	}
	for i, d := range s.DelegationQueue {
		c.delegation(i, d)
	}
	c.charters(s.CharterQueue)
	return c.problems
}

type stateCheck struct{ problems wire.Problems }

func (c *stateCheck) add(field, what string) {
	c.problems = addStateProblem(c.problems, field, field+" "+what)
}

func (c *stateCheck) text(field, v string) {
	if strings.TrimSpace(v) == "" {
		c.add(field, "must be a non-empty string")
	}
}

func (c *stateCheck) identity(s *State) {
	if s.SchemaVersion != StateSchema {
		c.add("schema_version", fmt.Sprintf("must be %q, not %.40q", StateSchema, s.SchemaVersion))
	}
	if s.RunID != nil {
		c.text("run_id", *s.RunID)
	} else if s.ActiveTurns.Len() > 0 || s.Status != wire.StatusIdle && s.Status != wire.StatusBlocked {
		c.add("run_id", "may be null only before the run starts")
	}
	c.text("project_id", s.ProjectID)
	c.text("phase", s.Phase)
	if !slices.Contains(allStatuses(), s.Status) {
		c.add("status", fmt.Sprintf("must be one of idle, active, paused, blocked, completed, failed, not %.40q",
			string(s.Status)))
	}
	for _, f := range []struct {
		name string
		v    *string
	}{{"created_at", s.CreatedAt}, {"phase_entered_at", s.PhaseEnteredAt}} {
		if f.v != nil {
			c.text(f.name, *f.v)
		}
	}
	if _, ok := s.Extra.Get("current_turn"); ok {
		c.add("current_turn", "belongs to version 1.0; this state has active_turns")
	}
}

func allStatuses() []wire.Status {
	return []wire.Status{wire.StatusIdle, wire.StatusActive, wire.StatusPaused, wire.StatusBlocked,
		wire.StatusCompleted, wire.StatusFailed}
}

func (c *stateCheck) turn(id string, t *Turn) {
	at := "active_turns." + id
	if strings.TrimSpace(id) == "" {
		c.add("active_turns", "has an entry without a name")
	}
	if t == nil {
		c.add(at, "must be an object")
		return
	}
	c.text(at+".turn_id", t.TurnID)
	if t.TurnID != "" && t.TurnID != id {
		c.add(at+".turn_id", fmt.Sprintf("is %.80q; it must be the name of its entry", t.TurnID))
	}
	c.text(at+".assigned_role", t.AssignedRole)
	c.text(at+".status", t.Status)
	c.text(at+".runtime_id", t.RuntimeID)
	if t.Attempt < 1 {
		c.add(at+".attempt", "must be an integer of 1 or more")
	}
	if t.AssignedSequence < 1 {
		c.add(at+".assigned_sequence", "must be an integer of 1 or more")
	}
}

func (c *stateCheck) block(s *State) {
	switch {
	case s.Status == wire.StatusBlocked:
		c.text("blocked_on", wire.OrEmpty(s.BlockedOn))
		r := s.BlockedReason
		if r == nil {
			c.add("blocked_reason", "must say why the run is blocked")
			return
		}
		c.text("blocked_reason.category", r.Category)
		c.text("blocked_reason.blocked_at", r.BlockedAt)
		c.text("blocked_reason.recovery.typed_reason", r.Recovery.TypedReason)
		c.text("blocked_reason.recovery.owner", r.Recovery.Owner)
		c.text("blocked_reason.recovery.recovery_action", r.Recovery.RecoveryAction)
	case s.BlockedReason != nil:
		c.add("blocked_reason", fmt.Sprintf("must be null while the run is %s", s.Status))
	}
	if s.Status == wire.StatusActive && wire.OrEmpty(s.BlockedOn) != "" {
		c.add("blocked_on", "must be null while the run is active")
	}
}

func (c *stateCheck) pending(s *State) {
	if s.Status == wire.StatusPaused && !HasPending(s) {
		c.add("status",
			"is paused, but neither pending_phase_transition nor pending_run_completion waits for approval")
	}
	if p := s.PendingPhaseTransition; p != nil {
		c.text("pending_phase_transition.to", p.To)
		c.text("pending_phase_transition.gate", p.Gate)
	}
	if p := s.PendingRunCompletion; p != nil {
		c.text("pending_run_completion.gate", p.Gate)
	}
	if q := s.QueuedPhaseTransition; q != nil {
		c.text("queued_phase_transition.to", q.To)
	}
}

func (c *stateCheck) gateFailure(f *GateFailure) {
	if f == nil {
		return
	}
	if f.GateType != GatePhase && f.GateType != GateCompletion {
		c.add("last_gate_failure.gate_type", "must be phase_transition or run_completion")
	}
	c.text("last_gate_failure.phase", f.Phase)
	c.text("last_gate_failure.failed_at", f.FailedAt)
}

func (c *stateCheck) charters(queue []*Charter) {
	seen := make(map[string]bool, len(queue))
	for i, q := range queue {
		at := fmt.Sprintf("charter_queue[%d]", i)
		if q == nil {
			c.add(at, "must be an object")
			continue
		}
		if !wire.SafeID(q.CharterID) || seen[q.CharterID] {
			c.add(at+".charter_id", "must be a name of its own without / and \\")
		}
		seen[q.CharterID] = true
		c.text(at+".phase", q.Phase)
		c.text(at+".role", q.Role)
		c.text(at+".charter", q.Charter)
		if q.Status != CharterPending && q.Status != CharterCompleted {
			c.add(at+".status", fmt.Sprintf("must be pending or completed, not %.40q", q.Status))
		}
	}
}

func (c *stateCheck) delegation(i int, d *Delegation) {
	at := fmt.Sprintf("delegation_queue[%d]", i)
	if d == nil {
		c.add(at, "must be an object")
		return
	}
	c.text(at+".delegation_id", d.DelegationID)
	c.text(at+".parent_turn_id", d.ParentTurnID)
	c.text(at+".to_role", d.ToRole)
	switch d.Status {
	case "pending", "active", "completed", "failed":
	default:
		c.add(at+".status", fmt.Sprintf("must be pending, active, completed or failed, not %.40q", d.Status))
	}
}
