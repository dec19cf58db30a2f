// What the hooks of an assignment, a gate, a recorded acceptance and a blocked run are told (docs/hooks.md#phases).

package ophooks

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BeforeAssignment returns the call that asks whether turn may be assigned, in the project in dir.
func BeforeAssignment(dir string, cfg *config.Config, s *run.State, turn *run.Turn) (hooks.Call, error) {
	var role any
	if r := cfg.Role(turn.AssignedRole); r != nil {
		role = r.Raw
	}
	active := []*ojson.Object{}
	for _, a := range s.ActiveTurns.All() {
		active = append(active, ojson.NewObject("turn_id", a.TurnID, "role_id", a.AssignedRole,
			"status", a.Status, "attempt", a.Attempt))
	}
	n, err := historyLength(dir)
	if err != nil {
		return hooks.Call{}, err
	}
	return hooks.Call{
		Phase: "before_assignment",
		Payload: ojson.NewObject("role_id", turn.AssignedRole, "role_config", role, "phase", s.Phase,
			"active_turns", active, "history_length", n),
	}, nil
}

// BeforeGate returns the call that asks whether the waiting gate may be passed, in the project in
// dir.
func BeforeGate(dir string, s *run.State, completion bool) (hooks.Call, error) {
	kind, target, pending := "phase_transition", any(nil), (*ojson.Object)(nil)
	if completion {
		kind, pending = "run_completion", ojson.Marshal(s.PendingRunCompletion)
	} else {
		target, pending = s.PendingPhaseTransition.To, ojson.Marshal(s.PendingPhaseTransition)
	}
	n, err := historyLength(dir)
	if err != nil {
		return hooks.Call{}, err
	}
	return hooks.Call{Phase: "before_gate", Payload: ojson.NewObject("gate_type", kind, "current_phase", s.Phase,
		"target_phase", target, "gate_config", pending, "history_length", n)}, nil
}

// AfterAcceptance returns the call that reports a recorded acceptance; s is the state it led to.
func AfterAcceptance(s *run.State, res *protocol.AcceptResult) hooks.Call {
	turn := res.Turn
	seq, _ := res.Entry.Int("accepted_sequence")
	return hooks.Call{Phase: "after_acceptance", TurnID: turn.TurnID, Payload: ojson.NewObject(
		"turn_id", turn.TurnID, "role_id", turn.AssignedRole, "history_entry_index", seq-1,
		"accepted_integration_ref", s.AcceptedIntegrationRef,
		"decisions_count", len(res.Entry.Array("decisions")), "objections_count", len(res.Entry.Array("objections")),
		"run_status", string(s.Status), "phase", s.Phase)}
}

// Escalated reports whether an operation has blocked the run on something that on_escalation hooks
// are told about: anything but a hook, or one would call the next.
func Escalated(before, after *run.State) bool {
	r := after.BlockedReason
	if after.Status != wire.StatusBlocked || r == nil || r.Category == "hook_block" || r.Category == "hook_tamper" {
		return false
	}
	was := before.BlockedReason
	return before.Status != wire.StatusBlocked || was == nil || was.BlockedAt != r.BlockedAt ||
		was.Category != r.Category
}

// OnEscalation returns the call that reports what has blocked a run.
func OnEscalation(s *run.State, x *run.Index) hooks.Call {
	r := s.BlockedReason
	var turnID, role any
	attempt, id := 0, ""
	if r.TurnID != nil {
		id = *r.TurnID
		turnID = id
		if t, ok := s.ActiveTurns.Get(id); ok {
			role, attempt = t.AssignedRole, t.Attempt
		} else if row := x.LastRow; row.String("turn_id") == id {
			role = row.String("role")
			attempt, _ = row.Int("attempt")
		}
	}
	var detail any
	if r.Recovery.Detail != nil {
		detail = *r.Recovery.Detail
	}
	return hooks.Call{Phase: "on_escalation", RunID: s.Run(), TurnID: id, Payload: ojson.NewObject(
		"blocked_reason", r.Category, "recovery_action", r.Recovery.RecoveryAction, "failed_turn_id", turnID,
		"failed_role", role,
		"attempt_count", attempt, "last_error", detail, "run_id", s.Run())}
}

// historyLength counts the rows of history.jsonl.
func historyLength(dir string) (int, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(wire.LedgerHistory.Path())))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, projectfile.Unreadable(wire.LedgerHistory.Path(), err)
	}
	defer func() { _ = f.Close() }()
	n, buf := 0, make([]byte, 64<<10)
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, projectfile.Unreadable(wire.LedgerHistory.Path(), err)
		}
	}
}
