// Tests of the legal status changes and the immutable members.

package protocol

import (
	"strings"
	"testing"
)

// inStatus is a minimal state that satisfies what its status requires.
func inStatus(st Status) *State {
	s := &State{SchemaVersion: StateSchema, RunID: ptr("run_1"), ProjectID: "p", Status: st, Phase: "planning", CreatedAt: ptr("2026-01-01T00:00:00.000Z"), TurnSequence: 4}
	switch st {
	case StatusIdle:
		s.RunID, s.CreatedAt, s.TurnSequence = nil, nil, 0
	case StatusPaused:
		s.PendingPhaseTransition = &PendingTransition{From: "planning", To: "build", Gate: "g1"}
		s.BlockedOn = ptr("human_approval:g1")
	case StatusBlocked:
		s.BlockedOn = ptr("human:x")
		s.BlockedReason = DescribeBlock(s, "human:x", "")
	case StatusCompleted:
		s.CompletedAt = ptr("2026-01-02T00:00:00.000Z")
	}
	return s
}

func TestLegalTransitionTable(t *testing.T) {
	all := []Status{StatusIdle, StatusActive, StatusPaused, StatusBlocked, StatusCompleted, StatusFailed}
	want := map[string]string{
		"scaffold":           "idle>idle",
		"init_run":           "idle>active blocked>active completed>active failed>active",
		"assign_turn":        "active>active active>blocked",
		"accept_turn":        "active>active active>paused active>blocked active>completed paused>paused blocked>active blocked>paused blocked>blocked blocked>completed",
		"reject_turn":        "active>active active>blocked paused>paused blocked>active blocked>blocked",
		"reissue_turn":       "active>active active>blocked paused>paused blocked>active blocked>blocked",
		"approve_transition": "paused>active paused>paused paused>blocked blocked>blocked",
		OpDeny:               "paused>active",
		"approve_completion": "paused>paused paused>blocked blocked>blocked",
		"escalate":           "active>blocked",
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
				if op == "init_run" && to == StatusActive {
					after.RunID, after.CreatedAt, after.TurnSequence = ptr("run_2"), ptr("2026-02-01T00:00:00.000Z"), 0
				} else if after.RunID == nil || before.RunID == nil {
					after.RunID, after.CreatedAt, after.TurnSequence = before.RunID, before.CreatedAt, before.TurnSequence
				}
				err := LegalTransition(before, after, op)
				if err == nil {
					got = append(got, string(from)+">"+string(to))
				} else if err.Code != CodeInvalidStateTransition {
					t.Errorf("%s %s>%s: %s", op, from, to, err.Code)
				}
			}
		}
		if g := strings.Join(got, " "); g != edges {
			t.Errorf("%s:\n got %s\nwant %s", op, g, edges)
		}
	}
	if err := LegalTransition(nil, inStatus(StatusIdle), "scaffold"); err != nil {
		t.Error(err)
	}
	if err := LegalTransition(nil, inStatus(StatusActive), "accept_turn"); err == nil {
		t.Error("nothing cannot be accepted")
	}
}

func TestLegalTransitionConditions(t *testing.T) {
	change := func(s *State, f func(*State)) *State { f(s); return s }
	for name, tc := range map[string]struct {
		before, after *State
		op, code      string
		field         string
	}{
		"run id":                  {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.RunID = ptr("run_2") }), OpTransitionState, CodeImmutableField, "run_id"},
		"run id lost":             {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.RunID = nil }), "accept_turn", CodeImmutableField, "run_id"},
		"run id from nowhere":     {change(inStatus(StatusActive), func(s *State) { s.RunID = nil }), inStatus(StatusActive), "accept_turn", CodeImmutableField, "run_id"},
		"project":                 {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.ProjectID = "q" }), "accept_turn", CodeImmutableField, "project_id"},
		"project in a new run":    {inStatus(StatusCompleted), change(inStatus(StatusActive), func(s *State) { s.RunID, s.ProjectID = ptr("run_2"), "q" }), "init_run", CodeImmutableField, "project_id"},
		"counter":                 {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.TurnSequence = 3 }), "accept_turn", CodeImmutableField, "turn_sequence"},
		"created":                 {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.CreatedAt = nil }), "accept_turn", CodeImmutableField, "created_at"},
		"same run again":          {inStatus(StatusCompleted), inStatus(StatusActive), "init_run", CodeInvalidStateTransition, "run_id"},
		"phase by assignment":     {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.Phase = "build" }), "assign_turn", CodeInvalidStateTransition, "phase"},
		"phase by acceptance":     {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.Phase = "build" }), "accept_turn", "", ""},
		"active but blocked":      {inStatus(StatusBlocked), change(inStatus(StatusActive), func(s *State) { s.BlockedOn = ptr("x") }), "reactivate", CodeInvalidStateTransition, "blocked_on"},
		"reactivated past a gate": {inStatus(StatusPaused), inStatus(StatusActive), "reactivate", CodeInvalidStateTransition, "status"},
		"reactivated pause":       {change(inStatus(StatusPaused), func(s *State) { s.PendingPhaseTransition = nil }), inStatus(StatusActive), "reactivate", "", ""},
		"pause without gate":      {inStatus(StatusActive), change(inStatus(StatusPaused), func(s *State) { s.PendingPhaseTransition = nil }), OpTransitionState, CodeInvalidStateTransition, "pending_phase_transition"},
		"block without cause":     {inStatus(StatusActive), change(inStatus(StatusBlocked), func(s *State) { s.BlockedOn = nil }), "block", CodeInvalidStateTransition, "blocked_on"},
		"block without way out":   {inStatus(StatusActive), change(inStatus(StatusBlocked), func(s *State) { s.BlockedReason = nil }), "block", CodeInvalidStateTransition, "blocked_reason"},
		"completed without time":  {inStatus(StatusActive), change(inStatus(StatusCompleted), func(s *State) { s.CompletedAt = nil }), "accept_turn", CodeInvalidStateTransition, "completed_at"},
		"completed with turns":    {inStatus(StatusActive), change(inStatus(StatusCompleted), func(s *State) { s.ActiveTurns.Set("t", &Turn{TurnID: "t"}) }), "accept_turn", CodeInvalidStateTransition, "active_turns"},
		"completion approved":     {change(inStatus(StatusPaused), func(s *State) { s.PendingPhaseTransition, s.PendingRunCompletion = nil, &PendingCompletion{Gate: "g"} }), inStatus(StatusCompleted), "approve_completion", "", ""},
		"completion not pending":  {inStatus(StatusPaused), inStatus(StatusCompleted), "approve_completion", CodeInvalidStateTransition, "pending_run_completion"},
		"blocked gate approved":   {change(inStatus(StatusBlocked), func(s *State) { s.PendingPhaseTransition = &PendingTransition{To: "build", Gate: "g"} }), inStatus(StatusActive), "approve_transition", "", ""},
		"external":                {inStatus(StatusActive), change(inStatus(StatusCompleted), func(s *State) { s.RunID, s.TurnSequence = ptr("run_9"), 1 }), OpExternal, "", ""},
		"external rewind":         {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.TurnSequence = 1 }), OpExternal, CodeImmutableField, "turn_sequence"},
		"external other project":  {inStatus(StatusActive), change(inStatus(StatusActive), func(s *State) { s.ProjectID = "q" }), OpExternal, CodeImmutableField, "project_id"},
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
