// ReissueTurn replaces an active turn with a new one (docs/spec/lifecycle.md#reissuing-a-turn).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ReissueTurn gives up a turn and hands its work to a new one, for the same or
// another role.
type ReissueTurn struct {
	TurnID   string        `json:"turn_id,omitempty"`
	Role     string        `json:"role,omitempty"` // "" keeps the role
	Reason   string        `json:"reason,omitempty"`
	Baseline *run.Baseline `json:"baseline"` // the work tree now; nil with Keep
	// Keep leaves the work under the baseline it started with, including commits made since.
	Keep bool `json:"keep_baseline,omitempty"`
	// Taken are commits made during the old turn that a person takes out of it: Baseline is taken after them.
	Taken    []commits.TakenCommit `json:"taken_commits,omitempty"`
	Staged   *evidence.Blob        `json:"staged,omitempty"`    // what the given-up turn had staged; kept, and charged
	LateMail []string              `json:"late_mail,omitempty"` // messages that the bundle lacks (mail.Deliver)
}

func (*ReissueTurn) Name() string               { return "reissue_turn" }
func (op *ReissueTurn) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Staged} }

// ReissueResult is the outcome of ReissueTurn.
type ReissueResult struct {
	Turn    *run.Turn
	OldTurn string
	Delta   *ojson.Object // baseline and binding differences, docs/spec/lifecycle.md#reissuing-a-turn
}

func (op *ReissueTurn) Apply(t *change.Draft) *wire.Error {
	old, err := t.Target(op.TurnID, "reissue")
	if err != nil {
		return err
	}
	s := t.State
	if s.Status != wire.StatusActive && s.Status != wire.StatusBlocked {
		return &wire.Error{
			Code:  wire.CodeInvalidStateTransition,
			Field: "status",
			Message: fmt.Sprintf("A turn can be reissued only while the run is active or blocked; it is %s.",
				s.Status),
			Hint: "git agentxchain status",
		}
	}
	role, err := op.role(t, old)
	if err != nil {
		return err
	}
	if s.Status == wire.StatusBlocked {
		if r := s.BlockedReason; r == nil || wire.OrEmpty(r.TurnID) != old.TurnID || !reissueResolves(r.Category) {
			return run.BlockedError(s, "reissue turn "+old.TurnID)
		}
		if err := t.OutsideTurn("lift the block of its own run", "git agentxchain reissue "+old.TurnID); err != nil {
			return err
		}
	}
	if err := solvent(t.Config, t.State); err != nil {
		return err
	}
	baseline, carried := op.Baseline, old.Carried
	if op.Keep {
		baseline = keptBaseline(t, old)
	} else {
		carried = carry(t, old, op.Baseline)
	}
	if len(op.Taken) > 0 {
		if err := t.OutsideTurn("take commits out of a turn",
			"git agentxchain reissue "+old.TurnID+" --take-commits"); err != nil {
			return err
		}
	}
	if err := op.mayHandOver(t, old, role, baseline); err != nil {
		return err
	}
	reason := wire.TrimSpace(op.Reason)
	if reason == "" {
		reason = "operator-initiated reissue"
	}
	turn := successor(t, old, role)
	turn.Baseline, turn.Carried = baseline, carried
	preserve(t, old, op.Staged)
	charge(t, stagedCost(op.Staged))
	t.Append(wire.LedgerHistory, ledger.BuildReissuedEntry(old, s.Run(), s.Phase, reason, t.Env.Now))
	t.Append(wire.LedgerDecisions, ledger.NewTurnReissuedEntry(turn.AssignedAt, old, role.ID, s.Phase, reason, baseline))
	takePlace(t, old, turn)
	pairs := []any{"old_turn_id", old.TurnID, "reason", reason, "old_head", headOf(old.Baseline), "new_head",
		headOf(baseline),
		"old_runtime", old.RuntimeID, "new_runtime", turn.RuntimeID, "old_role", old.AssignedRole, "new_role", role.ID}
	if len(op.Taken) > 0 {
		pairs = append(pairs, "taken_commits", takenRows(op.Taken))
	}
	t.Event("turn_reissued", turn, pairs...)
	if s.Status == wire.StatusBlocked {
		settleBlock(t, "turn_reissued")
	}
	attempt.Dispatch(t, turn)
	mail.Deliver(t, turn, op.LateMail)
	exhaustBudget(t, turn)
	t.About(turn)
	t.Session = "turn_reissued"
	t.Subject = fmt.Sprintf("reissue %s as %s (%s)", old.TurnID, turn.TurnID, role.ID)
	t.Result = &ReissueResult{Turn: turn, OldTurn: old.TurnID, Delta: BaselineDelta(old, turn)}
	return nil
}

// role returns the role of the new turn.
func (op *ReissueTurn) role(t *change.Draft, old *run.Turn) (*config.Role, *wire.Error) {
	roleID := op.Role
	if roleID == "" {
		roleID = old.AssignedRole
	}
	role := t.Config.Role(roleID)
	if role == nil {
		return nil, &wire.Error{
			Code:  wire.CodeUnknownRole,
			Field: "role",
			Message: fmt.Sprintf("Role %q is not defined in agentxchain.json (roles: %s).", roleID,
				wire.List(t.Config.Roles.Keys())),
		}
	}
	if _, ok := t.Config.Runtimes.Get(role.RuntimeID); !ok && role.RuntimeID != "manual" {
		return nil, &wire.Error{
			Code:    wire.CodeUnknownRuntime,
			Field:   "roles." + roleID + ".runtime",
			Message: fmt.Sprintf("Role %q is bound to runtime %q, which is not defined.", roleID, role.RuntimeID),
		}
	}
	return role, nil
}

// successor returns the turn that takes over the work of old, with its obligations.
func successor(t *change.Draft, old *run.Turn, role *config.Role) *run.Turn {
	s, now := t.State, t.Env.Time()
	s.TurnSequence++
	turn := &run.Turn{
		TurnID:            t.Env.ID("turn"),
		RunID:             s.Run(),
		AssignedRole:      role.ID,
		Status:            wire.TurnAssigned,
		Attempt:           old.Attempt + 1,
		AssignedAt:        now,
		StartedAt:         now,
		DeadlineAt:        wire.FormatTime(limits.TurnDeadline(t.Config, t.Env.Now)),
		RuntimeID:         role.RuntimeID,
		AssignedSequence:  s.TurnSequence,
		ConcurrentWith:    []string{},
		IntakeContext:     old.IntakeContext,
		DelegationContext: old.DelegationContext,
		DelegationReview:  old.DelegationReview,
		ReissuedFrom:      old.TurnID,
	}
	if v, ok := old.Extra.Get("idle_expansion_context"); ok {
		turn.Extra.Set("idle_expansion_context", v) // an obligation like the others
	}
	for _, id := range s.ActiveTurns.Keys() {
		if id != old.TurnID {
			turn.ConcurrentWith = append(turn.ConcurrentWith, id)
		}
	}
	for i, d := range s.DelegationQueue {
		if wire.OrEmpty(d.ChildTurnID) == old.TurnID {
			c := *d
			c.ChildTurnID = new(turn.TurnID)
			s.DelegationQueue[i] = &c
		}
	}
	return turn
}

// takePlace puts a turn in the place of another, in the run and in its budget.
func takePlace(t *change.Draft, old, turn *run.Turn) {
	s := t.State
	reservation, reserved := s.BudgetReservations.Get(old.TurnID)
	t.DropTurn(old.TurnID)
	s.ActiveTurns.Set(turn.TurnID, turn)
	if reserved {
		r := reservation.Clone()
		r.Set("role_id", turn.AssignedRole)
		r.Set("reissued_from", old.TurnID)
		s.BudgetReservations.Set(turn.TurnID, r)
	}
}

// mayHandOver checks a change of role against the rules of an assignment: routing, one turn per role, and a clean
// work tree for a role that writes.
func (op *ReissueTurn) mayHandOver(t *change.Draft, old *run.Turn, role *config.Role,
	baseline *run.Baseline) *wire.Error {
	if role.ID == old.AssignedRole {
		return nil
	}
	if err := t.Config.Routed(t.State.Phase, role.ID); err != nil {
		return err
	}
	for id, other := range t.State.ActiveTurns.All() {
		if id != old.TurnID && other.AssignedRole == role.ID {
			return &wire.Error{Code: wire.CodeRoleActive, Field: "role",
				Message: fmt.Sprintf("Role %q already has an active turn: %s.", role.ID, id), Hint: endTurn(other)}
		}
	}
	was := t.Config.Role(old.AssignedRole)
	if role.WriteAuthority == wire.ReviewOnly || was != nil && was.WriteAuthority != wire.ReviewOnly ||
		baseline == nil {
		return nil
	}
	var dirty []string
	for _, p := range baseline.DirtySnapshot.Keys() {
		if wire.ProjectOwned(p) {
			dirty = append(dirty, p)
		}
	}
	if len(dirty) > 0 {
		return dirtyError(t, dirty)
	}
	return nil
}

func takenRows(taken []commits.TakenCommit) []*ojson.Object {
	var out []*ojson.Object
	for _, c := range taken {
		out = append(out, ojson.NewObject("commit", c.Commit, "author", c.Author, "subject", c.Subject,
			"files", wire.NonNil(c.Files)))
	}
	return out
}

func reissueResolves(category string) bool {
	switch category {
	case "retries_exhausted", "ghost_turn", "stale_turn", "conflict_loop", "dispatch_error", "hook_block":
		return true
	}
	return false
}

func headOf(b *run.Baseline) any {
	if b == nil {
		return nil
	}
	return ojson.Of(b.HeadRef)
}

// BaselineDelta says what changed between the old and the new turn's start.
func BaselineDelta(old, turn *run.Turn) *ojson.Object {
	added, removed := []string{}, []string{}
	var before, after ojson.Map[string]
	if old.Baseline != nil {
		before = old.Baseline.DirtySnapshot
	}
	if turn.Baseline != nil {
		after = turn.Baseline.DirtySnapshot
	}
	for _, p := range after.Keys() {
		if !before.Has(p) {
			added = append(added, p)
		}
	}
	for _, p := range before.Keys() {
		if !after.Has(p) {
			removed = append(removed, p)
		}
	}
	oh, nh := headOf(old.Baseline), headOf(turn.Baseline)
	return ojson.NewObject("head_changed", oh != nh, "old_head", oh, "new_head", nh,
		"runtime_changed", old.RuntimeID != turn.RuntimeID,
		"old_runtime", old.RuntimeID, "new_runtime", turn.RuntimeID,
		"dirty_files_changed", len(added)+len(removed) > 0,
		"added_dirty_files", added, "removed_dirty_files", removed)
}
