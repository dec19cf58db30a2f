package protocol

import (
	"iter"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestCheckExternal(t *testing.T) {
	base := func() *run.State {
		s := &run.State{SchemaVersion: "1.1", RunID: new("run_1"), ProjectID: "p", Status: wire.StatusActive, Phase: "plan"}
		s.ActiveTurns.Set("turn_a", &run.Turn{TurnID: "turn_a", AssignedRole: "pm", Status: wire.TurnRunning, Attempt: 1, AssignedSequence: 1})
		s.PhaseGateStatus.Set("signoff", wire.GatePending)
		return s
	}
	event := func(kind string, pairs ...any) *ojson.Object {
		return ojson.NewObject("event_type", kind, "payload", ojson.NewObject(pairs...))
	}
	type rows map[wire.Ledger][]*ojson.Object
	for _, c := range []struct {
		name   string
		before func(*run.State)
		after  func(*run.State)
		rows   rows
		field  string // of the refusal, "" for none
	}{
		{name: "nothing changed"},
		{name: "a turn assigned without an event", after: func(s *run.State) {
			s.ActiveTurns.Set("turn_b", &run.Turn{TurnID: "turn_b", AssignedRole: "dev"})
		}},
		{name: "phase edited", after: func(s *run.State) { s.Phase = "build" }, field: "phase"},
		{name: "phase edited beside an unrelated event", after: func(s *run.State) { s.Phase = "build" }, rows: rows{wire.LedgerEvents: {event("turn_dispatched")}}, field: "phase"},
		{name: "phase edited, another one entered", after: func(s *run.State) { s.Phase = "ship" }, rows: rows{wire.LedgerEvents: {event("phase_entered", "to", "build")}}, field: "phase"},
		{name: "phase entered", after: func(s *run.State) { s.Phase = "build"; s.PhaseGateStatus.Set("signoff", wire.GatePassed) }, rows: rows{wire.LedgerEvents: {event("phase_entered", "to", "build", "gate_id", "signoff")}}},
		{name: "phase skipped by a timeout", after: func(s *run.State) { s.Phase = "build" }, rows: rows{wire.LedgerDecisions: {ojson.NewObject("type", "timeout_skip", "to_phase", "build")}}},
		{name: "completed by edit", after: func(s *run.State) { s.Status = wire.StatusCompleted }, field: "status"},
		{name: "completed", after: func(s *run.State) { s.Status = wire.StatusCompleted }, rows: rows{wire.LedgerEvents: {event("run_completed")}}},
		{name: "unblocked by edit", before: func(s *run.State) { s.Status = wire.StatusBlocked }, field: "status"},
		{name: "unblocked", before: func(s *run.State) { s.Status = wire.StatusBlocked }, rows: rows{wire.LedgerEvents: {event("human_escalation_resolved")}}},
		{name: "gate passed by edit", after: func(s *run.State) { s.PhaseGateStatus.Set("signoff", wire.GatePassed) }, field: "phase_gate_status.signoff"},
		{name: "approval dropped by edit", before: func(s *run.State) { s.PendingPhaseTransition = &run.PendingTransition{Gate: "signoff"} }, field: "pending"},
		{name: "approval given", before: func(s *run.State) {
			s.Status = wire.StatusPaused
			s.PendingPhaseTransition = &run.PendingTransition{Gate: "signoff"}
		}, after: func(s *run.State) { s.Phase = "build" }, rows: rows{wire.LedgerEvents: {event("gate_approved"), event("phase_entered", "to", "build")}}},
		{name: "turn dropped by edit", after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") }, field: "active_turns.turn_a"},
		{name: "turn accepted", after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") }, rows: rows{wire.LedgerHistory: {ojson.NewObject("turn_id", "turn_a")}}},
		{name: "turn of another one accepted", after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") }, rows: rows{wire.LedgerHistory: {ojson.NewObject("turn_id", "turn_b")}}, field: "active_turns.turn_a"},
		{name: "turn cleaned up", after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") }, rows: rows{wire.LedgerEvents: {event("phase_cleanup", "removed_turn_ids", []string{"turn_a"})}}},
		{name: "another run", after: func(s *run.State) { s.RunID = new("run_2"); s.Phase = "build" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := base(), base()
			if c.before != nil {
				c.before(before)
			}
			if c.after != nil {
				c.after(after)
			}
			err := CheckExternal(before, after, func(l wire.Ledger) iter.Seq[run.Line] {
				return func(yield func(run.Line) bool) {
					for _, r := range c.rows[l] {
						if !yield(run.Line{Row: r}) {
							return
						}
					}
				}
			})
			switch {
			case err == nil && c.field != "":
				t.Fatalf("accepted, want a refusal of %s", c.field)
			case err != nil && err.Field != c.field:
				t.Fatalf("refused %s: %s; want %q", err.Field, err.Message, c.field)
			}
		})
	}
}
