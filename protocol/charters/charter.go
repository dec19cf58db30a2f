// How turns complete the charters of a run.

package charters

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Bind attaches the charter that the turn is for, unless the turn is for delegated work.
func Bind(t *change.Draft, turn *run.Turn) {
	if turn.DelegationContext != nil || turn.DelegationReview != nil {
		return
	}
	c := t.State.NextCharter(turn.AssignedRole)
	if c == nil {
		return
	}
	o := ojson.NewObject("source", run.CharterSource, "category", "plan", "charter_id", c.CharterID,
		"plan_id", c.PlanID,
		"charter", c.Charter, "acceptance_contract", wire.NonNil(c.AcceptanceContract), "phase_scope", c.Phase)
	if c.Task.Len() > 0 {
		o.Set("task", c.Task)
	}
	turn.IntakeContext = o
}

// Outcome is the part of an accepted turn's outcome that its charter needs.
type Outcome struct {
	Turn         *run.Turn
	Status       string // status of the turn's result
	Verification string // status of its verification
	Reproducible bool
}

// Note records what an accepted turn did for its charter. A completed turn completes the charter if its
// verification passed or the task asks for no gates; otherwise the charter stays open for another turn, and the
// warning says why.
func Note(t *change.Draft, o Outcome) (warning string) {
	s := t.State
	i := s.CharterAt(o.Turn.CharterID())
	if i < 0 || s.CharterQueue[i].Status == run.CharterCompleted {
		return ""
	}
	c := s.CharterQueue[i].Copy(run.SharedObjects)
	s.CharterQueue = slices.Clone(s.CharterQueue)
	s.CharterQueue[i] = c
	if o.Status == wire.ResultCompleted &&
		(len(c.GatesRequired) == 0 || verified(t, o.Verification, o.Reproducible)) {
		c.Status, c.TurnID, c.Reproducible = run.CharterCompleted, new(o.Turn.TurnID), o.Reproducible
		return ""
	}
	c.Attempts++
	why := "its turn is " + o.Status
	if o.Status == wire.ResultCompleted {
		why = fmt.Sprintf("it asks for %s and its verification is %s", wire.List(c.GatesRequired),
			cmp.Or(o.Verification, "missing"))
	}
	return fmt.Sprintf("Charter %s stays open: %s.", c.CharterID, why)
}

// verified checks a turn's verification as a gate does (docs/spec/gates.md#what-a-gate-looks-at).
func verified(t *change.Draft, status string, reproducible bool) bool {
	switch status {
	case "pass", "attested_pass":
		return !t.Config.Rules.StrictVerify || reproducible
	}
	return false
}

// OthersOpen reports whether the phase would still have open charters once the turn
// is accepted.
func OthersOpen(s *run.State, turn *run.Turn) bool {
	return slices.ContainsFunc(s.OpenCharters(), func(c *run.Charter) bool {
		return c.CharterID != turn.CharterID()
	})
}

// Planned adjusts a completed turn's requests to the plan: while charters of the phase are open nothing may move
// the run on; once all are done the plan makes the request itself, since an agent knows only its own task.
// Delegated work comes first.
func Planned(t *change.Draft, phase *string, complete bool) (to *string, completes bool, warning string) {
	s := t.State
	if !s.Chartered() {
		return phase, complete, ""
	}
	if open := s.OpenCharters(); len(open) > 0 {
		if phase != nil || complete {
			ids := make([]string, len(open))
			for i, c := range open {
				ids[i] = c.CharterID
			}
			warning = fmt.Sprintf("The request to move the run on was set aside: phase %q still has open charters (%s).",
				s.Phase, wire.ListSome(ids, 4))
		}
		return nil, false, warning
	}
	if s.DelegationOpen() {
		return phase, complete, ""
	}
	next := t.Config.NextPhase(s.Phase)
	if complete && next != "" || phase != nil && *phase != next {
		warning = "The request to move the run on asked for what does not come next; the plan asks for what does."
	}
	if next == "" {
		return nil, true, warning
	}
	return new(next), false, warning
}

// VerifyGate replaces the last turn's verification with that of the tasks that asked for gates, once all charters
// of the phase are done: the last turn's task may have asked for none. Each such task was verified when its charter
// was completed.
func VerifyGate(t *change.Draft, in *gates.Input) {
	if verified(t, in.VerificationStatus, in.VerificationReproducible) || !t.State.Chartered() ||
		len(t.State.OpenCharters()) > 0 {
		return
	}
	asked, reproducible := false, true
	for _, c := range t.State.CharterQueue {
		if c.Phase == t.State.Phase && len(c.GatesRequired) > 0 && wire.OrEmpty(c.TurnID) != "" {
			asked, reproducible = true, reproducible && c.Reproducible
		}
	}
	if asked {
		in.VerificationStatus, in.VerificationReproducible = "pass", reproducible
	}
}

// BlockStuck blocks a run that assigns the same charter turn after turn without completing it.
func BlockStuck(t *change.Draft, turn *run.Turn) {
	s := t.State
	c := s.Charter(turn.CharterID())
	threshold := t.Config.RunLoop.NonProgressThreshold
	if threshold <= 0 {
		threshold = 3
	}
	if c == nil || s.Status != wire.StatusActive || c.Status == run.CharterCompleted || c.Attempts < threshold {
		return
	}
	t.Block(change.Block{On: "non_progress", Category: "non_progress", TypedReason: "non_progress", Owner: "human",
		Action: "Find out why charter " + c.CharterID + " is not done, then run: git agentxchain unblock",
		Detail: fmt.Sprintf("%d accepted turns did not complete charter %s", c.Attempts, c.CharterID), Turn: turn})
}
