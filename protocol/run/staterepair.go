// Repair of a state at load time, in memory only: it fixes what older versions and known faults of other
// implementations leave behind (docs/spec/state.md#reading-an-older-or-foreign-state rows 3, 8, 23).

package run

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RepairState returns a repaired copy of s and one note per repair. It writes nothing: a reader shows the repaired
// state, and the next operation of the engine records it. Steps in order: version 1.0 shape, status and blocker,
// missing block descriptor, approval pause, budget, recovery texts. cfg may be nil; repairs that need it are then
// skipped. Applying it twice changes nothing more.
func RepairState(s *State, cfg *config.Config) (repaired *State, notes []string) {
	r := &stateRepair{s: s.Clone(), cfg: cfg}
	r.shape()
	r.pausedOrBlocked()
	r.approvalPause()
	r.blocker()
	r.budget()
	r.recovery()
	return r.s, r.notes
}

type stateRepair struct {
	s     *State
	cfg   *config.Config
	notes []string
}

func (r *stateRepair) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// shape brings a version 1.0 state to 1.1: the single current_turn becomes an
// entry of active_turns, missing counters get their first value.
func (r *stateRepair) shape() {
	s := r.s
	if s.SchemaVersion == "" || s.SchemaVersion == "1.0" {
		r.note("schema_version %q read as %s", s.SchemaVersion, StateSchema)
		s.SchemaVersion = StateSchema
	}
	if v, ok := s.Extra.Get("current_turn"); ok && s.SchemaVersion == StateSchema {
		r.currentTurn(v)
	}
	for _, id := range s.ActiveTurns.Keys() {
		if t, _ := s.ActiveTurns.Get(id); t.AssignedSequence == 0 {
			t.AssignedSequence = 1
			r.note("active_turns.%s.assigned_sequence was missing", Clip(id, 80))
		}
	}
	for _, gate := range s.PhaseGateStatus.Keys() {
		if v, _ := s.PhaseGateStatus.Get(gate); v == "" {
			s.PhaseGateStatus.Set(gate, wire.GatePending)
			r.note("phase_gate_status.%s was empty", Clip(gate, 80))
		}
	}
	r.delegations()
}

// delegations finds the turn of a delegation at work again: the reference gives a reissued turn a new id without
// updating the queue, and a phase cleanup drops turns. Without this, the parent's review would never open.
func (r *stateRepair) delegations() {
	s := r.s
	for _, d := range s.DelegationQueue {
		if d.Status != "active" || s.ActiveTurns.Has(wire.OrEmpty(d.ChildTurnID)) {
			continue
		}
		d.Status, d.ChildTurnID = "pending", nil
		for id, t := range s.ActiveTurns.All() {
			if c := t.DelegationContext; c.String("delegation_id") == d.DelegationID &&
				c.String("parent_turn_id") == d.ParentTurnID {
				d.Status, d.ChildTurnID = "active", new(id)
				break
			}
		}
		r.note("delegation %s pointed at a turn that is not active; it is %s", Clip(d.DelegationID, 80), d.Status)
	}
}

func (r *stateRepair) currentTurn(v ojson.Value) {
	s := r.s
	if v == nil {
		s.Extra.Delete("current_turn")
		return
	}
	o, ok := v.(*ojson.Object)
	id := o.String("turn_id")
	if !ok || id == "" {
		return // not understood: CheckState refuses it
	}
	if !s.ActiveTurns.Has(id) {
		t := &Turn{}
		if errs := ojson.Unmarshal(o.Clone(), t); len(errs) > 0 {
			return
		}
		if t.AssignedSequence == 0 {
			t.AssignedSequence = 1
		}
		s.ActiveTurns.Set(id, t)
	}
	s.TurnSequence = max(s.TurnSequence, 1)
	s.Extra.Delete("current_turn")
	r.note("current_turn moved into active_turns")
}

// pausedOrBlocked distinguishes a pause, which waits for an approval, from a block.
func (r *stateRepair) pausedOrBlocked() {
	s := r.s
	if s.BlockedOn != nil && wire.TrimSpace(*s.BlockedOn) == "" {
		s.BlockedOn = nil
		r.note("an empty blocked_on read as null")
	}
	on := wire.OrEmpty(s.BlockedOn)
	if s.Status == wire.StatusPaused && !HasPending(s) && on != "" && !strings.HasPrefix(on, "human_approval:") {
		s.Status = wire.StatusBlocked
		r.note("the run is blocked on %s, not paused", Clip(on, 120))
	}
	if s.Status != wire.StatusBlocked && s.BlockedReason != nil {
		s.BlockedReason = nil
		r.note("blocked_reason dropped: the run is %s", s.Status)
	}
}

// approvalPause makes status, blocker and pending object agree while a gate
// waits for a person. A run blocked for a specific reason stays blocked for it
// (docs/compatibility.md#where-we-differ-on-purpose row 8).
func (r *stateRepair) approvalPause() {
	s := r.s
	switch s.Status {
	case wire.StatusActive, wire.StatusPaused, wire.StatusBlocked:
	default:
		return
	}
	on := wire.OrEmpty(s.BlockedOn)
	atGate := strings.HasPrefix(on, "human_approval:")
	gate := strings.TrimPrefix(on, "human_approval:")
	if !HasPending(s) && atGate && s.Status != wire.StatusActive && s.ActiveTurns.Len() == 0 && r.isExitGate(gate) {
		turn := wire.OrEmpty(s.LastCompletedTurnID)
		if next := r.cfg.NextPhase(s.Phase); next != "" {
			s.PendingPhaseTransition = &PendingTransition{From: s.Phase, To: next, Gate: gate, RequestedByTurn: turn}
			r.note("pending_phase_transition derived from the pause at gate %s", gate)
		} else {
			s.PendingRunCompletion = &PendingCompletion{Gate: gate, RequestedByTurn: turn}
			r.note("pending_run_completion derived from the pause at gate %s", gate)
		}
	}
	if !HasPending(s) {
		return
	}
	if s.PendingRunCompletion != nil {
		gate = s.PendingRunCompletion.Gate
	} else {
		gate = s.PendingPhaseTransition.Gate
	}
	if gate == "" {
		return // CheckState reports the missing member
	}
	switch {
	case s.Status == wire.StatusBlocked && (!atGate && (on != "" || s.BlockedReason != nil) || specificReason(s)):
		return
	case s.Status != wire.StatusPaused:
		r.note("the run is paused: gate %s waits for approval", Clip(gate, 80))
		s.Status = wire.StatusPaused
	}
	s.BlockedReason = nil
	if on == "" {
		s.BlockedOn = new("human_approval:" + gate)
		r.note("blocked_on names the gate the run is paused at")
	}
}

// specificReason reports whether a block at a gate has a cause of its own.
func specificReason(s *State) bool {
	if s.BlockedReason == nil {
		return false
	}
	switch s.BlockedReason.Recovery.TypedReason {
	case "gate_action_failed", "hook_block", "hook_tamper":
		return true
	}
	return false
}

func (r *stateRepair) isExitGate(gate string) bool {
	if r.cfg == nil || gate == "" {
		return false
	}
	route := r.cfg.Route(r.s.Phase)
	return route != nil && route.ExitGate == gate
}

// blocker completes the descriptor of a blocked run (docs/compatibility.md#where-we-differ-on-purpose rows 3 and 23).
func (r *stateRepair) blocker() {
	s := r.s
	if s.Status != wire.StatusBlocked {
		return
	}
	turn := ""
	if wire.OrEmpty(s.BlockedOn) == "" {
		var on string
		on, turn = deriveBlocker(s)
		s.BlockedOn = new(on)
		r.note("blocked_on was lost; derived %s", Clip(on, 120))
	}
	if s.BlockedReason == nil {
		b := DescribeBlock(s, *s.BlockedOn, turn)
		b.BlockedAt = lastKnownTime(s, wire.OrEmpty(b.TurnID))
		s.BlockedReason = b
		r.note("blocked_reason derived from %s", Clip(*s.BlockedOn, 120))
		return
	}
	have := s.BlockedReason
	want := DescribeBlock(s, *s.BlockedOn, wire.OrEmpty(have.TurnID))
	missing := func(dst *string, def, name string) {
		if *dst == "" {
			*dst = def
			r.note("%s was missing", name)
		}
	}
	// Another writer's own category says more than what the blocker's prefix suggests.
	typed := want.Recovery.TypedReason
	if typed == TypedUnknown && have.Category != "" {
		typed = have.Category
	}
	missing(&have.Recovery.TypedReason, typed, "blocked_reason.recovery.typed_reason")
	missing(&have.Category, have.Recovery.TypedReason, "blocked_reason.category")
	missing(&have.Recovery.Owner, want.Recovery.Owner, "blocked_reason.recovery.owner")
	missing(&have.BlockedAt, lastKnownTime(s, wire.OrEmpty(have.TurnID)), "blocked_reason.blocked_at")
	if wire.TrimSpace(have.Recovery.RecoveryAction) == "" {
		have.Recovery.RecoveryAction = RecoveryAction(have.Recovery.TypedReason, *s.BlockedOn,
			wire.OrEmpty(have.TurnID))
		r.note("blocked_reason.recovery.recovery_action was missing")
	}
}

// deriveBlocker guesses what a blocked state without blocked_on waits for: the reason it still has, its escalation,
// the turn that blocks, the budget. When nothing is left, the run stays blocked until a person looks: a lost field
// must never unblock it.
func deriveBlocker(s *State) (on, turnID string) {
	var failed *Turn
	for _, t := range s.ActiveTurns.All() {
		switch t.Status {
		case wire.TurnFailed, wire.TurnConflicted, wire.TurnFailedStart, wire.TurnStalled:
			if failed == nil || s.BlockedReason != nil && wire.OrEmpty(s.BlockedReason.TurnID) == t.TurnID {
				failed = t
			}
		}
	}
	role := s.Escalation.String("from_role")
	switch category := blockCategory(s); {
	case category == "budget_exhausted":
		return "budget:exhausted", ""
	case category == "non_progress":
		return "non_progress", ""
	case category == "gate_action_failed" && s.PendingRunCompletion != nil:
		return "gate_action:" + s.PendingRunCompletion.Gate, ""
	case category == "gate_action_failed" && s.PendingPhaseTransition != nil:
		return "gate_action:" + s.PendingPhaseTransition.Gate, ""
	case category == "needs_human":
		detail := ""
		if d := s.BlockedReason.Recovery.Detail; d != nil {
			detail = wire.OneLine(*d)
		}
		return "human:" + cmp.Or(detail, "unspecified"), ""
	case s.Escalation.String("source") == "operator", category == "operator_escalation":
		return "escalation:operator:" + OperatorSlug(s.Escalation.String("reason")),
			s.Escalation.String("from_turn_id")
	case s.Escalation != nil && role != "":
		return "escalation:retries-exhausted:" + role, s.Escalation.String("from_turn_id")
	}
	if failed != nil {
		switch failed.Status {
		case wire.TurnFailed:
			return "escalation:retries-exhausted:" + failed.AssignedRole, failed.TurnID
		case wire.TurnConflicted:
			return "human:conflict_loop:" + failed.TurnID, failed.TurnID
		case wire.TurnFailedStart:
			return "turn:failed_start:" + failed.TurnID, failed.TurnID
		case wire.TurnStalled:
			return "turn:stalled:" + failed.TurnID, failed.TurnID
		}
	}
	if v, _ := s.BudgetStatus.Extra.Get("exhausted"); v == true {
		return "budget:exhausted", ""
	}
	return "human:unspecified", ""
}

func blockCategory(s *State) string {
	if s.BlockedReason == nil {
		return ""
	}
	return cmp.Or(s.BlockedReason.Category, s.BlockedReason.Recovery.TypedReason)
}

// lastKnownTime returns the newest time in the state itself for a block without a start time. Repair has no clock,
// so the same state always repairs to the same bytes.
func lastKnownTime(s *State, turnID string) string {
	best, found := "", false
	try := func(v string) {
		t, err := wire.ParseTime(v)
		if err != nil {
			return
		}
		if b, err := wire.ParseTime(best); !found || err == nil && t.After(b) {
			best, found = v, true
		}
	}
	try(wire.OrEmpty(s.CreatedAt))
	try(wire.OrEmpty(s.PhaseEnteredAt))
	try(s.Escalation.String("escalated_at"))
	if t, ok := s.ActiveTurns.Get(turnID); ok {
		for _, v := range []string{t.AssignedAt, t.DispatchedAt, t.FailedAt} {
			try(v)
		}
		for _, k := range []string{"failed_start_at", "stalled_at"} {
			text, _ := t.Extra.Value(k).(string)
			try(text)
		}
	}
	if !found {
		return "1970-01-01T00:00:00.000Z"
	}
	return best
}

// budget makes budget_status agree with the configured limit, which may have
// changed since the state was written.
func (r *stateRepair) budget() {
	s := r.s
	if r.cfg == nil {
		return
	}
	b := &s.BudgetStatus
	var limit *float64
	if r.cfg.Budget != nil {
		limit = r.cfg.Budget.PerRunMaxUSD
	}
	var want *float64
	if limit != nil {
		want = new(*limit - b.SpentUSD)
	}
	switch {
	case want == nil && b.RemainingUSD == nil:
	case want != nil && b.RemainingUSD != nil && math.Abs(*want-*b.RemainingUSD) < 1e-9:
		// Sums of floats differ in the last digits; that is not a change.
	default:
		b.RemainingUSD = want
		r.note("budget_status.remaining_usd follows the configured limit")
	}
	exhausted, _ := b.Extra.Get("exhausted")
	if b.RemainingUSD != nil && *b.RemainingUSD <= 0 {
		if exhausted != true {
			b.Extra.Set("exhausted", true)
			r.note("budget_status.exhausted set: nothing remains")
		}
	} else if exhausted != nil {
		for _, k := range []string{"exhausted", "exhausted_at", "exhausted_after_turn"} {
			b.Extra.Delete(k)
		}
		r.note("budget_status.exhausted cleared: money remains")
	}
	if s.Status != wire.StatusBlocked || wire.OrEmpty(s.BlockedOn) != "budget:exhausted" || limit == nil ||
		s.BlockedReason == nil {
		return
	}
	rec := &s.BlockedReason.Recovery
	if !ownRecovery(rec.TypedReason, rec.RecoveryAction) {
		return
	}
	action, detail := RecoveryAction("budget_exhausted", "", ""),
		fmt.Sprintf("Budget used up: $%.2f spent of $%.2f", b.SpentUSD, *limit)
	if *b.RemainingUSD > 0 {
		action = CmdUnblock
		detail = fmt.Sprintf("Budget raised: $%.2f spent of $%.2f", b.SpentUSD, *limit)
	}
	if rec.RecoveryAction != action || wire.OrEmpty(rec.Detail) != detail {
		rec.RecoveryAction, rec.Detail = action, new(detail)
		r.note("the budget block's recovery was refreshed")
	}
}

// recovery refreshes a way out of a block that this program wrote: turns come and go while a run is blocked. Other
// people's words stay.
func (r *stateRepair) recovery() {
	s := r.s
	if s.Status != wire.StatusBlocked || s.BlockedReason == nil {
		return
	}
	rec := &s.BlockedReason.Recovery
	switch rec.TypedReason {
	case "retries_exhausted", "ghost_turn", "stale_turn", "conflict_loop":
	default:
		return
	}
	if !ownRecovery(rec.TypedReason, rec.RecoveryAction) {
		return
	}
	turn := ""
	if t := blockTurn(s, ""); t != nil {
		turn = t.TurnID
	}
	if strings.Contains(rec.RecoveryAction, wire.ShellWord(turn)) && turn != "" {
		return
	}
	if action := RecoveryAction(rec.TypedReason, wire.OrEmpty(s.BlockedOn), turn); action != rec.RecoveryAction {
		rec.RecoveryAction = action
		r.note("the recovery command names the turn that is active now")
	}
}
