// Charters: tasks of a plan that the run works off in the order of their dependencies.

package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Charter is one entry of charter_queue, a member of ours: a task that somebody
// planned outside the run (spec/08 §11.5). It belongs to a phase, is given to its
// role as one turn once everything it depends on is done, and holds the phase's
// gate until then. Whether it is being worked on is not kept here but follows from
// the active turns, so that a turn that is dropped or given to another can never
// leave a charter behind.
type Charter struct {
	CharterID          string        `json:"charter_id"`
	PlanID             string        `json:"plan_id"`
	Sequence           int           `json:"sequence"` // place in the queue, from 1
	Phase              string        `json:"phase"`
	Role               string        `json:"role"`
	Charter            string        `json:"charter"` // the goal
	AcceptanceContract []string      `json:"acceptance_contract"`
	DependsOn          []string      `json:"depends_on"` // charter ids
	GatesRequired      []string      `json:"gates_required"`
	Status             string        `json:"status"`             // pending, completed
	TurnID             *string       `json:"turn_id"`            // the accepted turn that completed it
	Attempts           int           `json:"attempts,omitempty"` // accepted turns that did not
	Reproducible       bool          `json:"reproducible,omitempty"`
	Task               *ojson.Object `json:"task,omitempty"`   // what the prompt tells beside the goal
	Source             *ojson.Object `json:"source,omitempty"` // the task as it was planned
	Extra              ojson.Extra
}

// States of a charter. Only pending and completed are recorded; the other two are
// what CharterState makes of a pending one.
const (
	CharterPending   = "pending"
	CharterCompleted = "completed"
	CharterReady     = "ready"
	CharterActive    = "active"
)

// charterSource marks an intake_context that stands for a charter. Such a context
// has no intent_id: another implementation would look for the file of the intent.
const charterSource = "charter_queue"

// CharterID names the charter a turn works on, "" for none.
func (t *Turn) CharterID() string {
	if t.IntakeContext.String("source") != charterSource {
		return ""
	}
	return t.IntakeContext.String("charter_id")
}

// Charter returns the queued charter of that id, or nil.
func (s *State) Charter(id string) *Charter {
	if i := s.charterAt(id); i >= 0 {
		return s.CharterQueue[i]
	}
	return nil
}

func (s *State) charterAt(id string) int {
	return slices.IndexFunc(s.CharterQueue, func(c *Charter) bool { return c.CharterID == id })
}

// CharterTurn returns the active turn that works on the charter, or nil.
func (s *State) CharterTurn(id string) *Turn {
	for _, t := range s.ActiveTurns.All() {
		if t.CharterID() == id {
			return t
		}
	}
	return nil
}

// CharterState tells how a charter stands: completed, active, ready (its turn can
// be given as soon as the run is in its phase) or pending.
func (s *State) CharterState(c *Charter) string {
	switch {
	case c.Status == CharterCompleted:
		return CharterCompleted
	case s.CharterTurn(c.CharterID) != nil:
		return CharterActive
	case len(s.charterWaits(c)) == 0:
		return CharterReady
	}
	return CharterPending
}

// charterWaits lists the dependencies of c that are not done.
func (s *State) charterWaits(c *Charter) []string {
	var open []string
	for _, id := range c.DependsOn {
		if d := s.Charter(id); d != nil && d.Status != CharterCompleted {
			open = append(open, id)
		}
	}
	return open
}

// OpenCharters are the charters of the present phase that are not done, in order.
func (s *State) OpenCharters() []*Charter {
	var open []*Charter
	for _, c := range s.CharterQueue {
		if c.Phase == s.Phase && c.Status != CharterCompleted {
			open = append(open, c)
		}
	}
	return open
}

// chartered reports whether the present phase has charters at all.
func (s *State) chartered() bool {
	return slices.ContainsFunc(s.CharterQueue, func(c *Charter) bool { return c.Phase == s.Phase })
}

// CharterRoles are the roles that can be given a turn for a charter now: a charter
// of the present phase is ready and the role has no turn. In order of the queue.
func (s *State) CharterRoles() []string {
	if len(s.CharterQueue) == 0 {
		return nil
	}
	var roles []string
	for _, c := range s.OpenCharters() {
		if s.CharterState(c) == CharterReady && !slices.Contains(roles, c.Role) && !s.roleBusy(c.Role) {
			roles = append(roles, c.Role)
		}
	}
	return roles
}

func (s *State) roleBusy(role string) bool {
	for _, t := range s.ActiveTurns.All() {
		if t.AssignedRole == role {
			return true
		}
	}
	return false
}

// nextCharter is the charter a new turn of the role works on, or nil.
func (s *State) nextCharter(role string) *Charter {
	for _, c := range s.OpenCharters() {
		if c.Role == role && s.CharterState(c) == CharterReady {
			return c
		}
	}
	return nil
}

// charterRole is the role the queue gives the next turn to; "" when the phase has
// no open charter. The error says what the open ones wait for.
func charterRole(cfg *config.Config, s *State) (string, *wire.Error) {
	open := s.OpenCharters()
	if len(open) == 0 {
		return "", nil
	}
	roles := s.CharterRoles()
	if len(roles) == 0 {
		return "", chartersWait(s, open)
	}
	if cfg.Role(roles[0]) == nil {
		return "", unknownRole(cfg, roles[0])
	}
	return roles[0], nil
}

func chartersWait(s *State, open []*Charter) *wire.Error {
	at := make([]string, 0, len(open))
	for _, c := range open {
		switch state := s.CharterState(c); {
		case state == CharterActive:
			at = append(at, c.CharterID+" is at work")
		case state == CharterReady:
			at = append(at, c.CharterID+" waits for role "+c.Role)
		default:
			at = append(at, c.CharterID+" waits for "+list(s.charterWaits(c)))
		}
	}
	return &wire.Error{Code: wire.CodeChartersWait, Field: "charter_queue", Hint: "git agentxchain status",
		Message: fmt.Sprintf("No charter of phase %q can be given out now: %s.", s.Phase, strings.ReplaceAll(wire.ListSome(at, 4), ", ", "; "))}
}

// bindCharter attaches the charter the turn is for, unless delegated work is what
// it is for.
func (t *transition) bindCharter(turn *Turn) {
	if turn.DelegationContext != nil || turn.DelegationReview != nil {
		return
	}
	c := t.s.nextCharter(turn.AssignedRole)
	if c == nil {
		return
	}
	o := ojson.NewObject("source", charterSource, "category", "plan", "charter_id", c.CharterID, "plan_id", c.PlanID,
		"charter", c.Charter, "acceptance_contract", wire.NonNil(c.AcceptanceContract), "phase_scope", c.Phase)
	if c.Task.Len() > 0 {
		o.Set("task", c.Task)
	}
	turn.IntakeContext = o
}

// charter notes what an accepted turn has done for the charter it was given: it is
// completed by a completed turn, whose verification passed when the task asks for
// gates; otherwise it stays open for another turn.
func (a *acceptance) charter() {
	s := a.t.s
	i := s.charterAt(a.turn.CharterID())
	if i < 0 || s.CharterQueue[i].Status == CharterCompleted {
		return
	}
	c := s.CharterQueue[i].copy(sharedObjects)
	s.CharterQueue = slices.Clone(s.CharterQueue)
	s.CharterQueue[i] = c
	verified := a.verified()
	if a.res.Status == wire.ResultCompleted && (len(c.GatesRequired) == 0 || verified) {
		c.Status, c.TurnID, c.Reproducible = CharterCompleted, new(a.turn.TurnID), a.verify.Reproducible
		return
	}
	c.Attempts++
	why := "its turn is " + a.res.Status
	if a.res.Status == wire.ResultCompleted {
		why = fmt.Sprintf("it asks for %s and its verification is %s", list(c.GatesRequired), cmp.Or(a.res.Verification.Status, "missing"))
	}
	a.warnings = append(a.warnings, fmt.Sprintf("Charter %s stays open: %s.", c.CharterID, why))
}

// verified holds the turn's verification to what a gate asks (spec/02 §13.2).
func (a *acceptance) verified() bool {
	switch a.res.Verification.Status {
	case "pass", "attested_pass":
		return !a.t.cfg.Rules.StrictVerify || a.verify.Reproducible
	}
	return false
}

// chartersRemain reports whether the phase would still have open charters once
// this turn is accepted.
func (a *acceptance) chartersRemain() bool {
	return slices.ContainsFunc(a.t.s.OpenCharters(), func(c *Charter) bool { return c.CharterID != a.turn.CharterID() })
}

// planned is what the plan makes of a turn's requests: while charters of the phase
// are open nothing may move the run on; once all are done the plan asks by itself,
// as an agent knows only its own task. Delegated work comes first.
func (a *acceptance) planned(phase *string, complete bool) (*string, bool) {
	s := a.t.s
	if !s.chartered() || a.res.Status != wire.ResultCompleted {
		return phase, complete
	}
	if open := s.OpenCharters(); len(open) > 0 {
		if phase != nil || complete {
			ids := make([]string, len(open))
			for i, c := range open {
				ids[i] = c.CharterID
			}
			a.warnings = append(a.warnings, fmt.Sprintf("The request to move the run on was set aside: phase %q still has open charters (%s).", s.Phase, wire.ListSome(ids, 4)))
		}
		return nil, false
	}
	if len(s.DelegationQueue) > 0 || s.PendingDelegation != nil {
		return phase, complete
	}
	next := a.t.cfg.NextPhase(s.Phase)
	if complete && next != "" || phase != nil && *phase != next {
		a.warnings = append(a.warnings, "The request to move the run on asked for what does not come next; the plan asks for what does.")
	}
	if next == "" {
		return nil, true
	}
	return new(next), false
}

// byCharters puts the verification of the tasks that asked for gates in the place
// of the last turn's, once all charters of the phase are done: that turn's task may
// have asked for none. Each of them was held to it when its charter was completed.
func (a *acceptance) byCharters(in *GateInput) {
	if a.verified() || !a.t.s.chartered() || len(a.t.s.OpenCharters()) > 0 {
		return
	}
	asked, reproducible := false, true
	for _, c := range a.t.s.CharterQueue {
		if c.Phase == a.t.s.Phase && len(c.GatesRequired) > 0 && wire.OrEmpty(c.TurnID) != "" {
			asked, reproducible = true, reproducible && c.Reproducible
		}
	}
	if asked {
		in.VerificationStatus, in.VerificationReproducible = "pass", reproducible
	}
}

// stuckCharter blocks a run that gives the same charter out turn after turn
// without its being done.
func (a *acceptance) stuckCharter() {
	t, s := a.t, a.t.s
	c := s.Charter(a.turn.CharterID())
	threshold := t.cfg.RunLoop.NonProgressThreshold
	if threshold <= 0 {
		threshold = 3
	}
	if c == nil || s.Status != wire.StatusActive || c.Status == CharterCompleted || c.Attempts < threshold {
		return
	}
	t.block(blockSpec{On: "non_progress", Category: "non_progress", TypedReason: "non_progress", Owner: "human",
		Action: "Find out why charter " + c.CharterID + " is not done, then run: git agentxchain unblock",
		Detail: fmt.Sprintf("%d accepted turns did not complete charter %s", c.Attempts, c.CharterID), Turn: a.turn})
}
