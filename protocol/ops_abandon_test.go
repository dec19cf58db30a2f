// Tests of AbandonRun: from every state of an unended run, and from no other.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// wantAbandoned checks what is true of every abandoned run.
func (w *opsWorld) wantAbandoned(tr *change.Transition, from wire.Status) {
	w.t.Helper()
	s := w.state
	w.wantStatus(wire.StatusFailed, "")
	if run.HasPending(s) || s.ActiveTurns.Len() > 0 || s.BudgetReservations.Len() > 0 ||
		len(w.index.OpenEscalations) > 0 {
		w.t.Fatalf("something is left: %s", s.Encode())
	}
	if a := s.Abandoned; a == nil || a.Reason != "no use" || a.By.String("name") != "Ada" || a.FromStatus != from ||
		s.CompletedAt != nil {
		w.t.Fatalf("abandoned %+v", a)
	}
	events := strings.Fields(eventTypes(tr))
	if events[len(events)-1] != run.EventAbandoned {
		w.t.Errorf("events %v", events)
	}
	row := w.lastRow(wire.LedgerRunHistory)
	if row.String("status") != "failed" || row.String("blocked_reason") != "abandoned by Ada: no use" ||
		row.Object("retrospective").String("terminal_reason") != "abandoned" {
		w.t.Errorf("run history %s", ojson.Compact(row))
	}
	d := w.lastRow(wire.LedgerDecisions)
	if d.String("type") != "run_abandoned" || d.String("from_status") != string(from) || !d.Bool("terminal") ||
		d.Object("abandoned_by").String("email") != "ada@example.org" {
		w.t.Errorf("decision %s", ojson.Compact(d))
	}
	for _, op := range []Operation{w.abandonment("again"), w.assignment("pm"), &Escalate{Reason: "x"}, &Reactivate{},
		&InitRun{}, &DenyGate{Reason: "x"}} {
		w.fails(wire.CodeInvalidStateTransition, op)
	}
	was := s.Run()
	w.must(w.start(InitRun{Restart: true}))
	if w.state.Abandoned != nil || w.state.Run() == was || w.state.Status != wire.StatusActive {
		w.t.Errorf("new run %s", w.state.Encode())
	}
}

func TestAbandonAnActiveRun(t *testing.T) {
	w := startedWorld(t, nil)
	pm, dev := w.assign("pm"), w.assign("dev")
	w.stage(dev.TurnID, "cost", ojson.NewObject("usd", 0.25))
	w.fails(wire.CodeReasonRequired, w.abandonment(" \n"))
	w.fails(wire.CodeInvalidArgument, w.abandonment(strings.Repeat("x", change.MaxReason+1)))
	w.actor.InsideTurn = dev.TurnID
	w.fails(wire.CodeInsideTurn, w.abandonment("I give up"))
	w.actor.InsideTurn = ""
	tr := w.must(w.abandonment(" no use "))
	res := tr.Result.(*AbandonResult)
	if strings.Join(res.Dropped, " ") != pm.TurnID+" "+dev.TurnID ||
		strings.Join(tr.DropTurns, " ") != pm.TurnID+" "+dev.TurnID {
		t.Errorf("dropped %v %v", res.Dropped, tr.DropTurns)
	}
	dropped := w.lastRow(wire.LedgerDecisions).Objects("dropped_turns")
	if len(dropped) != 2 || dropped[0].Has("kept") || w.files[dropped[1].String("kept")] == nil ||
		w.state.BudgetStatus.SpentUSD != 0.25 {
		t.Errorf("%v, spent %v", dropped, w.state.BudgetStatus.SpentUSD)
	}
	w.wantEvents(tr, "run_abandoned")
	w.wantAbandoned(tr, wire.StatusActive)
}

func TestAbandonAWaitingRun(t *testing.T) {
	w := paused(t, nil)
	tr := w.must(w.abandonment("no use"))
	if g := tr.Result.(*AbandonResult).Gate; g != "plan_ok" {
		t.Errorf("gate %q", g)
	}
	if st, _ := w.state.PhaseGateStatus.Get("plan_ok"); st == wire.GatePassed {
		t.Error("the gate has passed")
	}
	w.wantAbandoned(tr, wire.StatusPaused)
}

func TestAbandonABlockedRun(t *testing.T) {
	w := startedWorld(t, nil)
	w.assign("pm")
	w.must(&Escalate{Reason: "which licence?"})
	tr := w.must(w.abandonment("no use"))
	w.wantEvents(tr, "human_escalation_resolved escalation_resolved run_abandoned")
	w.wantAbandoned(tr, wire.StatusBlocked)
	// A gate waiting behind a block goes with it.
	w = paused(t, nil)
	w.must(&Block{
		BlockedOn:   "dispatch:x",
		Category:    "dispatch_error",
		TypedReason: "dispatch_error",
		Owner:       "human",
		Action:      "x",
	})
	w.wantAbandoned(w.must(w.abandonment("no use")), wire.StatusBlocked)
}

func TestAbandonWithoutARun(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.fails(wire.CodeInvalidStateTransition, w.abandonment("no use"))
	w = startedWorld(t, nil).inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	w.must(w.approval())
	w.fails(wire.CodeInvalidStateTransition, w.abandonment("no use"))
}

func TestAbandonFailsDelegations(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	w.accept(turn.TurnID, "delegations",
		arr(`[{"id":"del-001","to_role":"dev","charter":"c","acceptance_contract":["a"]}]`))
	w.assign("dev")
	w.must(w.abandonment("no use"))
	if st := w.state.DelegationQueue[0].Status; st != "failed" {
		t.Errorf("delegation is %s", st)
	}
}

// Another tool that revives an abandoned run, or abandons one, claims what only a person decides.
func TestAbandonedClaims(t *testing.T) {
	cfg := twoPhaseConfig()
	for _, tc := range []struct {
		from, to wire.Status
		want     string
	}{
		{wire.StatusFailed, wire.StatusActive, external.ClaimReopened},
		{wire.StatusFailed, wire.StatusCompleted, external.ClaimReopened},
		{wire.StatusActive, wire.StatusFailed, external.ClaimAbandoned}, {wire.StatusBlocked, wire.StatusFailed,
			external.ClaimAbandoned}, {wire.StatusFailed, wire.StatusFailed, ""},
	} {
		got := ""
		for _, c := range external.Claims(cfg, inStatus(tc.from), inStatus(tc.to)) {
			got += c.Kind
			if c.String() == c.Kind {
				t.Errorf("%s has no words", c.Kind)
			}
		}
		if got != tc.want {
			t.Errorf("%s to %s: %q, want %q", tc.from, tc.to, got, tc.want)
		}
	}
}
