// Records judged together: a mailbox, a run's leases, a run's event log (docs/leases.md).

package check

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// record is one document of a log and where its findings go.
type record struct {
	obj    *ojson.Object
	typ    Type
	result *Result
	line   int
	at     string // pointer of the record within its document
	advice bool   // its findings are warnings
}

func (r *record) add(sev Severity, name, rule, message string) {
	at := r.at
	if name != "" {
		at = ojson.Member(at, name)
	}
	if r.advice {
		sev = Warning
	}
	r.result.add(Finding{Line: r.line, Pointer: at, Rule: rule, Severity: sev, Message: message})
}

func (r *record) fail(name, rule, message string) { r.add(Error, name, rule, message) }

// key names a message: ids are unique within a run.
type key struct{ run, id string }

// log is what is remembered of the records of a log.
type log struct {
	messages  map[key]*record
	acks      []*record
	order     []*record // messages
	leases    map[string]*record
	active    map[key]string  // run and step -> lease that is active
	tokens    map[key]*record // run and step -> lease with the newest token
	sequences map[string]ojson.Number
	ended     map[string]bool // runs that have ended, according to the log
	plans     plans
}

func newLog() *log {
	return &log{
		messages: map[key]*record{}, leases: map[string]*record{}, active: map[key]string{}, tokens: map[key]*record{},
		sequences: map[string]ojson.Number{}, ended: map[string]bool{}, plans: newPlans(),
	}
}

// logged reports whether a log remembers records of a type.
func logged(t Type) bool {
	switch t {
	case "task_message", "client_boundary/task_message", "task_message_ack", "durable_authority/lease",
		"client_boundary/run_event_record", "execution_receipt", "run_outcome", "durable_authority/recovery_event",
		"client_boundary/plan", "client_boundary/execution_receipt", "client_boundary/verification_receipt":
		return true
	}
	return false
}

// take adds a record; what depends on later ones waits for finish.
func (l *log) take(r *record) {
	l.plans.take(r)
	switch r.typ {
	case "task_message", "client_boundary/task_message":
		l.message(r)
	case "task_message_ack":
		l.acks = append(l.acks, r)
	case "durable_authority/lease":
		l.lease(r)
	case "client_boundary/run_event_record":
		l.sequence(r)
	case "execution_receipt":
		l.end(r, r.obj.String("status"))
	case "run_outcome":
		l.end(r, "complete")
	case "durable_authority/recovery_event":
		l.end(r, r.obj.String("run_state"))
	}
}

func (l *log) end(r *record, state string) {
	switch state {
	case "complete", "failed", "cancelled", "bounded":
		l.ended[r.obj.String("run_id")] = true
	}
}

func (l *log) message(r *record) {
	run := r.obj.String("run_id")
	id := key{run, r.obj.String("message_id")}
	if reply, ok := textOf(r.obj, "reply_to"); ok {
		if _, earlier := l.messages[key{run, reply}]; !earlier {
			r.fail("reply_to", "log.reply",
				fmt.Sprintf("no earlier message of run %s is called %s", ojson.Shown(run), ojson.Shown(reply)))
		}
	}
	if _, double := l.messages[id]; double {
		r.fail("message_id", "log.duplicate_message",
			fmt.Sprintf("run %s has a message %s already", ojson.Shown(run), ojson.Shown(id.id)))
		return
	}
	l.messages[id] = r
	l.order = append(l.order, r)
}

// sequence: the rows of one run's event log count up. Upstream does not check that, so it is a
// warning (docs/monarchic.md#types).
func (l *log) sequence(r *record) {
	run := r.obj.String("run_id")
	if s := r.obj.String("event_type"); s == "run_completed" || s == "run_failed" {
		l.ended[run] = true
	}
	now := moment(r.obj, "sequence")
	if now == nil {
		return
	}
	last := moment(ojson.NewObject("n", l.sequences[run]), "n")
	if last != nil && now.Cmp(last) <= 0 {
		r.add(Warning, "sequence", "log.sequence", fmt.Sprintf("sequence %s follows %s", now, last))
		return
	}
	l.sequences[run], _ = r.obj.Value("sequence").(ojson.Number)
}

// ackStage orders the states of an acknowledgement; 0 is an unknown state.
func ackStage(status string) int {
	switch status {
	case "received":
		return 1
	case "accepted", "rejected":
		return 2
	case "resolved":
		return 3
	}
	return 0
}

// finish judges what needed the whole log: parts of plans against plans,
// acknowledgements against messages.
func (l *log) finish(complete bool) {
	l.plans.finish()
	last := map[*record]string{} // message -> state of its acknowledgement
	runs := map[string][]string{}
	for k := range l.messages {
		runs[k.id] = append(runs[k.id], k.run)
	}
	for _, a := range l.acks {
		run, id, task := a.obj.String("run_id"), a.obj.String("message_id"), a.obj.String("task_id")
		m := l.messages[key{run, id}]
		switch {
		case m == nil && len(runs[id]) > 0:
			a.fail("run_id", "log.ack_run",
				fmt.Sprintf("message %s belongs to another run than %s", ojson.Shown(id), ojson.Shown(run)))
			continue
		case m == nil:
			a.fail("message_id", "log.ack_message", fmt.Sprintf("there is no message %s", ojson.Shown(id)))
			continue
		case m.obj.String("to_task_id") != task:
			a.fail("task_id", "log.ack_recipient", fmt.Sprintf("message %s went to %s, not to %s", ojson.Shown(id),
				ojson.Shown(m.obj.String("to_task_id")), ojson.Shown(task)))
			continue
		}
		was, is := last[m], a.obj.String("status")
		if was != "" && ackStage(is) != 0 && !ackFollows(was, is) {
			a.fail("status", "log.ack_order",
				fmt.Sprintf("message %s is %s already; %s cannot follow", ojson.Shown(id), was, is))
			continue
		}
		if ackStage(is) != 0 || was == "" {
			last[m] = is
		}
	}
	for _, m := range l.order {
		if !m.obj.Bool("requires_ack") || last[m] != "" || m.advice {
			continue
		}
		id, run := m.obj.String("message_id"), m.obj.String("run_id")
		message := fmt.Sprintf("message %s asks for an acknowledgement and %s gave none", ojson.Shown(id),
			ojson.Shown(m.obj.String("to_task_id")))
		if complete || l.ended[run] {
			m.fail("requires_ack", "log.ack_missing", message)
		} else {
			m.add(Warning, "requires_ack", "log.ack_missing", message+" yet")
		}
	}
}

// ackFollows: received, then accepted or rejected, then resolved; states may be left out, and an
// accepted message may still be declined (docs/monarchic.md#messages).
func ackFollows(was, is string) bool {
	return ackStage(is) > ackStage(was) || was == "accepted" && is == "rejected"
}
