// Leases and recovery: who holds which turn, and what was recovered from
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// leases returns the issued leases, each as last recorded, and one for every active turn without a
// lease.
func (x *Export) leases(bool) ([]Object, error) {
	var order []string
	newest := make(map[string]*strict.Lease)
	steps := make(map[string]bool)
	for _, l := range x.facts.events {
		if l.Row.String("event_type") != run.EventLease {
			continue
		}
		given := l.Row.Object("payload").Object("lease")
		if given == nil {
			continue
		}
		lease, err := wire.From[strict.Lease](given)
		if err != nil {
			x.warn("event %s holds no lease: %v", l.Row.String("event_id"), err)
			continue
		}
		if newest[lease.LeaseID] == nil {
			order = append(order, lease.LeaseID)
		}
		newest[lease.LeaseID], steps[lease.StepID] = lease, true
	}
	var out []Object
	for _, id := range order {
		out = append(out, object("durable_authority/lease", newest[id]))
	}
	for id, turn := range x.facts.state.ActiveTurns.All() {
		if !steps[id] {
			out = append(out, object("durable_authority/lease", x.lease(turn)))
		}
	}
	return out, nil
}

// lease returns the lease that corresponds to an active turn.
func (x *Export) lease(t *run.Turn) *strict.Lease {
	attempt := max(t.Attempt, 1)
	issued := x.ms(cmp.Or(t.DispatchedAt, t.AssignedAt, t.StartedAt))
	// The token of a later attempt is newer, whatever the clock says: each earlier attempt was
	// dispatched and sent back before.
	if before := x.lastDispatch(t.TurnID, attempt); before >= issued {
		issued = before + 1
	}
	session := "session-" + x.Run
	if s := x.facts.session; s.String("run_id") == x.Run {
		session = cmp.Or(s.String("session_id"), session)
	}
	return &strict.Lease{
		LeaseID:   leaseID(t.TurnID, attempt),
		RunID:     x.Run,
		PlanID:    planID(x.Run),
		StepID:    t.TurnID,
		TaskID:    t.TurnID,
		RunnerID:  cmp.Or(t.RuntimeID, config.RuntimeManual),
		SessionID: session,
		FencingToken: strict.FencingToken{
			Token:      fencingToken(x.Run, t.TurnID, attempt),
			IssuedAtMs: issued,
			Issuer:     "git-agentxchain",
			Scope:      "run:" + x.Run + "/step:" + t.TurnID,
		},
		IssuedAtMs:  issued,
		ExpiresAtMs: max(x.ms(t.DeadlineAt), issued),
		Status:      leaseState(t),
	}
}

// lastDispatch returns when the attempt before the given one was dispatched, 0 for none.
func (x *Export) lastDispatch(turn string, attempt int) uint64 {
	if attempt < 2 {
		return 0
	}
	var at []uint64
	for _, l := range x.facts.byTurn[turn] {
		if l.Row.String("event_type") == run.EventTurnDispatched {
			at = append(at, x.ms(l.Row.String("timestamp")))
		}
	}
	if len(at) < 2 {
		return 0
	}
	return slices.Max(at[:len(at)-1])
}

// recovery returns the recoveries in the log: those recorded with leases as they are, the others by
// what happened.
func (x *Export) recovery(bool) ([]Object, error) {
	var out []Object
	told := x.toldByLeases()
	for _, l := range x.facts.events {
		row := l.Row
		if row.String("event_type") == run.EventLease {
			recorded := row.Object("payload").Object("recovery")
			if recorded == nil {
				continue
			}
			event, err := wire.From[strict.RecoveryEvent](recorded)
			if err != nil {
				x.warn("event %s holds no recovery: %v", row.String("event_id"), err)
				continue
			}
			out = append(out, object("durable_authority/recovery_event", event))
			continue
		}
		if e := x.recovered(row); e != nil && !told[occurrenceOf(e)] {
			out = append(out, object("durable_authority/recovery_event", e))
		}
	}
	return out, nil
}

// occurrence is what happened to a step at one time.
type occurrence struct {
	step string
	kind strict.RecoveryEventKind
	at   uint64
}

func occurrenceOf(e *strict.RecoveryEvent) occurrence {
	o := occurrence{kind: e.Kind, at: e.OccurredAtMs}
	if e.StepID != nil {
		o.step = *e.StepID
	}
	return o
}

// toldByLeases returns the recoveries recorded with a lease. The operation that refuses a leased
// result records it twice, for the turn and for the lease; it is one.
func (x *Export) toldByLeases() map[occurrence]bool {
	told := make(map[occurrence]bool)
	for _, l := range x.facts.events {
		recorded := l.Row.Object("payload").Object("recovery")
		if recorded == nil || l.Row.String("event_type") != run.EventLease {
			continue
		}
		if event, err := wire.From[strict.RecoveryEvent](recorded); err == nil && event.StepID != nil {
			told[occurrenceOf(event)] = true
		}
	}
	return told
}

// recovered returns the recovery that corresponds to an event of the run, nil for none.
func (x *Export) recovered(row *ojson.Object) *strict.RecoveryEvent {
	kind, p := row.String("event_type"), row.Object("payload")
	turn := row.Object("turn").String("turn_id")
	e := &strict.RecoveryEvent{
		EventID:         "recovery-" + row.String("event_id"),
		RunID:           x.Run,
		PlanID:          planID(x.Run),
		OccurredAtMs:    x.ms(row.String("timestamp")),
		Actor:           "git-agentxchain",
		ContractVersion: portable.Version,
	}
	switch {
	case kind == run.EventTurnReissued, kind == run.EventTurnRejected && p.Bool("retrying"),
		kind == "auto_retried_ghost", kind == "auto_retried_productive_timeout":
		e.Kind, e.StepState = strict.RecoveryStepRequeued, strict.StepStateReady
	case kind == run.EventTurnStalled, kind == run.EventTurnStartFailed, kind == run.EventTurnConflicted,
		kind == "ghost_retry_exhausted", kind == "productive_timeout_retry_exhausted":
		e.Kind, e.StepState = strict.RecoveryStepBlocked, strict.StepStateBlocked
	case kind == run.EventEscalationResolved, kind == run.EventHumanEscalationResolved:
		e.Kind, e.RunState = strict.RecoveryRunRecovered, strict.RunExecuting
	case kind == "session_continuation":
		e.Kind = strict.RecoveryStateReloaded
	default:
		return nil
	}
	if turn == "" && e.StepState != "" {
		return nil // a step is required, and the event names none
	}
	details := ojson.NewObject("operation", kind)
	if turn != "" {
		e.StepID = &turn
		details.Set("turn_id", turn)
		n, ok := p.Int("attempt")
		if !ok {
			n = x.attempt(turn)
		}
		details.Set("attempt", n)
	}
	if old := p.String("old_turn_id"); old != "" {
		details.Set("old_turn_id", old)
	}
	e.Details = details
	return e
}
