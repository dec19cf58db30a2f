// Asking for a gate, approving it and refusing it (docs/coordinator.md#gates).

package initiative

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Request asks a person for the gate that ev found ready. The initiative pauses
// until they decide. Errors: invalid_state_transition unless the initiative is
// active and no gate waits; gate_failed when ev is not ready, with the blockers
// in Problems.
func Request(w *Workspace, ev *Evaluation, env protocol.Env) (*Change, *wire.Error) {
	s := w.State
	switch {
	case s.PendingGate != nil:
		return nil, &wire.Error{
			Code:    wire.CodeInvalidStateTransition,
			Field:   "pending_gate",
			Message: fmt.Sprintf("Gate %s waits for a decision already.", s.PendingGate.Gate),
		}
	case s.Status != StatusActive:
		return nil, notIn(s, "A gate can be asked for only while the initiative is active", StatusActive)
	case !ev.Ready:
		return nil, ev.Refusal()
	}
	c := &Change{State: s.Clone()}
	c.State.Status, c.State.UpdatedAt = StatusPaused, env.Time()
	c.State.PendingGate = &PendingGate{
		GateType:      ev.Type,
		Gate:          ev.Gate,
		RequiredRepos: append([]string{}, ev.RequiredRepos...),
		HumanBarriers: append([]string{}, ev.HumanBarriers...),
		RequestedAt:   env.Time(),
	}
	if ev.Type == GateCompletion {
		c.Record(w, &env, rowFinishAsked, "gate", ev.Gate, "required_repos", ev.RequiredRepos,
			"human_barriers", c.State.PendingGate.HumanBarriers)
		c.Decide(w, &env, s.Phase, decidedCompletion, "Asked for the completion of the initiative at gate "+ev.Gate,
			"gate", ev.Gate)
		return c, nil
	}
	c.State.PendingGate.From, c.State.PendingGate.To = ev.From, ev.To
	c.Record(w, &env, rowPhaseAsked, "gate", ev.Gate, "from", ev.From, "to", ev.To, "required_repos",
		ev.RequiredRepos, "human_barriers", c.State.PendingGate.HumanBarriers)
	c.Decide(w, &env, s.Phase, decidedPhase, fmt.Sprintf("Asked to go from phase %s to %s", ev.From, ev.To), "gate",
		ev.Gate, "from", ev.From, "to", ev.To)
	return c, nil
}

// Reevaluate judges the pending gate in the present situation; nil when none waits.
func Reevaluate(w *Workspace, children Children) *Evaluation {
	g := w.State.PendingGate
	if g == nil {
		return nil
	}
	var e *Evaluation
	if g.GateType == GateCompletion {
		e = EvaluateCompletion(w, children)
	} else {
		e = EvaluatePhase(w, children, g.To)
	}
	for _, repo := range g.RequiredRepos {
		if !slices.Contains(e.RequiredRepos, repo) && slices.Contains(w.Config.Phases(), w.State.Phase) {
			e.block(BlockNotAsked, fmt.Sprintf("The gate was requested for repository %s too, and %s no longer asks for it.",
				repo, ConfigFile), "repo_id", repo)
		}
	}
	e.Ready, e.pending = len(e.Blockers) == 0, true
	return e
}

// Approve passes the pending gate. It judges the gate again first: what was ready when a person was asked may no
// longer be, and a blocked initiative must recover before it goes on (docs/siblings.md). y is what people said and
// were asked; it and the tally are nil where no rule asks for particular people. While more people are needed the
// change leaves the gate waiting. Errors: nothing_pending, run_blocked, invalid_state_transition, gate_failed, and
// those of agreement.Moment.Agree.
func Approve(w *Workspace, children Children, y *Yes, env protocol.Env) (*Change, *agreement.Tally, *wire.Error) {
	s := w.State
	ev := Reevaluate(w, children)
	if e := Decidable(s, "approved"); e != nil {
		return nil, nil, e
	}
	if !ev.Ready {
		return nil, nil, ev.Refusal()
	}
	sum, refusal := y.count(s, &env)
	if refusal != nil {
		return nil, nil, refusal
	}
	if sum != nil && !sum.Reached() {
		return y.vote(w, sum, &env), sum, nil
	}
	c := pass(w, ev, &env)
	row := c.History[len(c.History)-1]
	row.Set("approved_by", person(env.Actor))
	if sum != nil {
		row.Set("approval", y.object(s.Phase, sum))
	}
	return c, sum, nil
}

// pass returns the change of a passed gate.
func pass(w *Workspace, ev *Evaluation, env *protocol.Env) *Change {
	s, g := w.State, w.State.PendingGate
	c := &Change{State: s.Clone()}
	c.State.PendingGate, c.State.UpdatedAt, c.State.BlockedReason = nil, env.Time(), ""
	c.State.PhaseGateStatus.Set(g.Gate, "passed")
	for _, id := range ev.HumanBarriers {
		b := w.Barriers.Get(id)
		after := *b
		after.Status, after.ApprovedAt = Satisfied, env.Time()
		c.put(w, &after)
		c.transition(b, Satisfied, env,
			ojson.NewObject("super_run_id", s.SuperRunID, "gate_type", g.GateType, "gate", g.Gate, "approved_by", "human"))
	}
	if g.GateType == GateCompletion {
		c.State.Status, c.State.CompletedAt = StatusCompleted, env.Time()
		c.Record(w, env, rowFinishApproved, "gate", g.Gate)
		c.Decide(w, env, s.Phase, decidedCompletion, "Approved the completion of the initiative at gate "+g.Gate,
			"gate", g.Gate)
		return c
	}
	c.State.Status, c.State.Phase = StatusActive, g.To
	c.Record(w, env, rowPhaseApproved, "gate", g.Gate, "from", g.From, "to", g.To)
	c.Decide(w, env, g.To, decidedPhase, fmt.Sprintf("Approved going from phase %s to %s", g.From, g.To), "gate",
		g.Gate, "from", g.From, "to", g.To)
	return c
}

// Deny takes the pending gate back: work goes on in the present phase. Errors: nothing_pending, run_blocked,
// invalid_state_transition, reason_required.
func Deny(w *Workspace, reason string, env protocol.Env) (*Change, *wire.Error) {
	s := w.State
	if e := Decidable(s, "denied"); e != nil {
		return nil, e
	}
	if _, ok := textOf(reason); !ok {
		return nil, &wire.Error{
			Code:    wire.CodeReasonRequired,
			Field:   "reason",
			Message: "A gate is denied for a reason; those who work on need to know it.",
		}
	}
	g := s.PendingGate
	c := &Change{State: s.Clone()}
	c.State.PendingGate, c.State.Status, c.State.UpdatedAt = nil, StatusActive, env.Time()
	category := decidedPhase
	if g.GateType == GateCompletion {
		category = decidedCompletion
	}
	c.Record(w, &env, rowDenied, "gate", g.Gate, "gate_type", g.GateType, "reason", reason,
		"denied_by", person(env.Actor))
	c.Decide(w, &env, s.Phase, category, "Denied gate "+g.Gate, "gate", g.Gate, "from", g.From, "to", g.To, "reason",
		reason)
	return c, nil
}

// Decidable refuses to decide on a gate that is not waiting.
func Decidable(s *State, verb string) *wire.Error {
	switch {
	case s.PendingGate == nil:
		return &wire.Error{
			Code:    wire.CodeNothingPending,
			Message: "No gate of the initiative waits for a decision.",
			Hint:    "git agentxchain multi status",
		}
	case s.Status == StatusBlocked:
		return &wire.Error{
			Code:  wire.CodeRunBlocked,
			Field: "status",
			Message: fmt.Sprintf("The initiative is blocked (%s); gate %s can be %s once it has recovered.",
				s.BlockedReason, s.PendingGate.Gate, verb),
		}
	case s.Status != StatusPaused:
		return notIn(s, fmt.Sprintf("Gate %s can be %s only while the initiative is paused for it", s.PendingGate.Gate,
			verb), StatusPaused)
	case s.PendingGate.GateType != GatePhase && s.PendingGate.GateType != GateCompletion:
		return &wire.Error{
			Code:    wire.CodeInvalidState,
			Field:   "pending_gate.gate_type",
			Message: fmt.Sprintf("The pending gate is of the unknown type %s.", ojson.Shown(s.PendingGate.GateType)),
		}
	}
	return nil
}

func notIn(s *State, what string, want Status) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: fmt.Sprintf("%s; it is %s.", what, s.Status),
		Details: ojson.NewObject("status", string(s.Status), "expected", string(want)),
	}
}

// Refusal returns the error of a gate that is not ready.
func (e *Evaluation) Refusal() *wire.Error {
	out := &wire.Error{
		Code:    wire.CodeGateFailed,
		Field:   e.Gate,
		Message: "The gate is not ready.",
		Details: e.Object(),
	}
	for _, b := range e.Blockers {
		out.Problems = append(out.Problems, wire.Problem{
			Code:    b.String("code"),
			Field:   b.String("repo_id"),
			Value:   b.String("barrier_id"),
			Message: b.String("message"),
		})
	}
	if why := e.Overtaken(); why != "" {
		out.Message = "The gate can no longer be approved: " + why
		out.Hint = "git agentxchain " + CmdDeny + ", and the next step asks again"
	} else if len(e.Blockers) > 0 {
		out.Message = "The gate is not ready: " + e.Blockers[0].String("message")
	}
	return out
}

// Record adds a row of history {type, timestamp, super_run_id, further members}.
func (c *Change) Record(w *Workspace, env *protocol.Env, kind string, further ...any) {
	c.History = append(c.History, ojson.NewObject(
		append([]any{"type", kind, "timestamp", env.Time(), "super_run_id", w.State.SuperRunID}, further...)...))
}
