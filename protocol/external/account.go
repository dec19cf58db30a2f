// What a run claims, each claim with the row that accounts for it: shown to the person asked to continue what
// another tool began.

package external

import (
	"cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Account is one thing that a run claims, and the row that says so.
type Account struct {
	What string `json:"what"`           // run, phase, gate, accepted, ended, active
	Text string `json:"text"`           // in words
	File string `json:"file,omitempty"` // the ledger, project-relative; "" when no row says so
	Row  string `json:"row,omitempty"`  // the row's id, or the turn it is about
	At   string `json:"at,omitempty"`
}

// Accounts lists what a state claims beyond an idle run, in the order of the rows.
func Accounts(s *run.State, ledgers run.LedgerReader) []Account {
	var out []Account
	gates := make(map[string]bool)
	add := func(a Account, l wire.Ledger, row *ojson.Object, id string) {
		a.File, a.Row = l.Path(), id
		a.At = cmp.Or(row.String("timestamp"), row.String("accepted_at"))
		out = append(out, a)
	}
	gate := func(id string, row *ojson.Object) {
		if status, _ := s.PhaseGateStatus.Get(id); status == wire.GatePassed && !gates[id] {
			gates[id] = true
			add(Account{What: "gate", Text: "gate " + id + " passed"}, wire.LedgerEvents, row, row.String("event_id"))
		}
	}
	for line := range ledgers(wire.LedgerHistory) {
		row := line.Row
		if row.String("run_id") != s.Run() {
			continue
		}
		a := Account{
			What: "accepted",
			Text: "turn " + row.String("turn_id") + " of " + row.String("role") + " accepted in phase " +
				row.String("phase"),
		}
		if !run.AcceptedRow(row, s.Run()) {
			a = Account{
				What: "ended",
				Text: "turn " + row.String("turn_id") + " of " + row.String("role") + " ended: " +
					row.String("status"),
			}
		}
		add(a, wire.LedgerHistory, row, row.String("turn_id"))
	}
	dispatched := make(map[string]bool)
	for line := range ledgers(wire.LedgerEvents) {
		row := line.Row
		if row.String("run_id") != s.Run() {
			continue
		}
		p, turn := row.Object("payload"), row.Object("turn").String("turn_id")
		switch kind := row.String("event_type"); kind {
		case run.EventRunStarted:
			add(Account{
				What: "run",
				Text: "run " + s.Run() + " began",
			}, wire.LedgerEvents, row, row.String("event_id"))
		case run.EventPhaseEntered:
			add(Account{
				What: "phase",
				Text: "phase " + p.String("from") + " to " + p.String("to"),
			}, wire.LedgerEvents, row, row.String("event_id"))
			gate(p.String("gate_id"), row)
		case "gate_approved":
			gate(p.String("gate_id"), row)
		case "run_completed":
			add(Account{What: "run", Text: "the run completed"}, wire.LedgerEvents, row, row.String("event_id"))
			for _, id := range s.PhaseGateStatus.Keys() {
				gate(id, row)
			}
		default:
			if t, ok := s.ActiveTurns.Get(turn); ok && t != nil && !dispatched[turn] {
				dispatched[turn] = true
				add(Account{
					What: "active",
					Text: "turn " + turn + " of " + t.AssignedRole + " is at work",
				}, wire.LedgerEvents, row, row.String("event_id"))
			}
		}
	}
	for line := range ledgers(wire.LedgerDecisions) {
		if row := line.Row; row.String("type") == "timeout_skip" &&
			(row.String("run_id") == "" || row.String("run_id") == s.Run()) {
			add(Account{
				What: "phase",
				Text: "phase " + row.String("from_phase") + " to " + row.String("to_phase") + ", after its time limit",
			},
				wire.LedgerDecisions, row, "timeout_skip")
		}
	}
	return out
}
