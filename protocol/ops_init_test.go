// Tests of InitRun.

package protocol

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (w *opsWorld) start(op InitRun) *InitRun {
	op.Prior = evidence.NewBlob(w.state.Encode())
	if op.Restart {
		op.Open = w.index.OpenEscalations
		if w.tasks != nil {
			op.Tasks = evidence.NewBlob(w.tasks)
		}
	}
	return &op
}

func TestInitRunStartsARun(t *testing.T) {
	w := newOpsWorld(t, sets("budget", obj(`{"per_run_max_usd": 5}`)))
	w.edit(func(s *run.State) { s.Extra.Set("x_kept", "yes") })
	tr := w.must(w.start(InitRun{Trigger: "nonsense", CreatedBy: "nobody"}))
	s := w.state
	w.wantStatus(wire.StatusActive, "")
	w.wantEvents(tr, "run_started")
	if s.Run() == "" || wire.OrEmpty(s.CreatedAt) != wire.FormatTime(w.now) ||
		wire.OrEmpty(s.PhaseEnteredAt) != wire.FormatTime(w.now) || s.Phase != "planning" {
		t.Errorf("state %s", s.Encode())
	}
	if s.Provenance.String("trigger") != "manual" || s.Provenance.String("created_by") != "operator" {
		t.Errorf("provenance %s", ojson.Compact(s.Provenance))
	}
	if *s.BudgetStatus.RemainingUSD != 5 || s.AcceptedIntegrationRef != nil {
		t.Errorf("budget %v ref %v", *s.BudgetStatus.RemainingUSD, s.AcceptedIntegrationRef)
	}
	if v, _ := s.Extra.Get("x_kept"); v != "yes" {
		t.Error("an unknown member was lost")
	}
	if tr.Documents[wire.DocSession] != nil {
		t.Error("starting a run is no checkpoint")
	}
	w.fails(wire.CodeInvalidStateTransition, w.start(InitRun{}))
	w.fails(wire.CodeInvalidStateTransition, w.start(InitRun{Restart: true}))
}

// An idle state may be edited by hand, and outlives changes of the configuration.
func TestInitRunBeginsInTheFirstPhase(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.edit(func(s *run.State) {
		s.Phase, s.TurnSequence = "ship", 9
		s.PhaseGateStatus.Set("plan_ok", wire.GatePassed)
		s.QueuedRunCompletion = &run.QueuedCompletion{
			RequestedByTurn: "turn_x",
			RequestedAt:     "2026-01-01T00:00:00.000Z",
		}
		s.NextRecommendedRole = new("qa")
	})
	w.must(w.start(InitRun{}))
	s := w.state
	if g, _ := s.PhaseGateStatus.Get("plan_ok"); s.Phase != "planning" || s.TurnSequence != 0 ||
		g != wire.GatePending || s.QueuedRunCompletion != nil || s.NextRecommendedRole != nil {
		t.Errorf("state %s", s.Encode())
	}
}

func TestInitRunAfterABlockBeforeTheRun(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.edit(func(s *run.State) { s.Status, s.BlockedOn = wire.StatusBlocked, new("hook:before_assignment:x") })
	w.must(w.start(InitRun{}))
	w.wantStatus(wire.StatusActive, "")
}

func TestInitRunRestart(t *testing.T) {
	w := startedWorld(t, nil)
	first := w.state.Run()
	w.must(&Escalate{Reason: "stop"})
	w.fails(wire.CodeInvalidStateTransition, w.start(InitRun{}))
	w.actor.InsideTurn = "turn_1"
	w.fails(wire.CodeInsideTurn, w.start(InitRun{Restart: true}))
	w.actor.InsideTurn = ""
	open := w.index.OpenEscalations[0].String("escalation_id")
	tr := w.must(w.start(InitRun{
		Restart:        true,
		Trigger:        "recovery",
		ParentRun:      first,
		Parent:         w.lastRow(wire.LedgerRunHistory),
		InheritContext: true,
	}))
	w.wantEvents(tr, "run_started human_escalation_resolved")
	if w.state.Run() == first || w.state.TurnSequence != 0 || w.state.InheritedContext == nil {
		t.Errorf("state %s", w.state.Encode())
	}
	if got := added(tr, wire.LedgerEscalations); len(got) != 1 || got[0].String("escalation_id") != open ||
		got[0].String("kind") != "resolved" {
		t.Errorf("escalations %s", ojson.Compact(got))
	}
	if wire.OrEmpty(w.state.AcceptedIntegrationRef) != "git:"+w.head() {
		t.Errorf("a recovery starts from HEAD, not %q", wire.OrEmpty(w.state.AcceptedIntegrationRef))
	}
	w.edit(func(s *run.State) { s.Status = wire.StatusFailed })
	w.must(w.start(InitRun{Restart: true}))
}

func TestInitRunParent(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.fails(wire.CodeNotFound, w.start(InitRun{ParentRun: "run_gone"}))
	w.fails(wire.CodeNotFound,
		w.start(InitRun{ParentRun: "run_gone", Parent: obj(`{"run_id":"run_other","status":"completed"}`)}))
	w.fails(wire.CodeInvalidArgument,
		w.start(InitRun{ParentRun: "run_a", Parent: obj(`{"run_id":"run_a","status":"active"}`)}))
	w.must(w.start(InitRun{
		ParentRun: "run_a",
		Parent:    obj(`{"run_id":"run_a","status":"completed"}`),
		Trigger:   "continuation",
	}))
}

func TestInitRunSnapshotsRepoDecisions(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.ledgers[wire.LedgerRepoDecisions] = []byte(`{"id":"DEC-001","status":"active"}` + "\n" +
		`{"id":"DEC-002","status":"overridden"}` + "\n")
	w.must(w.start(InitRun{}))
	if len(w.state.RepoDecisions) != 1 || w.state.RepoDecisions[0].String("id") != "DEC-001" {
		t.Errorf("repo decisions %s", ojson.Compact(w.state.RepoDecisions))
	}
}
