// Another tool's state is checked against its rows, member by member.

package external

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestCheckExternal(t *testing.T) {
	base := func() *run.State {
		s := &run.State{
			SchemaVersion: "1.1",
			RunID:         new("run_1"),
			ProjectID:     "p",
			Status:        wire.StatusActive,
			Phase:         "plan",
		}
		s.ActiveTurns.Set("turn_a", &run.Turn{
			TurnID:           "turn_a",
			AssignedRole:     "pm",
			Status:           wire.TurnRunning,
			Attempt:          1,
			AssignedSequence: 1,
		})
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
		}, field: "active_turns.turn_b"},
		{
			name: "a turn dispatched",
			after: func(s *run.State) {
				s.ActiveTurns.Set("turn_b", &run.Turn{TurnID: "turn_b", AssignedRole: "dev"})
			},
			rows: rows{wire.LedgerEvents: {ojson.NewObject("event_type", "turn_dispatched",
				"turn", ojson.NewObject("turn_id", "turn_b"))}},
		},
		{
			name:  "another run's event",
			after: func(s *run.State) { s.Phase = "build" },
			rows: rows{wire.LedgerEvents: {
				ojson.NewObject("event_type", "phase_entered", "run_id", "run_0",
					"payload", ojson.NewObject("to", "build"))}},
			field: "phase",
		},
		{
			name:  "a step is missing on the way",
			after: func(s *run.State) { s.Phase = "ship" },
			rows: rows{wire.LedgerEvents: {
				event("phase_entered", "from", "build", "to", "ship")}},
			field: "phase",
		},
		{
			name:  "every step is told",
			after: func(s *run.State) { s.Phase = "ship" },
			rows: rows{wire.LedgerEvents: {
				event("phase_entered", "from", "plan", "to", "build"),
				event("phase_entered", "from", "build", "to", "ship")}},
		},
		{
			name:  "another gate passed",
			after: func(s *run.State) { s.PhaseGateStatus.Set("signoff", wire.GatePassed) },
			rows: rows{wire.LedgerEvents: {
				event("gate_approved", "gate_id", "other")}},
			field: "phase_gate_status.signoff",
		},
		{
			name:  "the phase began when the event says",
			after: func(s *run.State) { s.PhaseEnteredAt = new("2026-01-01T00:00:00.000Z") },
			rows: rows{wire.LedgerEvents: {
				ojson.NewObject("event_type", "phase_entered", "timestamp", "2026-01-01T00:00:00.020Z",
					"payload", ojson.NewObject("to", "plan"))}},
		},
		{
			name:  "the phase began before the event",
			after: func(s *run.State) { s.PhaseEnteredAt = new("2025-01-01T00:00:00.000Z") },
			rows: rows{wire.LedgerEvents: {
				ojson.NewObject("event_type", "phase_entered", "timestamp", "2026-01-01T00:00:00.020Z",
					"payload", ojson.NewObject("to", "plan"))}},
			field: "phase_entered_at",
		},
		{
			name:  "a turn of another role",
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.AssignedRole = "dev" }) },
			field: "active_turns.turn_a.assigned_role",
		},
		{
			name:  "a turn of another role beside its event",
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.AssignedRole = "dev" }) },
			rows: rows{wire.LedgerEvents: {
				ojson.NewObject("event_type", "turn_rejected",
					"turn", ojson.NewObject("turn_id", "turn_a"))}},
			field: "active_turns.turn_a.assigned_role",
		},
		{
			name:  "a turn with more time",
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.DeadlineAt = "2030-01-01T00:00:00.000Z" }) },
			field: "active_turns.turn_a.deadline_at",
		},
		{
			name:  "a turn with more time after its rejection",
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.DeadlineAt = "2030-01-01T00:00:00.000Z" }) },
			rows: rows{wire.LedgerEvents: {
				ojson.NewObject("event_type", "turn_rejected", "turn", ojson.NewObject("turn_id", "turn_a"))}},
		},
		{
			name:  "a turn whose baseline hides a change",
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.Baseline = &run.Baseline{Clean: true} }) },
			field: "active_turns.turn_a.baseline",
		},
		{
			name: "a turn without its intent",
			before: func(s *run.State) {
				editTurn(s, func(t *run.Turn) { t.IntakeContext = ojson.NewObject("intent_id", "i") })
			},
			after: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.IntakeContext = nil }) },
			field: "active_turns.turn_a.intake_context",
		},
		{
			name:   "a turn that starts",
			before: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.Status = wire.TurnDispatched }) },
			after:  func(s *run.State) { editTurn(s, func(t *run.Turn) { t.Status = wire.TurnStarting }) },
		},
		{
			name:   "a turn that stops being refused",
			before: func(s *run.State) { editTurn(s, func(t *run.Turn) { t.Status = wire.TurnFailedAcceptance }) },
			field:  "active_turns.turn_a.status",
		},
		{name: "words of the way out", before: func(s *run.State) {
			s.BlockedReason = &run.BlockedReason{Category: "c", Recovery: run.Recovery{RecoveryAction: "a"}}
		},
			after: func(s *run.State) {
				s.BlockedReason = &run.BlockedReason{Category: "c", Recovery: run.Recovery{RecoveryAction: "b"}}
			}},
		{
			name:   "another block",
			before: func(s *run.State) { s.BlockedReason = &run.BlockedReason{Category: "c"} },
			after:  func(s *run.State) { s.BlockedReason = &run.BlockedReason{Category: "d"} },
			field:  "blocked_reason",
		},
		{name: "phase edited", after: func(s *run.State) { s.Phase = "build" }, field: "phase"},
		{
			name:  "phase edited beside an unrelated event",
			after: func(s *run.State) { s.Phase = "build" },
			rows:  rows{wire.LedgerEvents: {event("turn_dispatched")}},
			field: "phase",
		},
		{
			name:  "phase edited, another one entered",
			after: func(s *run.State) { s.Phase = "ship" },
			rows:  rows{wire.LedgerEvents: {event("phase_entered", "to", "build")}},
			field: "phase",
		},
		{
			name:  "phase entered",
			after: func(s *run.State) { s.Phase = "build"; s.PhaseGateStatus.Set("signoff", wire.GatePassed) },
			rows:  rows{wire.LedgerEvents: {event("phase_entered", "to", "build", "gate_id", "signoff")}},
		},
		{
			name:  "phase skipped by a timeout",
			after: func(s *run.State) { s.Phase = "build" },
			rows:  rows{wire.LedgerDecisions: {ojson.NewObject("type", "timeout_skip", "to_phase", "build")}},
		},
		{name: "completed by edit", after: func(s *run.State) { s.Status = wire.StatusCompleted }, field: "status"},
		{
			name:  "completed",
			after: func(s *run.State) { s.Status = wire.StatusCompleted },
			rows:  rows{wire.LedgerEvents: {event("run_completed")}},
		},
		{name: "unblocked by edit", before: func(s *run.State) { s.Status = wire.StatusBlocked }, field: "status"},
		{
			name:   "unblocked",
			before: func(s *run.State) { s.Status = wire.StatusBlocked },
			rows:   rows{wire.LedgerEvents: {event("human_escalation_resolved")}},
		},
		{
			name:  "gate passed by edit",
			after: func(s *run.State) { s.PhaseGateStatus.Set("signoff", wire.GatePassed) },
			field: "phase_gate_status.signoff",
		},
		{
			name:   "approval dropped by edit",
			before: func(s *run.State) { s.PendingPhaseTransition = &run.PendingTransition{Gate: "signoff"} },
			field:  "pending",
		},
		{
			name: "approval given",
			before: func(s *run.State) {
				s.Status = wire.StatusPaused
				s.PendingPhaseTransition = &run.PendingTransition{Gate: "signoff"}
			},
			after: func(s *run.State) { s.Phase = "build" },
			rows:  rows{wire.LedgerEvents: {event("gate_approved"), event("phase_entered", "to", "build")}},
		},
		{
			name:  "turn dropped by edit",
			after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") },
			field: "active_turns.turn_a",
		},
		{
			name:  "turn accepted",
			after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") },
			rows:  rows{wire.LedgerHistory: {ojson.NewObject("turn_id", "turn_a")}},
		},
		{
			name:  "turn of another one accepted",
			after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") },
			rows:  rows{wire.LedgerHistory: {ojson.NewObject("turn_id", "turn_b")}},
			field: "active_turns.turn_a",
		},
		{
			name:  "turn cleaned up",
			after: func(s *run.State) { s.ActiveTurns.Delete("turn_a") },
			rows:  rows{wire.LedgerEvents: {event("phase_cleanup", "removed_turn_ids", []string{"turn_a"})}},
		},
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
			err := Check(before, after, func(l wire.Ledger) iter.Seq[run.Line] {
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

// threePhases returns a configuration with a gate at the end of each phase.
func threePhases(t *testing.T) *config.Config {
	t.Helper()
	cfg, problems, err := config.Decode([]byte(`{
  "schema_version": "1.0",
  "project": {"id": "p", "name": "P"},
  "roles": {
    "pm":  {"title": "PM", "mandate": "plan", "write_authority": "review_only", "runtime": "man"},
    "dev": {"title": "Dev", "mandate": "build", "write_authority": "authoritative", "runtime": "man"}
  },
  "runtimes": {"man": {"type": "manual"}},
  "routing": {
    "planning": {"entry_role": "pm", "allowed_next_roles": ["pm", "dev", "human"], "exit_gate": "plan_ok"},
    "build":    {"entry_role": "dev", "allowed_next_roles": ["pm", "dev", "human"], "exit_gate": "build_ok"},
    "ship":     {"entry_role": "pm", "allowed_next_roles": ["pm", "dev", "human"], "exit_gate": "ship_ok"}
  },
  "gates": {"plan_ok": {}, "build_ok": {}, "ship_ok": {}}
}`))
	if err != nil || len(problems) > 0 {
		t.Fatalf("config: %v %v", err, problems)
	}
	return cfg
}

func editTurn(s *run.State, edit func(*run.Turn)) {
	t, _ := s.ActiveTurns.Get("turn_a")
	edit(t)
}

// Every member of the state has a rule, including future ones; an unrecorded change of any member is refused by
// name.
func TestEveryMemberIsAccountedFor(t *testing.T) {
	members := make(map[string]reflect.StructField)
	for f := range structFields(reflect.TypeFor[run.State]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			members[name] = f
		}
	}
	for _, m := range memberRules() {
		if _, ok := members[m.name]; !ok {
			t.Errorf("%s has a rule and is no member of the state", m.name)
		}
		delete(members, m.name)
	}
	for name := range members {
		t.Errorf("%s is a member of the state and nothing says what accounts for it", name)
	}
	cfg := threePhases(t)
	for f := range structFields(reflect.TypeFor[run.State]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "run_id" { // another run is judged by CheckAdopted
			continue
		}
		t.Run(name, func(t *testing.T) {
			before, after := stateAtWork(cfg), stateAtWork(cfg)
			change(t, reflect.ValueOf(after).Elem().FieldByName(f.Name))
			err := Check(before, after, func(wire.Ledger) iter.Seq[run.Line] { return slices.Values([]run.Line(nil)) })
			want := name
			if name == "pending_phase_transition" || name == "pending_run_completion" {
				want = ""
			}
			if err == nil || err.Code != CodeStateTampered || want != "" && !strings.HasPrefix(err.Field, want) {
				t.Errorf("changed from %s to %s: %v", ojson.Compact(ojson.Marshal(before)),
					ojson.Compact(ojson.Marshal(after)), err)
			}
		})
	}
}

func structFields(of reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range of.NumField() {
			if !yield(of.Field(i)) {
				return
			}
		}
	}
}

func stateAtWork(cfg *config.Config) *run.State {
	s := run.FreshState(cfg, "")
	s.RunID, s.Status = new("run_1"), wire.StatusActive
	s.ActiveTurns.Set("turn_a", &run.Turn{
		TurnID:           "turn_a",
		AssignedRole:     "dev",
		Status:           wire.TurnRunning,
		Attempt:          1,
		AssignedSequence: 1,
	})
	return s
}

// change gives a member another value, whatever its type.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *ojson.Map[*run.Turn]:
		x.Delete("turn_a")
		return
	case *ojson.Map[string]:
		x.Set("made_up", wire.GatePassed)
		return
	case *ojson.Map[*ojson.Object]:
		x.Set("made_up", ojson.NewObject("a", 1))
		return
	case *ojson.Map[*run.DocumentMark]:
		x.Set("made_up", &run.DocumentMark{})
		return
	case **ojson.Object:
		*x = ojson.NewObject("made", "up")
		return
	case *[]*ojson.Object:
		*x = []*ojson.Object{ojson.NewObject("made", "up")}
		return
	case *run.BudgetStatus:
		x.SpentUSD++
		return
	case *wire.Status:
		*x = wire.StatusPaused
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if v.Elem().Kind() == reflect.String {
			v.Elem().SetString("2020-01-01T00:00:00.000Z")
		}
	case reflect.Slice:
		e := reflect.New(v.Type().Elem()).Elem()
		if e.Kind() == reflect.Pointer {
			e.Set(reflect.New(e.Type().Elem()))
		}
		v.Set(reflect.Append(v, e))
	default:
		t.Fatalf("a member of type %s: say in this test how it is changed", v.Type())
	}
}

func TestCheckAdopted(t *testing.T) {
	cfg := threePhases(t)
	phases := cfg.Phases()
	gate := ""
	for _, r := range cfg.Routing.All() {
		gate = r.ExitGate
		break
	}
	const at = "2026-01-01T00:00:00.000Z"
	started := ojson.NewObject("event_type", "run_started", "run_id", "run_1", "timestamp", at)
	entered := ojson.NewObject("event_type", "phase_entered", "run_id", "run_1", "timestamp", at,
		"payload", ojson.NewObject("from", phases[0], "to", phases[1], "gate_id", gate))
	row := ojson.NewObject("run_id", "run_1", "turn_id", "turn_1", "status", "completed", "phase", phases[0])
	base := func() *run.State {
		s := run.FreshState(cfg, "")
		s.RunID, s.Status, s.CreatedAt, s.PhaseEnteredAt = new("run_1"), wire.StatusActive, new(at), new(at)
		return s
	}
	later := func(s *run.State) {
		s.Phase = phases[1]
		if gate != "" {
			s.PhaseGateStatus.Set(gate, wire.GatePassed)
		}
	}
	for name, c := range map[string]struct {
		edit   func(*run.State)
		events []*ojson.Object
		rows   []*ojson.Object
		field  string
	}{
		"begun by nothing": {field: "run_id"},
		"begun as another run": {
			events: []*ojson.Object{ojson.NewObject("event_type", "run_started", "run_id", "run_2", "timestamp", at)},
			field:  "run_id",
		},
		"begun": {events: []*ojson.Object{started}},
		"younger than it is": {
			edit:   func(s *run.State) { s.CreatedAt = new("2026-02-01T00:00:00.000Z") },
			events: []*ojson.Object{started},
			field:  "created_at",
		},
		"in a phase nothing led to": {edit: later, events: []*ojson.Object{started}, field: "phase"},
		"in a phase no turn led to": {edit: later, events: []*ojson.Object{started, entered}, field: "run_id"},
		"in a phase a turn led to": {
			edit:   later,
			events: []*ojson.Object{started, entered},
			rows:   []*ojson.Object{row},
		},
		"with a turn history has not": {
			edit:   func(s *run.State) { s.LastCompletedTurnID = new("turn_9") },
			events: []*ojson.Object{started},
			rows:   []*ojson.Object{row},
			field:  "last_completed_turn_id",
		},
		"with rows of the run before": {
			edit: later,
			events: []*ojson.Object{started,
				ojson.NewObject("event_type", "phase_entered", "payload", ojson.NewObject("to", phases[1]))},
			field: "phase",
		},
		"completed, and no row of it": {
			edit:   func(s *run.State) { s.Status = wire.StatusCompleted },
			events: []*ojson.Object{started},
			field:  "status",
		},
		"with money spent by nothing": {
			edit:   func(s *run.State) { s.TurnSequence = 3 },
			events: []*ojson.Object{started},
			field:  "turn_sequence",
		},
		"with work that no one delegated": {
			edit:   func(s *run.State) { s.DelegationQueue = []*run.Delegation{{}} },
			events: []*ojson.Object{started},
			field:  "delegation_queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := base()
			if c.edit != nil {
				c.edit(s)
			}
			err := CheckAdopted(cfg, s, func(l wire.Ledger) iter.Seq[run.Line] {
				return func(yield func(run.Line) bool) {
					for _, r := range map[wire.Ledger][]*ojson.Object{
						wire.LedgerEvents:  c.events,
						wire.LedgerHistory: c.rows,
					}[l] {
						if !yield(run.Line{Row: r}) {
							return
						}
					}
				}
			})
			switch {
			case err == nil && c.field != "":
				t.Fatalf("adopted, want a refusal of %s", c.field)
			case err != nil && (err.Field != c.field || err.Code != CodeStateTampered):
				t.Fatalf("refused %s: %s; want %q", err.Field, err.Message, c.field)
			}
		})
	}
}
