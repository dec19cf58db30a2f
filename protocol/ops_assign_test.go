// Tests of AssignTurn.

package protocol

import (
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestAssignTurn(t *testing.T) {
	w := startedWorld(t, sets("timeouts", obj(`{"per_turn_minutes": 30}`)))
	tr := w.must(w.assignment(""))
	turn := tr.Result.(*AssignResult).Turn
	w.wantEvents(tr, "turn_dispatched")
	if turn.AssignedRole != "pm" || turn.Status != wire.TurnDispatched || turn.Attempt != 1 ||
		turn.AssignedSequence != 1 || turn.RunID != w.state.Run() || turn.StartedAt != "" {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(turn)))
	}
	if turn.DeadlineAt != wire.FormatTime(w.now.Add(30*time.Minute)) || turn.AssignedAt != wire.FormatTime(w.now) {
		t.Errorf("assigned %s deadline %s", turn.AssignedAt, turn.DeadlineAt)
	}
	if w.reason(tr) != "turn_assigned" || len(tr.Appends) != 1 || w.state.TurnSequence != 1 {
		t.Errorf("session %q, %d appends, sequence %d", w.reason(tr), len(tr.Appends), w.state.TurnSequence)
	}
	op := w.assignment("dev")
	op.Undispatched = true
	tr = w.must(op)
	w.wantEvents(tr, "")
	if second := tr.Result.(*AssignResult).Turn; second.Status != wire.TurnAssigned || second.StartedAt == "" ||
		second.ConcurrentWith[0] != turn.TurnID {
		t.Errorf("turn %s", ojson.Compact(ojson.Marshal(second)))
	}
}

func TestAssignTurnGuards(t *testing.T) {
	sequential := sets("routing.planning.max_concurrent_turns", 1)
	for name, tc := range map[string]struct {
		edit  func(*ojson.Object)
		setup func(w *opsWorld)
		role  string
		code  string
	}{
		"idle": {
			setup: func(w *opsWorld) { w.edit(func(s *run.State) { *s = *run.FreshState(w.cfg, "") }) },
			code:  wire.CodeInvalidStateTransition,
		},
		"blocked":      {setup: func(w *opsWorld) { w.must(&Escalate{Reason: "x"}) }, code: wire.CodeRunBlocked},
		"unknown role": {role: "nobody", code: wire.CodeUnknownRole},
		"sequential": {
			edit:  sequential,
			setup: func(w *opsWorld) { w.assign("pm") },
			role:  "dev",
			code:  wire.CodeTurnActive,
		},
		"same role": {setup: func(w *opsWorld) { w.assign("pm") }, role: "pm", code: wire.CodeRoleActive},
		"capacity": {
			edit:  sets("routing.planning.max_concurrent_turns", 2),
			setup: func(w *opsWorld) { w.assign("pm"); w.assign("qa") },
			role:  "dev",
			code:  wire.CodeAtCapacity,
		},
		"dirty tree": {
			setup: func(w *opsWorld) { w.write("notes.txt", "mine") },
			role:  "dev",
			code:  wire.CodeDirtyTree,
		},
		"routing enforced": {
			edit: sets("rules.enforce_routing", true, "routing.planning.allowed_next_roles", []string{"pm", "human"}),
			role: "dev",
			code: wire.CodeRoleNotRouted,
		},
		"budget gone": {
			edit:  sets("budget", obj(`{"per_run_max_usd": 1}`)),
			setup: func(w *opsWorld) { w.edit(func(s *run.State) { s.BudgetStatus.SpentUSD = 1 }) },
			role:  "pm",
			code:  wire.CodeBudgetExhausted,
		},
		"reservations": {edit: sets("budget", obj(`{"per_run_max_usd": 1, "per_turn_max_usd": 0.6}`)),
			setup: func(w *opsWorld) { w.assign("pm") }, role: "dev", code: wire.CodeBudgetExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			w := startedWorld(t, tc.edit)
			if tc.setup != nil {
				tc.setup(w)
			}
			w.fails(tc.code, w.assignment(tc.role))
		})
	}
}

func TestAssignTurnPaused(t *testing.T) {
	w := paused(t, nil)
	w.fails(wire.CodeAwaitingApproval, w.assignment("pm"))
}

func TestAssignTurnCompleted(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", false)).inPhase("ship")
	w.accept(w.assign("qa").TurnID, "run_completion_request", true)
	w.wantStatus(wire.StatusCompleted, "")
	w.fails(wire.CodeInvalidStateTransition, w.assignment("pm"))
}

func TestAssignDirtyTree(t *testing.T) {
	// Reviewers may start on a dirty tree, and orchestrator files never count.
	w := startedWorld(t, nil).inPhase("build")
	w.write("TALK.md", "x")
	dev := w.assign("dev")
	w.write("src/a.go", "a")
	w.accept(dev.TurnID, "files_changed", []string{"src/a.go"})
	w.assign("qa")
	tr := w.assignment("dev")
	w.fails(wire.CodeCheckpointRequired, tr)
	w.write("other.txt", "operator's")
	w.fails(wire.CodeDirtyTree, w.assignment("dev"))
	delete(w.work, "other.txt")
	w.must(w.checkpointOf(dev.TurnID))
	w.assign("dev")
}

func TestAssignReservation(t *testing.T) {
	w := startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 10, "per_turn_max_usd": 2}`)))
	turn := w.assign("pm")
	r, _ := w.state.BudgetReservations.Get(turn.TurnID)
	if usd, _ := r.Float("reserved_usd"); usd != 2 || r.String("role_id") != "pm" {
		t.Errorf("reservation %s", ojson.Compact(r))
	}
	// Warn mode reserves beyond the limit.
	w = startedWorld(t, sets("budget", obj(`{"per_run_max_usd": 3, "per_turn_max_usd": 2, "on_exceed": "warn"}`)))
	w.assign("pm")
	w.assign("dev")
}

func TestAssignWarnsOutsideRouting(t *testing.T) {
	w := startedWorld(t, sets("routing.planning.allowed_next_roles", []string{"pm", "human"}))
	tr := w.must(w.assignment("dev"))
	if len(tr.Result.(*AssignResult).Warnings) != 1 {
		t.Error("no warning")
	}
}

// paused returns a run that waits for the approval of the planning gate.
func paused(t testingT, edit func(*ojson.Object)) *opsWorld {
	t.Helper()
	w := startedWorld(t, edit)
	w.write("docs/plan.md", "plan")
	w.commit()
	w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	return w
}
