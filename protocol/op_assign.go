// AssignTurn gives a role its next turn (docs/spec/lifecycle.md#assigning-a-turn).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AssignTurn assigns and dispatches a turn. The caller writes the dispatch
// bundle in the same commit, so the turn leaves the operation as dispatched.
type AssignTurn struct {
	// "" resolves the next role (docs/spec/lifecycle.md#assigning-a-turn)
	Role     string        `json:"role"`
	Baseline *run.Baseline `json:"baseline"`
	Dirty    []string      `json:"dirty"` // dirty project-owned paths at assignment
	// all gate documents, where the configuration has authority
	Documents []gates.DocumentFact `json:"documents,omitempty"`
	// leave the turn as assigned; another step dispatches it
	Undispatched bool           `json:"undispatched,omitempty"`
	Intake       []intents.File `json:"intake,omitempty"`    // intents waiting on disk, and recorded ones
	NoIntent     bool           `json:"no_intent,omitempty"` // bind no intent
	// a person wants to take back the request of a waiting gate
	LeaveGate bool     `json:"leave_gate,omitempty"`
	LateMail  []string `json:"late_mail,omitempty"` // messages that the bundle lacks (mail.Deliver)
}

func (*AssignTurn) Name() string { return "assign_turn" }

func (op *AssignTurn) Blobs() []*evidence.Blob {
	var out []*evidence.Blob
	for i := range op.Intake {
		out = append(out, op.Intake[i].Blob)
	}
	return out
}

// AssignResult is the outcome of AssignTurn.
type AssignResult struct {
	Turn     *run.Turn
	Warnings []string
	Left     string // the gate whose request was taken back, "" for none
}

func (op *AssignTurn) Apply(t *change.Draft) *wire.Error {
	s, left := t.State, ""
	switch {
	case s.Status == wire.StatusBlocked:
		return run.BlockedError(s, "assign a turn")
	case s.Status == wire.StatusPaused:
		var err *wire.Error
		if left, err = op.leaveGate(t); err != nil {
			return err
		}
	case s.Status != wire.StatusActive:
		return &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "status",
			Message: fmt.Sprintf("A turn can be assigned only in an active run; this one is %s.", s.Status),
			Hint:    "git agentxchain status",
		}
	}
	t.Says(verdict.RuleStatus, string(s.Status), "", verdict.Pass, "")
	unread := intents.Take(t, op.Intake)
	asked := op.Role
	if asked == "" && !op.NoIntent {
		asked = intents.UrgentRole(t)
	}
	id, warnings, err := ResolveRole(t.Config, s, asked)
	traceRole(t, id, warnings, err)
	if err != nil {
		return err
	}
	warnings = append(warnings, unread...)
	role := t.Config.Role(id)
	if role == nil {
		return &wire.Error{
			Code:  wire.CodeUnknownRole,
			Field: "role",
			Message: fmt.Sprintf("Role %q is not defined in agentxchain.json (roles: %s).", id,
				wire.List(t.Config.Roles.Keys())),
		}
	}
	if role.RuntimeID == "" {
		return &wire.Error{
			Code:    wire.CodeUnknownRuntime,
			Field:   "roles." + id + ".runtime",
			Message: fmt.Sprintf("Role %q is bound to no runtime.", id),
		}
	}
	if err := t.Config.Routed(t.State.Phase, id); err != nil {
		return t.Rule(verdict.RuleRole, id, "/rules/enforce_routing", err)
	}
	most := gates.Pointer("routing", s.Phase, "max_concurrent_turns")
	if err := t.Rule(verdict.RuleCapacity, s.Phase, most, capacity(t, id, t.Config.Route(s.Phase))); err != nil {
		return err
	}
	reserved, err := reserve(t.Config, s, id)
	if t.Rule(verdict.RuleBudgetTurn, id, "/budget", err) != nil {
		return err
	}
	if role.WriteAuthority != wire.ReviewOnly && len(op.Dirty) > 0 {
		return t.Rule(verdict.RuleClean, id, gates.Pointer("roles", id, "write_authority"), dirtyError(t, op.Dirty))
	}

	markDocuments(t, op.Documents, s.ActiveTurns.Len() == 0, false)
	now := t.Env.Now
	s.TurnSequence++
	turn := &run.Turn{
		TurnID:       t.Env.ID("turn"),
		RunID:        s.Run(),
		AssignedRole: id,
		Status:       wire.TurnAssigned,
		Attempt:      1,
		AssignedAt:   wire.FormatTime(now),
		StartedAt:    wire.FormatTime(now),
		DeadlineAt: wire.FormatTime(
			limits.TurnDeadline(t.Config, now)),
		RuntimeID:        role.RuntimeID,
		Baseline:         op.Baseline,
		AssignedSequence: s.TurnSequence,
		ConcurrentWith:   append([]string{}, s.ActiveTurns.Keys()...),
	}
	if op.NoIntent || !intents.Bind(t, turn, true) {
		bindDelegation(t, turn)
		charters.Bind(t, turn)
		if !op.NoIntent {
			intents.Bind(t, turn, false)
		}
	}
	s.ActiveTurns.Set(turn.TurnID, turn)
	if reserved != nil {
		s.BudgetReservations.Set(turn.TurnID,
			ojson.NewObject("reserved_usd", *reserved, "role_id", id, "created_at", wire.FormatTime(now)))
	}
	if !op.Undispatched {
		attempt.Dispatch(t, turn)
		mail.Deliver(t, turn, op.LateMail)
	}
	t.About(turn)
	t.Session = "turn_assigned"
	t.Subject = fmt.Sprintf("assign %s to %s (%s)", turn.TurnID, id, s.Phase)
	t.Result = &AssignResult{Turn: turn, Warnings: warnings, Left: left}
	return nil
}

// capacity applies the concurrency rules of docs/spec/lifecycle.md#assigning-a-turn.
func capacity(t *change.Draft, role string, route *config.Route) *wire.Error {
	limit := 1
	if route != nil && route.MaxConcurrentTurns > 0 {
		limit = route.MaxConcurrentTurns
	}
	n := t.State.ActiveTurns.Len()
	for id, turn := range t.State.ActiveTurns.All() {
		if limit == 1 {
			return &wire.Error{Code: wire.CodeTurnActive, Field: "turn_id",
				Message: fmt.Sprintf("Turn %s is already assigned to %s; phase %q runs one turn at a time.", id,
					turn.AssignedRole, t.State.Phase),
				Hint: endTurn(turn)}
		}
		if turn.AssignedRole == role {
			return &wire.Error{Code: wire.CodeRoleActive, Field: "role",
				Message: fmt.Sprintf("Role %q already has an active turn: %s.", role, id), Hint: endTurn(turn)}
		}
	}
	if n >= limit {
		return &wire.Error{
			Code:    wire.CodeAtCapacity,
			Message: fmt.Sprintf("%d turns are active and phase %q allows %d.", n, t.State.Phase, limit),
			Hint:    "git agentxchain status",
		}
	}
	return nil
}

// endTurn says how to end a turn that stands in the way of another.
func endTurn(t *run.Turn) string {
	switch t.Status {
	case wire.TurnFailed, wire.TurnFailedStart, wire.TurnStalled:
		return "git agentxchain reissue " + t.TurnID
	case wire.TurnConflicted:
		return "git agentxchain reject " + t.TurnID + " --reassign"
	}
	return "stage its result, then: git agentxchain accept " + t.TurnID
}

// reserve returns what the turn may cost; nil without a limit.
func reserve(cfg *config.Config, s *run.State, role string) (*float64, *wire.Error) {
	b := cfg.Budget
	remaining := s.BudgetStatus.RemainingUSD
	if b == nil || remaining == nil {
		return nil, nil
	}
	if err := solvent(cfg, s); err != nil {
		return nil, err
	}
	if b.PerTurnMaxUSD == nil || *b.PerTurnMaxUSD <= 0 {
		return nil, nil
	}
	available := *remaining
	for _, r := range s.BudgetReservations.All() {
		usd, _ := r.Float("reserved_usd")
		available -= usd
	}
	if *b.PerTurnMaxUSD > available && !warnOnly(cfg) {
		return nil, &wire.Error{Code: wire.CodeBudgetExhausted, Field: "budget.per_turn_max_usd",
			Message: fmt.Sprintf("A turn of role %q may cost $%.2f, but only $%.2f is left after reservations.", role,
				*b.PerTurnMaxUSD, max(0, available)),
			Hint: "raise budget.per_run_max_usd in agentxchain.json, then: " + run.CmdAdopt}
	}
	return new(*b.PerTurnMaxUSD), nil
}

// dirtyError explains why a writing role cannot start on a dirty tree: either accepted turns wait for their
// checkpoint, or the changes are a user's. Of turns that ran side by side, every waiting one is named in the order
// of acceptance (turn_ids), and turn_id is the first.
func dirtyError(t *change.Draft, dirty []string) *wire.Error {
	if wait := t.Index.Awaiting(dirty); len(wait) > 0 && owned(t, dirty) {
		e := &wire.Error{Code: wire.CodeCheckpointRequired, Field: "work_tree",
			Message: fmt.Sprintf("Accepted turn %s is not checkpointed yet; its changes are still uncommitted.",
				wait[0]),
			Hint:    "git agentxchain checkpoint " + wait[0],
			Details: ojson.NewObject("turn_id", wait[0], "files", dirty)}
		if len(wait) > 1 {
			e.Message = fmt.Sprintf(
				"%d accepted turns are not checkpointed yet (%s); their changes are still uncommitted.", len(wait),
				wire.ListSome(wait, 3))
			e.Details.Set("turn_ids", wait)
		}
		return e
	}
	return &wire.Error{Code: wire.CodeDirtyTree, Field: "work_tree",
		Message: fmt.Sprintf(
			"The work tree has uncommitted changes (%s); a turn that writes code starts from a clean one.",
			wire.ListSome(dirty, 5)),
		Hint:    "commit them (or git agentxchain checkpoint for an accepted turn), then: git agentxchain assign",
		Details: ojson.NewObject("files", dirty)}
}

// owned reports whether accepted turns account for every dirty path.
func owned(t *change.Draft, dirty []string) bool {
	return !slices.ContainsFunc(dirty, func(p string) bool { return !t.Index.Uncheckpointed.Has(p) })
}

// bindDelegation attaches the delegation or the review that the turn is for.
func bindDelegation(t *change.Draft, turn *run.Turn) {
	s := t.State
	for i, d := range s.DelegationQueue {
		if d.Status == "pending" && d.ToRole == turn.AssignedRole {
			d := *d
			d.Status, d.ChildTurnID = "active", new(turn.TurnID)
			s.DelegationQueue[i] = &d
			turn.DelegationContext = ojson.NewObject("delegation_id", d.DelegationID, "parent_turn_id", d.ParentTurnID,
				"parent_role", d.ParentRole,
				"charter", d.Charter, "acceptance_contract", d.AcceptanceContract,
				"required_decision_ids", d.RequiredDecisionIDs)
			return
		}
	}
	if r := s.PendingDelegation; r != nil && r.ParentRole == turn.AssignedRole {
		turn.DelegationReview = ojson.NewObject("parent_turn_id", r.ParentTurnID, "results", r.Results)
	}
}
