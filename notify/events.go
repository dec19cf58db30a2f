// The events of an operation, read from what it wrote (docs/notifications.md#webhooks).

package notify

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Events returns the events of a committed operation, in the order of sending: what was resolved,
// what blocks the run now, what waits for approval, the end of the run. before is the state it was
// applied to.
func Events(before *run.State, t *protocol.Transition) []Event {
	d := derivation{before: before, t: t, rows: make(map[wire.Ledger][]*ojson.Object)}
	for _, a := range t.Appends {
		switch a.Ledger {
		case wire.LedgerEvents, wire.LedgerDecisions, wire.LedgerEscalations:
			d.rows[a.Ledger] = rows(a.Data)
		}
	}
	d.resolved()
	d.blocked()
	d.pending()
	d.completed()
	return d.out
}

// rows reads the lines of an append; the engine has written them.
func rows(data []byte) []*ojson.Object {
	var out []*ojson.Object
	for line := range bytes.Lines(data) {
		if o, err := ojson.DecodeObject(line); err == nil {
			out = append(out, o)
		}
	}
	return out
}

type derivation struct {
	before *run.State
	t      *protocol.Transition
	rows   map[wire.Ledger][]*ojson.Object
	out    []Event
}

func (d *derivation) add(typ, turn string, pairs ...any) {
	d.out = append(d.out, Event{Type: typ, Payload: ojson.NewObject(pairs...), Turn: d.turn(turn)})
}

// turn finds a turn that the operation may have ended.
func (d *derivation) turn(id string) *run.Turn {
	if id == "" {
		id = d.t.Turn
	}
	if t, ok := d.t.State.ActiveTurns.Get(id); ok {
		return t
	}
	return d.before.ActiveTurns.Value(id)
}

// events yields the run events of a type that the operation wrote.
func (d *derivation) events(typ string) []*ojson.Object {
	var out []*ojson.Object
	for _, e := range d.rows[wire.LedgerEvents] {
		if e.String("event_type") == typ {
			out = append(out, e)
		}
	}
	return out
}

func (d *derivation) resolved() {
	for _, e := range d.events(run.EventHumanEscalationResolved) {
		p := e.Object("payload")
		d.add(HumanResolved, "", "escalation_id", p.String("escalation_id"), "type", p.Value("type"),
			"service", p.Value("service"), "resolved_via", p.Value("resolved_via"))
	}
	for _, row := range d.rows[wire.LedgerDecisions] {
		if row.String("decision") == "escalation_resolved" {
			d.add(EscalationLifted, row.String("turn_id"), "blocked_on", row.Value("blocked_on"),
				"resolved_via", row.Value("resolved_via"), "previous_escalation", row.Value("escalation"))
		}
	}
}

func (d *derivation) blocked() {
	s, b := d.t.State, d.t.State.BlockedReason
	if len(d.events(run.EventRunBlocked)) == 0 || s.Status != wire.StatusBlocked || b == nil {
		return
	}
	turn := ""
	if b.TurnID != nil {
		turn = *b.TurnID
	}
	var open []*ojson.Object
	if d.t.Index != nil {
		open = d.t.Index.OpenEscalations
	}
	var current any
	if row := run.CurrentEscalation(s, open); row != nil {
		current = brief(row)
	}
	d.add(RunBlocked, turn, "category", ojson.OrNull(b.Category), "blocked_on", s.BlockedOn,
		"typed_reason", ojson.OrNull(b.Recovery.TypedReason), "owner", ojson.OrNull(b.Recovery.Owner),
		"recovery_action", ojson.OrNull(b.Recovery.RecoveryAction), "detail", b.Recovery.Detail,
		"human_escalation", current)
	for _, row := range d.rows[wire.LedgerEscalations] {
		if row.String("kind") == "raised" {
			d.out = append(d.out, Event{Type: HumanRaised, Payload: brief(row), Turn: d.turn(turn)})
		}
	}
	for _, e := range d.events(run.EventEscalationRaised) {
		if e.Object("payload").String("source") != "operator" {
			continue
		}
		d.add(OperatorEscalated, turn, "source", "operator", "blocked_on", s.BlockedOn,
			"reason", e.Object("payload").Value("reason"), "detail", b.Recovery.Detail,
			"recovery_action", ojson.OrNull(b.Recovery.RecoveryAction))
	}
}

// brief returns what is sent about a human escalation.
func brief(row *ojson.Object) *ojson.Object {
	return ojson.NewObject("escalation_id", row.String("escalation_id"), "type", row.Value("type"),
		"service", row.Value("service"), "action", row.Value("action"),
		"resolution_command", row.Value("resolution_command"))
}

func (d *derivation) pending() {
	if len(d.events(run.EventGatePending)) == 0 {
		return
	}
	if p := d.t.State.PendingPhaseTransition; p != nil {
		d.add(PhasePending, p.RequestedByTurn, "from", p.From, "to", p.To, "gate", p.Gate,
			"requested_by_turn", ojson.OrNull(p.RequestedByTurn))
	}
	if p := d.t.State.PendingRunCompletion; p != nil {
		d.add(CompletionPending, p.RequestedByTurn, "gate", p.Gate,
			"requested_by_turn", ojson.OrNull(p.RequestedByTurn), "requested_at", ojson.OrNull(p.RequestedAt))
	}
}

func (d *derivation) completed() {
	if len(d.events(run.EventRunCompleted)) == 0 {
		return
	}
	via, gate, by := "accept_turn_direct", "", d.t.Turn
	switch r := d.t.Result.(type) {
	case *protocol.ApproveResult:
		via, gate, by = "approve_run_completion", r.Gate, ""
		if p := d.before.PendingRunCompletion; p != nil {
			by = p.RequestedByTurn
		}
	case *protocol.AcceptResult:
		if r.Gate != nil {
			via = "accept_turn"
			if r.Gate.GateID != nil {
				gate = *r.Gate.GateID
			}
		}
		if q := d.before.QueuedRunCompletion; q != nil && !r.Entry.Bool("run_completion_request") {
			by = q.RequestedByTurn
		}
	}
	p := ojson.NewObject("completed_at", d.t.State.CompletedAt, "completed_via", via)
	if gate != "" {
		p.Set("gate", gate)
	}
	p.Set("requested_by_turn", ojson.OrNull(by))
	d.out = append(d.out, Event{Type: RunCompleted, Payload: p, Turn: d.turn(by)})
}
