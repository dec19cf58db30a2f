// InitRun starts a run (docs/spec/lifecycle.md#starting-a-run).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// InitRun starts a new run from an idle project, or after a finished run when Restart is set. Prior is the
// state.json that it was applied to: the first commit of a run has no earlier one to read it from.
type InitRun struct {
	Prior          *evidence.Blob `json:"prior"`
	Restart        bool           `json:"restart,omitempty"`
	Trigger        string         `json:"trigger,omitempty"` // manual when "" or unknown
	TriggerReason  string         `json:"trigger_reason,omitempty"`
	ParentRun      string         `json:"parent_run,omitempty"`
	Parent         *ojson.Object  `json:"parent,omitempty"` // the parent's run-history row; nil when there is none
	InheritContext bool           `json:"inherit_context,omitempty"`
	CreatedBy      string         `json:"created_by,omitempty"`

	// all gate documents, where the configuration has authority
	Documents []gates.DocumentFact `json:"documents,omitempty"`

	// Of the run that Restart ends: its open escalation records, which are closed with it, and HUMAN_TASKS.md, nil
	// when absent.
	Open  []*ojson.Object `json:"open_escalations,omitempty"`
	Tasks *evidence.Blob  `json:"human_tasks,omitempty"`
}

func (*InitRun) Name() string               { return "init_run" }
func (op *InitRun) Blobs() []*evidence.Blob { return []*evidence.Blob{op.Prior, op.Tasks} }

// InitResult is the outcome of InitRun.
type InitResult struct{ Run string }

func (op *InitRun) Apply(t *change.Draft) *wire.Error {
	s := t.State
	before := s.Run()
	switch {
	case s.Status == wire.StatusIdle, s.Status == wire.StatusBlocked && before == "" && s.ActiveTurns.Len() == 0:
		idle(t)
	case op.Restart && (s.Status.Ended() || s.Status == wire.StatusBlocked):
		if s.Status == wire.StatusBlocked {
			if err := t.OutsideTurn("put a blocked run away", "the new run"); err != nil {
				return err
			}
		}
		t.State = run.FreshState(t.Config, s.ProjectID)
		s = t.State
	case s.Status == wire.StatusCompleted, s.Status == wire.StatusFailed:
		return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status",
			Message: fmt.Sprintf("Run %s is over (%s); a new run has to be asked for.", s.Run(), s.Status),
			Hint:    "git agentxchain assign --new-run"}
	default:
		return &wire.Error{Code: wire.CodeInvalidStateTransition, Field: "status",
			Message: fmt.Sprintf("A run cannot start while run %s is %s.", wire.OrNone(s.Run()), s.Status),
			Hint:    "git agentxchain status"}
	}
	prov, err := run.Provenance(op.Trigger, op.TriggerReason, op.ParentRun, op.CreatedBy, op.Parent)
	if err != nil {
		return err
	}
	now := t.Env.Time()
	s.RunID = new(t.Env.ID("run"))
	s.Status = wire.StatusActive
	s.CreatedAt, s.PhaseEnteredAt = new(now), new(now)
	s.CompletedAt = nil
	s.BlockedOn, s.BlockedReason, s.Escalation = nil, nil, nil
	s.BudgetStatus = run.FreshBudget(t.Config)
	s.Provenance = prov
	s.InheritedContext = nil
	if op.InheritContext && op.ParentRun != "" {
		s.InheritedContext = run.InheritedContext(op.ParentRun, op.Parent, now)
	}
	s.RepoDecisions = nil
	for _, l := range t.Before.RepoDecisions {
		if l.Row.String("status") == "active" {
			s.RepoDecisions = append(s.RepoDecisions, l.Row)
		}
	}
	if trig := prov.String("trigger"); (trig == "continuation" || trig == "recovery") &&
		s.AcceptedIntegrationRef == nil && t.Env.Git.Head != "" {
		s.AcceptedIntegrationRef = new("git:" + t.Env.Git.Head)
	}
	t.Index = &run.Index{Run: s.Run()}
	s.AuthorityBase, s.GateVotes, s.SpentNonces, s.Overruled, s.PhaseClockAt = nil, nil, nil, nil, nil
	s.GateDocuments = ojson.Map[*run.DocumentMark]{}
	if t.Config.Authority != nil && t.Env.Git.Head != "" {
		s.AuthorityBase = new(t.Env.Git.Head)
	}
	markDocuments(t, op.Documents, true, true)
	t.Event("run_started", nil, "provenance", prov)
	op.close(t, before)
	t.Subject = fmt.Sprintf("start %s in phase %s", s.Run(), s.Phase)
	t.Result = &InitResult{Run: s.Run()}
	return nil
}

// close resolves what the replaced run still asked of people, since it can no longer be done.
func (op *InitRun) close(t *change.Draft, run string) {
	t.Tasks = nil
	if op.Tasks != nil {
		t.Tasks = op.Tasks.Data
	}
	if !op.Restart || run == "" {
		return
	}
	for _, row := range op.Open {
		if row.String("run_id") == run {
			t.Index.OpenEscalations = append(t.Index.OpenEscalations, row)
		}
	}
	t.ResolveEscalations(func(*ojson.Object) bool { return true }, "run_replaced")
}

// idle resets an idle state to where every run begins, whatever was edited into it and however the routing has
// changed since: the first phase, its gates pending, nothing left to do. Members it does not know stay.
func idle(t *change.Draft) {
	s, fresh := t.State, run.FreshState(t.Config, t.State.ProjectID)
	if t.Config.Routing.Len() > 0 {
		s.Phase = fresh.Phase
	}
	s.PhaseGateStatus = fresh.PhaseGateStatus
	s.ActiveTurns, s.BudgetReservations = fresh.ActiveTurns, fresh.BudgetReservations
	s.TurnSequence, s.LastCompletedTurnID, s.LastCompletedTurn = 0, nil, nil
	s.PendingPhaseTransition, s.PendingRunCompletion = nil, nil
	s.QueuedPhaseTransition, s.QueuedRunCompletion = nil, nil
	s.LastGateFailure, s.NextRecommendedRole = nil, nil
	s.DelegationQueue, s.PendingDelegation = nil, nil
	s.CharterQueue, s.CharterPlans = nil, nil
	intents.Archive(t)
	s.NonProgressSignature, s.NonProgressCount = nil, 0
}
