// Charters: tasks of a plan that the run completes in the order of their dependencies.

package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Charter is one entry of charter_queue, a member of ours: a task that was planned outside the run
// (docs/monarchic-export.md#kinds). It belongs to a phase, is given to its role as one turn once everything it
// depends on is done, and holds the phase's gate until then. Whether a turn is working on it is not stored but
// follows from the active turns, so a turn that is dropped or reassigned can never leave a charter behind.
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
	Attempts           int           `json:"attempts,omitempty"` // accepted turns that did not complete it
	Reproducible       bool          `json:"reproducible,omitempty"`
	Task               *ojson.Object `json:"task,omitempty"`   // what the prompt says besides the goal
	Source             *ojson.Object `json:"source,omitempty"` // the task as it was planned
	Extra              ojson.Extra
}

// States of a charter. Only pending and completed are recorded; CharterState derives the other two from pending.
const (
	CharterPending   = "pending"
	CharterCompleted = "completed"
	CharterReady     = "ready"
	CharterActive    = "active"
)

// CharterSource marks an intake_context that represents a charter. Such a context has no intent_id: another
// implementation would look for the file of the intent.
const CharterSource = "charter_queue"

// CharterID returns the id of the charter that a turn works on, "" for none.
func (t *Turn) CharterID() string {
	if t.IntakeContext.String("source") != CharterSource {
		return ""
	}
	return t.IntakeContext.String("charter_id")
}

// Charter returns the queued charter of that id, or nil.
func (s *State) Charter(id string) *Charter {
	if i := s.CharterAt(id); i >= 0 {
		return s.CharterQueue[i]
	}
	return nil
}

// CharterAt returns the index of a charter by its id, or -1.
func (s *State) CharterAt(id string) int {
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

// CharterState returns the state of a charter: completed, active, ready (its turn can be assigned as soon as the
// run is in its phase) or pending.
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

// OpenCharters returns the charters of the present phase that are not done, in order.
func (s *State) OpenCharters() []*Charter {
	var open []*Charter
	for _, c := range s.CharterQueue {
		if c.Phase == s.Phase && c.Status != CharterCompleted {
			open = append(open, c)
		}
	}
	return open
}

// Chartered reports whether the present phase has any charters.
func (s *State) Chartered() bool {
	return slices.ContainsFunc(s.CharterQueue, func(c *Charter) bool { return c.Phase == s.Phase })
}

// CharterRoles returns, in queue order, the roles that can be given a turn for a charter now: a charter of the
// present phase is ready and the role has no turn.
func (s *State) CharterRoles() []string {
	if len(s.CharterQueue) == 0 {
		return nil
	}
	var roles []string
	for _, c := range s.OpenCharters() {
		if s.CharterState(c) == CharterReady && !slices.Contains(roles, c.Role) && !s.RoleBusy(c.Role) {
			roles = append(roles, c.Role)
		}
	}
	return roles
}

// RoleBusy reports whether the role has an active turn.
func (s *State) RoleBusy(role string) bool {
	for _, t := range s.ActiveTurns.All() {
		if t.AssignedRole == role {
			return true
		}
	}
	return false
}

// NextCharter returns the charter that a new turn of the role works on, or nil.
func (s *State) NextCharter(role string) *Charter {
	for _, c := range s.OpenCharters() {
		if c.Role == role && s.CharterState(c) == CharterReady {
			return c
		}
	}
	return nil
}

// CharterRole returns the role to which the queue gives the next turn; "" when the phase has no open charter. The
// error says what the open charters wait for.
func CharterRole(cfg *config.Config, s *State) (string, *wire.Error) {
	open := s.OpenCharters()
	if len(open) == 0 {
		return "", nil
	}
	roles := s.CharterRoles()
	if len(roles) == 0 {
		return "", chartersWait(s, open)
	}
	if cfg.Role(roles[0]) == nil {
		return "", UnknownRole(cfg, roles[0])
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
			at = append(at, c.CharterID+" waits for "+wire.List(s.charterWaits(c)))
		}
	}
	return &wire.Error{
		Code:  wire.CodeChartersWait,
		Field: "charter_queue",
		Hint:  "git agentxchain status",
		Message: fmt.Sprintf("No charter of phase %q can be given out now: %s.", s.Phase,
			strings.ReplaceAll(wire.ListSome(at, 4), ", ", "; ")),
	}
}

// Copy returns an independent charter, its unknown members copied with f.
func (c *Charter) Copy(f objectCopy) *Charter {
	if c == nil {
		return nil
	}
	out := *c
	out.AcceptanceContract, out.DependsOn, out.GatesRequired = slices.Clone(c.AcceptanceContract),
		slices.Clone(c.DependsOn), slices.Clone(c.GatesRequired)
	out.TurnID = copyPtr(c.TurnID)
	out.Task, out.Source = f(c.Task), f(c.Source)
	out.Extra = f.extra(c.Extra)
	return &out
}

// UnknownRole refuses a role that the configuration does not define (unknown_role).
func UnknownRole(cfg *config.Config, id string) *wire.Error {
	return &wire.Error{
		Code:  wire.CodeUnknownRole,
		Field: "role",
		Message: fmt.Sprintf("Role %q is not defined in agentxchain.json (roles: %s).", Clip(id, 80),
			wire.List(cfg.Roles.Keys())),
	}
}
