package notify

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// made builds a transition from rows written as JSON, by ledger.
func made(s *run.State, ledgers map[wire.Ledger][]string) *protocol.Transition {
	t := &protocol.Transition{State: s, Index: &run.Index{}}
	for l, lines := range ledgers {
		t.Appends = append(t.Appends, ledger.Append{Ledger: l, Data: []byte(strings.Join(lines, "\n") + "\n")})
	}
	return t
}

func types(events []Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

func compact(o *ojson.Object) string { return string(ojson.Compact(o)) }

func TestEventsOfOneBlockAfterAnother(t *testing.T) {
	on, turn := "human:next", "turn_1"
	s := &run.State{
		Status:    wire.StatusBlocked,
		BlockedOn: &on,
		BlockedReason: &run.BlockedReason{Category: "needs_human", TurnID: &turn,
			Recovery: run.Recovery{TypedReason: "needs_human", Owner: "human", RecoveryAction: "do"}},
	}
	before := &run.State{Status: wire.StatusBlocked}
	before.ActiveTurns.Set(turn, &run.Turn{TurnID: turn, AssignedRole: "dev"})
	tr := made(s, map[wire.Ledger][]string{
		wire.LedgerEvents: {
			`{"event_type":"human_escalation_resolved","payload":{"escalation_id":"hesc_1","type":"needs_decision","service":null,"resolved_via":"superseded"}}`,
			`{"event_type":"human_escalation_raised","payload":{}}`, `{"event_type":"run_blocked","payload":{}}`},
		wire.LedgerEscalations: {`{"kind":"resolved","escalation_id":"hesc_1"}`,
			`{"kind":"raised","escalation_id":"hesc_2","type":"needs_oauth","service":"GitHub","action":"a","resolution_command":"c","turn_id":"turn_1","blocked_on":"human:next"}`},
		wire.LedgerDecisions: {`{"decision":"escalation_resolved","blocked_on":"escalation:operator:x","resolved_via":"superseded","escalation":null}`,
			`not json`},
	})
	tr.Index.OpenEscalations = []*ojson.Object{ojson.NewObject("escalation_id", "hesc_2", "turn_id", "turn_1",
		"blocked_on", on)}
	events := Events(before, tr)
	if got := types(events); got != "human_escalation_resolved escalation_resolved run_blocked human_escalation_raised" {
		t.Fatal(got)
	}
	if got := compact(events[1].Payload); got != `{"blocked_on":"escalation:operator:x","resolved_via":"superseded","previous_escalation":null}` {
		t.Error(got)
	}
	if got := events[2].Payload; got.Object("human_escalation").String("escalation_id") != "hesc_2" ||
		events[2].Turn.AssignedRole != "dev" {
		t.Error(compact(got))
	}
	if got := compact(events[3].Payload); got != `{"escalation_id":"hesc_2","type":"needs_oauth","service":"GitHub","action":"a","resolution_command":"c"}` {
		t.Error(got)
	}
}

func TestEventsOfAnOperatorOwnedBlock(t *testing.T) {
	on := "timeout:turn"
	s := &run.State{Status: wire.StatusBlocked, BlockedOn: &on, BlockedReason: &run.BlockedReason{Category: "timeout"}}
	events := Events(&run.State{},
		made(s, map[wire.Ledger][]string{wire.LedgerEvents: {`{"event_type":"run_blocked"}`}}))
	if types(events) != "run_blocked" {
		t.Fatal(types(events))
	}
	if got := compact(events[0].Payload); got != `{"category":"timeout","blocked_on":"timeout:turn","typed_reason":null,"owner":null,"recovery_action":null,"detail":null,"human_escalation":null}` {
		t.Error(got)
	}
	tr := made(s, map[wire.Ledger][]string{wire.LedgerEvents: {`{"event_type":"run_blocked"}`}})
	tr.Index = nil
	if types(Events(&run.State{}, tr)) != "run_blocked" {
		t.Error("without an index")
	}
}

func TestEventsOfAPhase(t *testing.T) {
	s := &run.State{Status: wire.StatusPaused, PendingPhaseTransition: &run.PendingTransition{
		From:            "a",
		To:              "b",
		Gate:            "g",
		RequestedByTurn: "turn_1",
		RequestedAt:     "x",
	}}
	events := Events(&run.State{}, made(s, map[wire.Ledger][]string{wire.LedgerEvents: {
		`{"event_type":"turn_accepted"}`, `{"event_type":"gate_pending"}`,
	}}))
	if types(events) != "phase_transition_pending" ||
		compact(events[0].Payload) != `{"from":"a","to":"b","gate":"g","requested_by_turn":"turn_1"}` {
		t.Errorf("%s", types(events))
	}
	// It still waits, but that was sent before.
	if events := Events(s, made(s,
		map[wire.Ledger][]string{wire.LedgerEvents: {`{"event_type":"turn_checkpointed"}`}})); len(events) != 0 {
		t.Error(types(events))
	}
	if events := Events(s, made(s, nil)); len(events) != 0 {
		t.Error(types(events))
	}
}

func TestEventsOfACompletion(t *testing.T) {
	at, gate := "2026-01-01T00:00:00.000Z", "ship"
	s := &run.State{Status: wire.StatusCompleted, CompletedAt: &at}
	rows := map[wire.Ledger][]string{wire.LedgerEvents: {`{"event_type":"run_completed"}`}}
	for name, tc := range map[string]struct {
		before *run.State
		result any
		want   string
	}{
		"by a gate": {&run.State{}, &protocol.AcceptResult{
			Entry: ojson.NewObject("run_completion_request", true),
			Gate:  &gates.Result{GateID: &gate},
		},
			`{"completed_at":"2026-01-01T00:00:00.000Z","completed_via":"accept_turn","gate":"ship","requested_by_turn":"turn_9"}`},
		"without one": {&run.State{}, &protocol.AcceptResult{},
			`{"completed_at":"2026-01-01T00:00:00.000Z","completed_via":"accept_turn_direct","requested_by_turn":"turn_9"}`},
		"parked": {&run.State{QueuedRunCompletion: &run.QueuedCompletion{RequestedByTurn: "turn_3"}},
			&protocol.AcceptResult{Entry: &ojson.Object{}, Gate: &gates.Result{}},
			`{"completed_at":"2026-01-01T00:00:00.000Z","completed_via":"accept_turn","requested_by_turn":"turn_3"}`},
		"approved": {&run.State{PendingRunCompletion: &run.PendingCompletion{RequestedByTurn: "turn_3"}},
			&protocol.ApproveResult{Gate: "ship"},
			`{"completed_at":"2026-01-01T00:00:00.000Z","completed_via":"approve_run_completion","gate":"ship","requested_by_turn":"turn_3"}`},
	} {
		tr := made(s, rows)
		tr.Turn, tr.Result = "turn_9", tc.result
		events := Events(tc.before, tr)
		if types(events) != "run_completed" || compact(events[0].Payload) != tc.want {
			t.Errorf("%s: %s", name, compact(events[0].Payload))
		}
	}
}
