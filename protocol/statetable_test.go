// Tests of the legal status changes and the immutable members.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// inStatus returns a minimal state that satisfies what its status requires.
func inStatus(st wire.Status) *run.State {
	s := &run.State{
		SchemaVersion: run.StateSchema,
		RunID:         new("run_1"),
		ProjectID:     "p",
		Status:        st,
		Phase:         "planning",
		CreatedAt:     new("2026-01-01T00:00:00.000Z"),
		TurnSequence:  4,
	}
	switch st {
	case wire.StatusIdle:
		s.RunID, s.CreatedAt, s.TurnSequence = nil, nil, 0
	case wire.StatusPaused:
		s.PendingPhaseTransition = &run.PendingTransition{From: "planning", To: "build", Gate: "g1"}
		s.BlockedOn = new("human_approval:g1")
	case wire.StatusBlocked:
		s.BlockedOn = new("human:x")
		s.BlockedReason = run.DescribeBlock(s, "human:x", "")
	case wire.StatusFailed:
		s.Abandoned = &run.Abandonment{At: "2026-01-02T00:00:00.000Z", Reason: "x"}
	case wire.StatusCompleted:
		s.CompletedAt = new("2026-01-02T00:00:00.000Z")
	}
	return s
}

func TestLegalTransitionTable(t *testing.T) {
	all := []wire.Status{wire.StatusIdle, wire.StatusActive, wire.StatusPaused, wire.StatusBlocked,
		wire.StatusCompleted, wire.StatusFailed}
	want := map[string]string{
		"scaffold":           "idle>idle",
		"init_run":           "idle>active blocked>active completed>active failed>active",
		"assign_turn":        "active>active active>blocked paused>active",
		"accept_turn":        "active>active active>paused active>blocked active>completed paused>paused blocked>active blocked>paused blocked>blocked blocked>completed",
		"reject_turn":        "active>active active>blocked paused>paused blocked>active blocked>blocked",
		"reissue_turn":       "active>active active>blocked paused>paused blocked>active blocked>blocked",
		"approve_transition": "paused>active paused>paused paused>blocked blocked>blocked",
		OpDeny:               "paused>active",
		OpObjection:          "active>active paused>paused blocked>blocked",
		OpRetry:              "active>active active>paused active>completed",
		OpWithdraw:           "", // without an approval to take back
		OpAbandon:            "active>failed paused>failed blocked>failed",
		"approve_completion": "paused>paused paused>blocked blocked>blocked",
		"escalate":           "active>blocked paused>blocked",
		"block":              "active>blocked paused>blocked blocked>blocked",
		"reactivate":         "blocked>active",
		"checkpoint_turn":    "idle>idle active>active paused>paused blocked>blocked completed>completed failed>failed",
		"record_audit":       "idle>idle active>active paused>paused blocked>blocked completed>completed failed>failed",
		"dispatch_turn":      "active>active paused>paused blocked>blocked",
		"refresh_baseline":   "active>active paused>paused blocked>blocked",
		OpTransitionState:    "active>paused active>blocked",
		"no_such_operation":  "",
	}
	for op, edges := range want {
		var got []string
		for _, from := range all {
			for _, to := range all {
				before, after := inStatus(from), inStatus(to)
				if op == "init_run" && to == wire.StatusActive {
					after.RunID, after.CreatedAt, after.TurnSequence = new("run_2"), new("2026-02-01T00:00:00.000Z"), 0
				} else if after.RunID == nil || before.RunID == nil {
					after.RunID, after.CreatedAt, after.TurnSequence = before.RunID, before.CreatedAt,
						before.TurnSequence
				}
				err := LegalTransition(before, after, op)
				if err == nil {
					got = append(got, string(from)+">"+string(to))
				} else if err.Code != wire.CodeInvalidStateTransition {
					t.Errorf("%s %s>%s: %s", op, from, to, err.Code)
				}
			}
		}
		if g := strings.Join(got, " "); g != edges {
			t.Errorf("%s:\n got %s\nwant %s", op, g, edges)
		}
	}
	if err := LegalTransition(nil, inStatus(wire.StatusIdle), "scaffold"); err != nil {
		t.Error(err)
	}
	if err := LegalTransition(nil, inStatus(wire.StatusActive), "accept_turn"); err == nil {
		t.Error("nothing cannot be accepted")
	}
	over := inStatus(wire.StatusFailed)
	if err := LegalTransition(over, over, intents.OpInject); err == nil ||
		err.Message != "inject_intent: a run that is failed takes none." {
		t.Errorf("an intent of a failed run: %v", err)
	}
}

func TestLegalTransitionConditions(t *testing.T) {
	change := func(s *run.State, f func(*run.State)) *run.State { f(s); return s }
	for name, tc := range map[string]struct {
		before, after *run.State
		op, code      string
		field         string
	}{
		"run id": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.RunID = new("run_2") }), OpTransitionState, wire.CodeImmutableField, "run_id"},
		"run id lost": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.RunID = nil }), "accept_turn", wire.CodeImmutableField, "run_id"},
		"run id from nowhere": {change(inStatus(wire.StatusActive), func(s *run.State) { s.RunID = nil }),
			inStatus(wire.StatusActive), "accept_turn", wire.CodeImmutableField, "run_id"},
		"project": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.ProjectID = "q" }), "accept_turn", wire.CodeImmutableField, "project_id"},
		"project in a new run": {inStatus(wire.StatusCompleted),
			change(inStatus(wire.StatusActive), func(s *run.State) {
				s.RunID, s.ProjectID = new("run_2"), "q"
			}), "init_run", wire.CodeImmutableField, "project_id"},
		"counter": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.TurnSequence = 3 }), "accept_turn", wire.CodeImmutableField, "turn_sequence"},
		"created": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.CreatedAt = nil }), "accept_turn", wire.CodeImmutableField, "created_at"},
		"same run again": {inStatus(wire.StatusCompleted), inStatus(wire.StatusActive), "init_run",
			wire.CodeInvalidStateTransition, "run_id"},
		"phase by assignment": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.Phase = "build" }), "assign_turn", wire.CodeInvalidStateTransition, "phase"},
		"phase by acceptance": {inStatus(wire.StatusActive),
			change(inStatus(wire.StatusActive), func(s *run.State) { s.Phase = "build" }), "accept_turn", "", ""},
		"active but blocked": {inStatus(wire.StatusBlocked), change(inStatus(wire.StatusActive), func(s *run.State) {
			s.BlockedOn = new("x")
		}), "reactivate", wire.CodeInvalidStateTransition, "blocked_on"},
		"reactivated past a gate": {inStatus(wire.StatusPaused), inStatus(wire.StatusActive), "reactivate",
			wire.CodeInvalidStateTransition, "status"},
		"reactivated pause": {change(inStatus(wire.StatusPaused),
			func(s *run.State) { s.PendingPhaseTransition = nil }), inStatus(wire.StatusActive), "reactivate", "", ""},
		"pause without gate": {inStatus(wire.StatusActive), change(inStatus(wire.StatusPaused), func(s *run.State) {
			s.PendingPhaseTransition = nil
		}), OpTransitionState, wire.CodeInvalidStateTransition, "pending_phase_transition"},
		"block without cause": {inStatus(wire.StatusActive), change(inStatus(wire.StatusBlocked),
			func(s *run.State) { s.BlockedOn = nil }), "block", wire.CodeInvalidStateTransition, "blocked_on"},
		"block without way out": {inStatus(wire.StatusActive), change(inStatus(wire.StatusBlocked),
			func(s *run.State) { s.BlockedReason = nil }), "block", wire.CodeInvalidStateTransition, "blocked_reason"},
		"completed without time": {inStatus(wire.StatusActive),
			change(inStatus(wire.StatusCompleted), func(s *run.State) {
				s.CompletedAt = nil
			}), "accept_turn", wire.CodeInvalidStateTransition, "completed_at"},
		"completed with turns": {inStatus(wire.StatusActive),
			change(inStatus(wire.StatusCompleted), func(s *run.State) {
				s.ActiveTurns.Set("t", &run.Turn{TurnID: "t"})
			}), "accept_turn", wire.CodeInvalidStateTransition, "active_turns"},
		"completion approved": {change(inStatus(wire.StatusPaused), func(s *run.State) {
			s.PendingPhaseTransition, s.PendingRunCompletion = nil, &run.PendingCompletion{Gate: "g"}
		}), inStatus(wire.StatusCompleted), "approve_completion", "", ""},
		"completion not pending": {inStatus(wire.StatusPaused), inStatus(wire.StatusCompleted), "approve_completion",
			wire.CodeInvalidStateTransition, "pending_run_completion"},
		"blocked gate approved": {change(inStatus(wire.StatusBlocked), func(s *run.State) {
			s.PendingPhaseTransition = &run.PendingTransition{
				To:   "build",
				Gate: "g",
			}
		}), inStatus(wire.StatusActive), "approve_transition", "", ""},
		"external": {inStatus(wire.StatusActive), change(inStatus(wire.StatusCompleted),
			func(s *run.State) { s.RunID, s.TurnSequence = new("run_9"), 1 }), OpExternal, "", ""},
		"external rewind": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.TurnSequence = 1 }), OpExternal, wire.CodeImmutableField, "turn_sequence"},
		"external other project": {inStatus(wire.StatusActive), change(inStatus(wire.StatusActive),
			func(s *run.State) { s.ProjectID = "q" }), OpExternal, wire.CodeImmutableField, "project_id"},
	} {
		t.Run(name, func(t *testing.T) {
			err := LegalTransition(tc.before, tc.after, tc.op)
			code, field := "", ""
			if err != nil {
				code, field = err.Code, err.Field
			}
			if code != tc.code || field != tc.field {
				t.Errorf("got %q %q (%v), want %q %q", code, field, err, tc.code, tc.field)
			}
		})
	}
}
