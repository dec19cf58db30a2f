// Tests of the charters of a plan: order, binding, gates, and what leaves one open.

package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// queue reads lines of "id phase role dep,dep gate,gate".
func queue(lines ...string) *charters.QueueCharters {
	op := &charters.QueueCharters{Plan: ojson.NewObject("plan_id", "plan-x", "objective", "all of it")}
	for _, l := range lines {
		f := append(strings.Split(l, " "), "", "")
		c := &run.Charter{CharterID: f[0], Phase: f[1], Role: f[2], Charter: "do " + f[0]}
		if f[3] != "" {
			c.DependsOn = strings.Split(f[3], ",")
		}
		if f[4] != "" {
			c.GatesRequired = strings.Split(f[4], ",")
		}
		op.Charters = append(op.Charters, c)
	}
	return op
}

// plannedWorld returns a run whose gates open by themselves.
func plannedWorld(t testingT, edit func(*ojson.Object), lines ...string) *opsWorld {
	t.Helper()
	w := startedWorld(t, func(doc *ojson.Object) {
		sets("gates.plan_ok", ojson.NewObject(), "gates.build_ok", ojson.NewObject(), "gates.ship_ok", ojson.NewObject())(doc)
		if edit != nil {
			edit(doc)
		}
	})
	w.must(queue(lines...))
	return w
}

func TestChartersInOrderMoveTheRunByThemselves(t *testing.T) {
	w := plannedWorld(t, nil, "a planning pm", "b planning qa a", "c build pm b", "d ship qa c")
	if got := w.state.CharterRoles(); !slices.Equal(got, []string{"pm"}) {
		t.Fatalf("roles %v", got)
	}
	for i, want := range []string{"a", "b", "c", "d"} {
		turn := w.assign("")
		c := turn.IntakeContext
		if turn.CharterID() != want || c.String("charter") != "do "+want || c.Has("intent_id") ||
			w.state.CharterState(w.state.Charter(want)) != run.CharterActive {
			t.Fatalf("turn %d: %s", i, ojson.Compact(ojson.Marshal(turn)))
		}
		w.accept(turn.TurnID)
		if got := w.state.Charter(want); got.Status != run.CharterCompleted ||
			wire.OrEmpty(got.TurnID) != turn.TurnID {
			t.Fatalf("charter %+v", got)
		}
		if w.lastRow(wire.LedgerHistory).String("charter_id") != want {
			t.Error("history does not name the charter")
		}
	}
	w.wantStatus(wire.StatusCompleted, "")
}

func TestChartersSideBySide(t *testing.T) {
	w := plannedWorld(t, nil, "a planning pm", "b planning qa", "c planning pm", "d planning crit a,b", "e build pm d")
	pm, qa := w.assign(""), w.assign("")
	if pm.CharterID() != "a" || qa.CharterID() != "b" {
		t.Fatalf("bound to %q and %q", pm.CharterID(), qa.CharterID())
	}
	e := w.fails(wire.CodeChartersWait, w.assignment(""))
	_ = e
	w.accept(qa.TurnID)
	w.fails(wire.CodeChartersWait, w.assignment(""))
	w.accept(pm.TurnID)
	if got := w.state.CharterRoles(); !slices.Equal(got, []string{"pm", "crit"}) {
		t.Fatalf("roles %v", got)
	}
	c, d := w.assign(""), w.assign("")
	w.accept(c.TurnID, "phase_transition_request", "build")
	if w.state.Phase != "planning" || w.state.QueuedPhaseTransition != nil {
		t.Fatal("a request was not set aside although a charter is open")
	}
	w.accept(d.TurnID)
	if w.state.Phase != "build" {
		t.Fatalf("phase %s", w.state.Phase)
	}
}

func TestCharterStaysOpen(t *testing.T) {
	w := plannedWorld(t, nil, "a planning pm  qa", "b planning qa a")
	tr := w.accept(w.assign("").TurnID, "verification", obj(`{"status":"skipped"}`))
	res := tr.Result.(*AcceptResult)
	if c := w.state.Charter("a"); c.Status != run.CharterPending || c.Attempts != 1 ||
		!strings.Contains(strings.Join(res.Warnings, " "), "stays open") {
		t.Fatalf("charter %+v, warnings %q", c, res.Warnings)
	}
	// A rejected attempt and a reissued turn keep the charter.
	turn := w.assign("")
	w.must(w.rejection(turn.TurnID, "no"))
	re := w.must(w.reissue(turn.TurnID, "")).Result.(*ReissueResult)
	if re.Turn.CharterID() != "a" || w.state.CharterTurn("a").TurnID != re.Turn.TurnID {
		t.Fatal("the new turn does not work on the charter")
	}
	w.accept(re.Turn.TurnID, "verification",
		obj(`{"status":"pass","commands":["true"],"evidence_summary":"ran","machine_evidence":[{"command":"true","exit_code":0}]}`))
	if w.state.Charter("a").Status != run.CharterCompleted {
		t.Fatal("not completed")
	}
	for range 3 {
		w.accept(w.assign("").TurnID, "status", "failed")
	}
	w.wantStatus(wire.StatusBlocked, "non_progress")
	if c := w.state.Charter("b"); c.Attempts != 3 || c.Status != run.CharterPending {
		t.Fatalf("charter %+v", c)
	}
	w.must(&Reactivate{})
	w.accept(w.assign("").TurnID)
	if w.state.Phase != "build" {
		t.Fatalf("phase %s", w.state.Phase)
	}
}

// An agent that asks for the wrong next step does not stop the plan.
func TestPlanAsksForWhatComesNext(t *testing.T) {
	w := plannedWorld(t, nil, "a planning pm", "b build pm a", "c ship pm b")
	tr := w.accept(w.assign("").TurnID, "run_completion_request", true)
	if w.state.Phase != "build" ||
		!strings.Contains(strings.Join(tr.Result.(*AcceptResult).Warnings, " "), "does not come next") {
		t.Fatalf("phase %s", w.state.Phase)
	}
	w.accept(w.assign("").TurnID, "phase_transition_request", "ship")
	w.accept(w.assign("").TurnID)
	w.wantStatus(wire.StatusCompleted, "")
}

// The gate of the phase reads the verification of the tasks that asked for it, not
// of whichever turn came last.
func TestCharterGateReadsTheTasksThatAskedForIt(t *testing.T) {
	w := plannedWorld(t, sets("gates.plan_ok.requires_verification_pass", true), "a planning pm  qa",
		"b planning qa a")
	w.accept(w.assign("").TurnID, "verification",
		obj(`{"status":"pass","commands":["true"],"evidence_summary":"ran","machine_evidence":[{"command":"true","exit_code":0}]}`))
	w.accept(w.assign("").TurnID, "verification", obj(`{"status":"skipped"}`))
	if w.state.Phase != "build" {
		t.Fatalf("phase %s, failure %+v", w.state.Phase, w.state.LastGateFailure)
	}
	// Without a task that asks, it reads the turn's own.
	w = plannedWorld(t, sets("gates.plan_ok.requires_verification_pass", true), "a planning pm")
	w.accept(w.assign("").TurnID, "verification", obj(`{"status":"skipped"}`))
	if w.state.Phase != "planning" || w.state.LastGateFailure == nil {
		t.Fatal("the gate passed")
	}
	// The turn that fixes it works on no charter, and the plan asks again.
	turn := w.assign("")
	if turn.CharterID() != "" {
		t.Fatal("a done charter was given out again")
	}
	w.accept(turn.TurnID, "verification",
		obj(`{"status":"pass","commands":["true"],"evidence_summary":"ran","machine_evidence":[{"command":"true","exit_code":0}]}`))
	if w.state.Phase != "build" {
		t.Fatalf("phase %s", w.state.Phase)
	}
}

func TestDelegatedWorkComesBeforeCharters(t *testing.T) {
	w := plannedWorld(t, patient, "a planning pm", "b planning qa a")
	w.accept(w.assign("").TurnID, "delegations",
		arr(`[{"id":"del-001","to_role":"qa","charter":"help","acceptance_contract":["helped"]}]`))
	qa := w.assign("")
	if qa.DelegationContext == nil || qa.CharterID() != "" {
		t.Fatalf("turn %s", ojson.Compact(ojson.Marshal(qa)))
	}
	w.accept(qa.TurnID)
	if w.state.Charter("b").Status != run.CharterPending {
		t.Fatal("delegated work completed a charter")
	}
	w.accept(w.assign("").TurnID) // the review
	b := w.assign("")
	if b.CharterID() != "b" {
		t.Fatalf("turn %s", ojson.Compact(ojson.Marshal(b)))
	}
	w.accept(b.TurnID)
	if w.state.Phase != "build" {
		t.Fatalf("phase %s", w.state.Phase)
	}
}

func TestQueueChartersRefusals(t *testing.T) {
	long := strings.Repeat("x", 201)
	big := queue("a planning pm")
	big.Charters[0].Task = ojson.NewObject("inputs", strings.Repeat("x", charters.MaxBytes))
	many := &charters.QueueCharters{Plan: ojson.NewObject("plan_id", "p")}
	for i := range charters.MaxQueued + 1 {
		many.Charters = append(many.Charters, &run.Charter{
			CharterID: fmt.Sprint("t", i),
			Phase:     "planning",
			Role:      "pm",
			Charter:   "x",
		})
	}
	blank := queue("a planning pm")
	blank.Charters[0].Charter = " \n"
	unnamed := queue("a planning pm")
	unnamed.Plan.Delete("plan_id")
	for name, c := range map[string]struct {
		op   *charters.QueueCharters
		code string
	}{
		"no charters": {queue(), wire.CodeInvalidCharter},
		"no plan id":  {unnamed, wire.CodeInvalidCharter},
		"too many":    {many, wire.CodeInvalidCharter},
		"too large":   {big, wire.CodeInvalidCharter},
		"no goal":     {blank, wire.CodeInvalidCharter},
		"nil": {&charters.QueueCharters{
			Plan:     ojson.NewObject("plan_id", "p"),
			Charters: []*run.Charter{nil},
		}, wire.CodeInvalidCharter},
		"slash in id":        {queue("a/b planning pm"), wire.CodeInvalidCharter},
		"dots as id":         {queue(".. planning pm"), wire.CodeInvalidCharter},
		"long id":            {queue(long + " planning pm"), wire.CodeInvalidCharter},
		"twice":              {queue("a planning pm", "a planning qa"), wire.CodeInvalidCharter},
		"unknown phase":      {queue("a nowhere pm"), wire.CodeInvalidCharter},
		"unknown role":       {queue("a planning nobody"), wire.CodeUnknownRole},
		"role not routed":    {queue("a ship solo"), wire.CodeRoleNotRouted},
		"unknown dependency": {queue("a planning pm b"), wire.CodeInvalidCharter},
		"itself":             {queue("a planning pm a"), wire.CodeInvalidCharter},
		"later phase":        {queue("a planning pm b", "b build pm"), wire.CodeInvalidCharter},
		"circle": {queue("a planning pm c", "b planning pm a", "c planning pm b"),
			wire.CodeInvalidCharter},
	} {
		t.Run(name, func(t *testing.T) {
			w := startedWorld(t, sets("roles.solo",
				ojson.NewObject("title", "S", "mandate", "s", "write_authority", "review_only", "runtime", "man")))
			before := string(w.state.Encode())
			w.fails(c.code, c.op)
			if string(w.state.Encode()) != before {
				t.Error("the refusal changed the state")
			}
		})
	}
	w := newOpsWorld(t, nil)
	w.fails(wire.CodeInvalidStateTransition, queue("a planning pm"))
	w = startedWorld(t, nil).inPhase("build")
	w.fails(wire.CodeInvalidCharter, queue("a planning pm"))
	w.must(queue("a build pm"))
	w.fails(wire.CodeInvalidCharter, queue("a ship pm"))
	w.actor.InsideTurn = "turn_1"
	w.fails(wire.CodeInsideTurn, queue("b build pm"))
}

// Charters of a second plan may build on those of the first.
func TestChartersOfTwoPlans(t *testing.T) {
	w := plannedWorld(t, nil, "a planning pm")
	w.must(queue("b planning qa a"))
	if len(w.state.CharterPlans) != 2 || len(w.state.CharterQueue) != 2 {
		t.Fatalf("queue %s", w.state.Encode())
	}
	if got := w.state.CharterRoles(); !slices.Equal(got, []string{"pm"}) {
		t.Fatalf("roles %v", got)
	}
	again, problems := run.DecodeStateObject(obj(string(w.state.Encode())))
	if len(problems) > 0 || string(again.Encode()) != string(w.state.Encode()) {
		t.Fatalf("the queue does not survive its own encoding: %v", problems)
	}
}
