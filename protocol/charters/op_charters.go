// QueueCharters gives a run the tasks of a plan (docs/monarchic-export.md#kinds).

package charters

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// QueueCharters appends charters to the queue of an active run. It assigns nothing: AssignTurn assigns turns, and
// prefers ready charters to any recommendation.
type QueueCharters struct {
	// the plan without its tasks: plan_id, objective and anything else to keep
	Plan     *ojson.Object  `json:"plan"`
	Charters []*run.Charter `json:"charters"`
}

// Bounds of the queue: it is part of the state, which every operation writes.
const (
	MaxQueued = 1000
	MaxBytes  = 2 << 20 // the whole queue with its plans, as JSON
)

func (*QueueCharters) Name() string               { return "queue_charters" }
func (op *QueueCharters) Blobs() []*evidence.Blob { return nil }

// QueueResult is the outcome of QueueCharters.
type QueueResult struct {
	PlanID   string
	Charters []*run.Charter
}

// Takes says why charters cannot be queued in the run as it is, nil when they can: run_blocked, awaiting_approval,
// invalid_state_transition.
func Takes(s *run.State) *wire.Error {
	switch s.Status {
	case wire.StatusActive:
		return nil
	case wire.StatusBlocked:
		return run.BlockedError(s, "queue charters")
	case wire.StatusPaused:
		return run.PendingError(s, "queue charters")
	}
	return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status", Hint: "git agentxchain status",
		Message: fmt.Sprintf("Charters can be queued only in an active run; this one is %s.", s.Status)}
}

func (op *QueueCharters) Apply(t *change.Draft) *wire.Error {
	s := t.State
	if err := Takes(s); err != nil {
		return err
	}
	if err := t.OutsideTurn("queue charters", "git agentxchain monarchic import"); err != nil {
		return err
	}
	plan := op.Plan.String("plan_id")
	switch {
	case !wire.SafeID(plan):
		return charterError("plan.plan_id", "The plan needs an id of 1 to %d bytes without / and \\.",
			wire.MaxCharterID)
	case len(op.Charters) == 0:
		return charterError("charters", "There are no charters to queue.")
	case len(op.Charters)+len(s.CharterQueue) > MaxQueued:
		return charterError("charters", "%d charters are more than a run takes (%d).",
			len(op.Charters)+len(s.CharterQueue), MaxQueued)
	}
	queue := slices.Clip(s.CharterQueue)
	for i, c := range op.Charters {
		if c == nil {
			return charterError(fmt.Sprintf("charters[%d]", i), "A charter must be an object.")
		}
		c = c.Copy(run.SharedObjects)
		c.Sequence = len(queue) + 1
		c.PlanID, c.Status, c.TurnID, c.Attempts, c.Reproducible = plan, run.CharterPending, nil, 0, false
		c.AcceptanceContract, c.DependsOn, c.GatesRequired = wire.NonNil(c.AcceptanceContract),
			wire.NonNil(c.DependsOn), wire.NonNil(c.GatesRequired)
		queue = append(queue, c)
	}
	s.CharterQueue = queue
	for i := range op.Charters {
		if err := queued(t, i, queue[len(queue)-len(op.Charters)+i]); err != nil {
			return err
		}
	}
	if err := charterOrder(s); err != nil {
		return err
	}
	entry := op.Plan.Clone()
	entry.Set("queued_at", t.Env.Time())
	s.CharterPlans = append(slices.Clip(s.CharterPlans), entry)
	if n := len(ojson.Compact(ojson.Marshal(&struct {
		Queue []*run.Charter  `json:"queue"`
		Plans []*ojson.Object `json:"plans"`
		Extra ojson.Extra
	}{Queue: s.CharterQueue, Plans: s.CharterPlans}))); n > MaxBytes {
		return charterError("charters",
			"The queue would take %d bytes of the run's state; %d are allowed. Split the plan, or move long inputs into files.", n, MaxBytes)
	}
	if len(t.Index.PhasesDone) == 0 && s.ActiveTurns.Len() == 0 && t.Index.LastRow == nil {
		// Nothing has happened in the run yet, so no turn has recommended a role.
		s.NextRecommendedRole = nil
	}
	t.Session = "charters_queued"
	t.Subject = fmt.Sprintf("queue %d charters of %s", len(op.Charters), plan)
	if len(op.Charters) == 1 {
		t.Subject = fmt.Sprintf("queue charter %s of %s", op.Charters[0].CharterID, plan)
	}
	t.Result = &QueueResult{PlanID: plan, Charters: queue[len(queue)-len(op.Charters):]}
	return nil
}

func charterError(field, format string, args ...any) *wire.Error {
	return &wire.Error{Code: wire.CodeInvalidCharter, Field: field, Message: fmt.Sprintf(format, args...)}
}

// queued checks one new charter against the configuration and where the run is.
func queued(t *change.Draft, i int, c *run.Charter) *wire.Error {
	cfg, s := t.Config, t.State
	at := fmt.Sprintf("charters[%d].", i)
	role := cfg.Role(c.Role)
	switch {
	case !wire.SafeID(c.CharterID):
		return charterError(at+"charter_id", "A charter needs an id of 1 to %d bytes without / and \\.",
			wire.MaxCharterID)
	case s.Charter(c.CharterID) != c:
		return charterError(at+"charter_id", "Charter %s is in the queue of this run already.",
			run.Clip(c.CharterID, 80))
	case wire.TrimSpace(c.Charter) == "":
		return charterError(at+"charter", "Charter %s does not say what is to be done.", c.CharterID)
	case role == nil:
		return &wire.Error{
			Code:  wire.CodeUnknownRole,
			Field: at + "role",
			Message: fmt.Sprintf("Charter %s is for role %q, which agentxchain.json does not define (roles: %s).",
				c.CharterID, run.Clip(c.Role, 80), wire.List(cfg.Roles.Keys())),
		}
	case cfg.Route(c.Phase) == nil:
		return charterError(at+"phase",
			"Charter %s belongs to phase %q, which agentxchain.json does not have (phases: %s).", c.CharterID,
			run.Clip(c.Phase, 80), wire.List(cfg.Phases()))
	case phaseIndex(cfg, c.Phase) < phaseIndex(cfg, s.Phase):
		return charterError(at+"phase", "Charter %s belongs to phase %q, which the run has left; it is in %q.",
			c.CharterID, c.Phase, s.Phase)
	}
	if roles := cfg.PhaseRoles(c.Phase); len(roles) > 0 && !slices.Contains(roles, c.Role) {
		return &wire.Error{
			Code:  wire.CodeRoleNotRouted,
			Field: at + "role",
			Message: fmt.Sprintf("Charter %s is for role %q, which phase %q does not route to (roles there: %s).",
				c.CharterID, c.Role, c.Phase, wire.List(roles)),
		}
	}
	for _, d := range c.DependsOn {
		dep := s.Charter(d)
		switch {
		case dep == nil:
			return charterError(at+"depends_on", "Charter %s depends on %q, which is not in the queue.", c.CharterID,
				run.Clip(d, 80))
		case dep == c:
			return charterError(at+"depends_on", "Charter %s depends on itself.", c.CharterID)
		case phaseIndex(cfg, dep.Phase) > phaseIndex(cfg, c.Phase):
			return charterError(at+"depends_on", "Charter %s of phase %q depends on %s, whose phase %q comes later.",
				c.CharterID, c.Phase, d, dep.Phase)
		}
	}
	return nil
}

func phaseIndex(cfg *config.Config, phase string) int { return slices.Index(cfg.Phases(), phase) }

// charterOrder refuses a queue that could never be completed.
func charterOrder(s *run.State) *wire.Error {
	waits := make(map[string]int, len(s.CharterQueue))
	needed := make(map[string][]string)
	var free []string
	for _, c := range s.CharterQueue {
		waits[c.CharterID] = len(c.DependsOn)
		if len(c.DependsOn) == 0 {
			free = append(free, c.CharterID)
		}
		for _, d := range c.DependsOn {
			needed[d] = append(needed[d], c.CharterID)
		}
	}
	done := 0
	for ; done < len(free); done++ {
		for _, id := range needed[free[done]] {
			if waits[id]--; waits[id] == 0 {
				free = append(free, id)
			}
		}
	}
	if done == len(s.CharterQueue) {
		return nil
	}
	var left []string
	for _, c := range s.CharterQueue {
		if waits[c.CharterID] > 0 {
			left = append(left, c.CharterID)
		}
	}
	return charterError("charters", "These charters depend on each other in a circle: %s.", wire.ListSome(left, 8))
}
