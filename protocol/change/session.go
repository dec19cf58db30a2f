// session.json: the recovery hint written at governance boundaries (docs/spec/state.md#session).

package change

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BuildSession returns session.json after an operation. prev is the previous document, or nil: its id, start and
// unknown members are kept while the run is the same; another run starts another session. reason is the checkpoint
// reason, e.g. turn_assigned, turn_accepted, blocked, phase_approved, run_completed. state.json always takes
// precedence.
func BuildSession(prev *ojson.Object, s *run.State, reason string, env *Env) *ojson.Object {
	now := env.Time()
	o := prev.Clone()
	if o == nil || o.String("run_id") != s.Run() || o.String("session_id") == "" {
		o = ojson.NewObject("session_id", env.ID("session"), "run_id", ojson.OrNull(s.Run()), "started_at", now)
	}
	if o.String("started_at") == "" {
		o.Set("started_at", now)
	}
	active := s.ActiveTurns.Keys()
	lastTurn, lastRole := wire.OrEmpty(s.LastCompletedTurnID), o.String("last_role")
	dispatchDir := ""
	if n := len(active); n > 0 {
		t, _ := s.ActiveTurns.Get(active[n-1])
		lastTurn, lastRole = t.TurnID, t.AssignedRole
		dispatchDir = wire.BundleDir(t.TurnID)
	}
	pendingGate, pendingCompletion := "", any(nil)
	if p := s.PendingPhaseTransition; p != nil {
		pendingGate = p.Gate
	}
	if s.PendingRunCompletion != nil {
		pendingCompletion = true
	}
	for _, m := range []struct {
		key string
		v   any
	}{
		{"last_checkpoint_at", now},
		{"checkpoint_reason", reason},
		{"run_status", string(s.Status)},
		{"phase", s.Phase},
		{"last_phase", s.Phase},
		{"last_turn_id", ojson.OrNull(lastTurn)},
		{"last_completed_turn_id", s.LastCompletedTurnID},
		{"active_turn_ids", wire.NonNil(active)},
		{"last_role", ojson.OrNull(lastRole)},
		{"pending_gate", ojson.OrNull(pendingGate)},
		{"pending_run_completion", pendingCompletion},
		{"blocked", s.Status == wire.StatusBlocked},
		{"baseline_ref", ojson.NewObject("git_head", ojson.OrNull(env.Git.Head),
			"git_branch", ojson.OrNull(env.Git.Branch), "workspace_dirty", env.Git.Dirty)},
		{"agent_context", ojson.NewObject("adapter", nil, "dispatch_dir", ojson.OrNull(dispatchDir))},
	} {
		o.Set(m.key, m.v)
	}
	return o
}
