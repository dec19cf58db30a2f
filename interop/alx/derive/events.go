// Run events and the session timeline, each from a row of the run's event ledger.

package derive

import (
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Log holds the events of a run as they become known. Rows are added as the ledger grows; the
// events of earlier rows never change, so sequence and id of an event do not depend on who derives
// them, and when (docs/alx.md).
type Log struct {
	Events []alx.RunEvent

	origin  Origin
	run     string
	known   map[string]bool
	phases  map[string]string // the phase each turn was dispatched in
	waiting bool              // the run is paused or blocked, according to the events
}

// NewLog begins the events of a run.
func NewLog(o Origin, run string) *Log {
	return &Log{origin: o, run: run, known: make(map[string]bool), phases: make(map[string]string)}
}

// eventType returns the event that a governed one becomes, "" for none: one row gives at most one
// event. A call for a person becomes run.paused unless it is reported as run.blocked, and its
// answer becomes run.resumed.
func (l *Log) eventType(row *ojson.Object) alx.RunEventType {
	switch row.String("event_type") {
	case run.EventRunStarted:
		return alx.RunStarted
	case run.EventPhaseEntered:
		return alx.PhaseEntered
	case run.EventTurnDispatched:
		return alx.TurnDispatched
	case run.EventTurnAccepted:
		return alx.TurnAccepted
	case run.EventTurnRejected:
		return alx.TurnRejected
	case run.EventGatePending:
		return alx.GatePending
	case run.EventGateApproved:
		return alx.GateApproved
	case run.EventGateFailed:
		return alx.GateFailed
	case run.EventRunBlocked:
		return alx.RunBlocked
	case run.EventRunCompleted:
		return alx.RunCompleted
	case run.EventHumanEscalationRaised:
		if row.String("status") == string(wire.StatusPaused) && !l.waiting {
			return alx.RunPaused
		}
	case run.EventHumanEscalationResolved, run.EventEscalationResolved:
		if row.String("status") == string(wire.StatusActive) && l.waiting {
			return alx.RunResumed
		}
	}
	return ""
}

// Add appends the events of further rows.
func (l *Log) Add(rows ...*ojson.Object) {
	for _, row := range rows {
		typ := l.eventType(row)
		turn := row.Object("turn").String("turn_id")
		if l.phases[turn] == "" && turn != "" {
			l.phases[turn] = row.String("phase") // a turn belongs to one phase, that of its first row
		}
		if typ == "" {
			continue
		}
		switch typ {
		case alx.RunPaused, alx.RunBlocked, alx.GatePending:
			l.waiting = true
		case alx.RunResumed, alx.GateApproved:
			l.waiting = false
		}
		data := eventData(row)
		if typ == alx.TurnAccepted && l.phases[turn] != "" {
			data.Set("phase", l.phases[turn]) // the row has the phase that the acceptance opened
		}
		if of := refused(typ, data); of != "" {
			data.Set("explain", "git agentxchain explain "+wire.ShellWord(of)+" --run "+l.run)
		}
		l.add(typ, row.String("event_id"), row.String("timestamp"), data)
	}
}

// refused returns the name whose rules explain explains, when an event says no; "" otherwise.
func refused(typ alx.RunEventType, data *ojson.Object) string {
	switch typ {
	case alx.GateFailed:
		return data.String("gate")
	case alx.TurnRejected, alx.RunBlocked:
		return data.String("turnId")
	}
	return ""
}

// Fail ends the events of a run that could not be begun, or whose state says that it has failed: no
// governed event says that. A second call does nothing.
func (l *Log) Fail(o *Origin, st *run.State) {
	if l.Ended() {
		return
	}
	if o.Failed == nil {
		if n := len(l.Events); n > 0 && st != nil && st.Status == wire.StatusFailed {
			l.add(alx.RunFailed, "", l.Events[n-1].At,
				ojson.NewObject("code", alx.CodeRunFailed, "message", "the run's record says that it has failed"))
		}
		return
	}
	l.add(alx.RunFailed, "", o.FailedAt, ojson.NewObject("code", o.Failed.Code, "message", o.Failed.Message))
}

// Ended reports that no more events will come.
func (l *Log) Ended() bool {
	n := len(l.Events)
	return n > 0 && l.Events[n-1].Type.Ends()
}

// After returns the index of the first event after the one with that id; 0 for "". ok is false for
// an id that no event has.
func After(events []alx.RunEvent, id string) (n int, ok bool) {
	if id == "" {
		return 0, true
	}
	for i, event := range slices.Backward(events) {
		if event.ID == id {
			return i + 1, true
		}
	}
	return 0, false
}

func (l *Log) add(typ alx.RunEventType, id, at string, data *ojson.Object) {
	seq := int64(len(l.Events) + 1)
	if !alx.SaneCorrelationID(id) || l.known[id] {
		// A row of another tool may have no id, or one that another row has.
		id = l.run + "-" + strconv.FormatInt(seq, 10)
	}
	l.known[id] = true
	e := alx.RunEvent{
		Type:          typ,
		ID:            id,
		Sequence:      seq,
		RunID:         l.run,
		SessionID:     l.origin.SessionID,
		CorrelationID: l.origin.CorrelationID,
		At:            at,
		Data:          data,
	}
	e.SetOK()
	l.Events = append(l.Events, e)
}

// eventData returns the details of an event: where the run was, the turn, and the contents of the
// governed event.
func eventData(row *ojson.Object) *ojson.Object {
	out := ojson.NewObject("phase", row.Value("phase"), "status", row.Value("status"))
	if turn := row.Object("turn"); turn != nil {
		out.Set("turnId", turn.String("turn_id"))
		out.Set("role", turn.String("role_id"))
	}
	for _, m := range [][2]string{
		{"from", "from"},
		{"to", "to"},
		{"gate_id", "gate"},
		{"from_phase", "from"},
		{"to_phase", "to"},
		{"gate_type", "gateType"},
		{"reason", "reason"},
		{"reasons", "reasons"},
		{"attempt", "attempt"},
		{"retrying", "retrying"},
		{"category", "category"},
		{"blocked_on", "blockedOn"},
		{"detail", "detail"},
		{"trigger", "trigger"},
		{"completed_at", "completedAt"},
	} {
		if v, ok := row.Object("payload").Get(m[0]); ok && v != nil && !out.Has(m[1]) {
			out.Set(m[1], v)
		}
	}
	return out
}

// Timeline returns the life of a session (WG-03): its creation, then the meaning of the run's
// events for the client.
func Timeline(o *Origin, f *Facts, events []alx.RunEvent) []alx.TimelineEvent {
	var out []alx.TimelineEvent
	add := func(typ alx.TimelineEventType, id, at, summary string, data *ojson.Object) {
		out = append(out, alx.TimelineEvent{
			Type:     typ,
			ID:       id,
			Sequence: int64(len(out) + 1),
			At:       at,
			Summary:  summary,
			Data:     data,
		})
	}
	created := o.CreatedAt
	if created == "" && len(events) > 0 {
		created = events[0].At
	}
	add(alx.SessionCreated, "created", created, "asked for: "+oneLine(o.Intent, 200), nil)
	waiting := false
	for i := range events {
		e := &events[i]
		var typ alx.TimelineEventType
		switch e.Type {
		case alx.RunStarted, alx.PhaseEntered, alx.TurnAccepted, alx.TurnRejected, alx.GateFailed:
			typ = alx.SessionStep
		case alx.GatePending, alx.RunPaused, alx.RunBlocked:
			typ, waiting = alx.SessionWaiting, true
		case alx.GateApproved, alx.RunResumed:
			if typ = alx.SessionResumed; !waiting {
				typ = alx.SessionStep
			}
			waiting = false
		case alx.RunCompleted:
			typ = alx.SessionCompleted
		case alx.RunFailed:
			typ = alx.SessionFailed
		default:
			continue
		}
		data := ojson.NewObject("event", string(e.Type))
		for _, k := range []string{"turnId", "role"} {
			if v := e.Data.String(k); v != "" {
				data.Set(k, v)
			}
		}
		add(typ, e.ID, e.At, f.tell(e), data)
	}
	return out
}

// tell describes an event in a few words.
func (f *Facts) tell(e *alx.RunEvent) string {
	who, d := e.Data.String("role"), e.Data
	switch e.Type {
	case alx.RunStarted:
		return "the run has begun in phase " + d.String("phase")
	case alx.PhaseEntered:
		return "phase " + d.String("to") + " has begun"
	case alx.TurnAccepted:
		if s := f.row(d.String("turnId")).String("summary"); s != "" {
			return who + ": " + oneLine(s, 300)
		}
		return who + ": turn accepted"
	case alx.TurnRejected:
		return who + ": sent back: " + oneLine(d.String("reason"), 300)
	case alx.GatePending:
		return "a person has to approve a gate of phase " + d.String("phase")
	case alx.GateApproved:
		return "gate " + d.String("gate") + " is approved"
	case alx.GateFailed:
		return "gate " + d.String("gate") + " did not open"
	case alx.RunPaused:
		return "a person is asked for: " + oneLine(d.String("detail"), 300)
	case alx.RunBlocked:
		return "the run is blocked on " + d.String("blockedOn")
	case alx.RunResumed:
		return "the run goes on"
	case alx.RunCompleted:
		return "the run is complete"
	case alx.RunFailed:
		return "the run could not be carried out: " + oneLine(d.String("message"), 300)
	}
	return string(e.Type)
}
