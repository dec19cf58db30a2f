// Tests of gates: what they wait for, and what asking, approving and denying does.

package initiative

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// blockers returns what an evaluation waits for: "code:repo or barrier" for each.
func blockers(e *Evaluation) string {
	var out []string
	for _, b := range e.Blockers {
		out = append(out, strings.TrimSuffix(b.String("code")+":"+b.String("repo_id")+b.String("barrier_id"), ":"))
	}
	return strings.Join(out, " ")
}

var designDone = []string{"contract/api:DEC-1", "contract/web:DEC-2,DEC-3", "names/docs:DEC-007"}

func TestEvaluatePhase(t *testing.T) {
	base := world(t, goodConfig)
	for _, c := range []struct {
		name, phase, target string
		history             []string
		change              func(*Workspace, *actors)
		want, human         string
	}{
		{"nothing done", "design", "", nil, nil,
			"barrier_unsatisfied:names_completion barrier_unsatisfied:contract_completion", ""},
		{"all done", "design", "", designDone, nil, "", ""},
		{"a phase is not skipped", "design", "ship", designDone, nil, "phase_skip_forbidden", ""},
		{"the last phase", "ship", "", []string{"launch/api"}, nil, "no_next_phase", "launch_completion"},
		{"a person is asked once the work is done", "ship", "", nil, nil,
			"no_next_phase barrier_unsatisfied:launch_completion", ""},
		{"a sequence to its end", "make", "", []string{"build/web", "polish/web", "polish/api"}, nil,
			"barrier_unsatisfied:build_completion", ""},
		{"repositories", "design", "", designDone, func(w *Workspace, a *actors) {
			a.states["docs"].Status = wire.StatusBlocked
			other := "run_else"
			a.states["api"].RunID = &other
			a.states["web"].ActiveTurns.Set("t", &run.Turn{})
			a.states["web"].PendingPhaseTransition = &run.PendingTransition{}
		}, "repo_blocked:docs repo_run_id_mismatch:api repo_active_turns:web repo_pending_gate:web", ""},
		{"unreadable", "design", "", designDone, func(w *Workspace, a *actors) { a.hidden["api"] = true },
			"repo_state_missing:api", ""},
		{"behind", "make", "", []string{"build/web", "build/api", "polish/web", "polish/api"},
			func(w *Workspace, a *actors) { a.states["web"].Phase = "design" }, "repo_not_ready:web", ""},
		{"no barrier", "make", "", []string{"build/web", "build/api"}, func(w *Workspace,
			a *actors) {
			w.Barriers.list.Delete("polish_completion")
		}, "barrier_missing:polish_completion", ""},
	} {
		w := in(base, c.phase).after(c.history...)
		w.Barriers = &Barriers{doc: w.Barriers.doc, list: w.Barriers.list.Clone(nil)}
		a := newActors(t, w)
		if c.change != nil {
			c.change(w, a)
		}
		e := EvaluatePhase(w, a.read(), c.target)
		if got := blockers(e); got != c.want || strings.Join(e.HumanBarriers, " ") != c.human ||
			e.Ready != (c.want == "") {
			t.Errorf("%s: %q %v %v, want %q %q", c.name, got, e.HumanBarriers, e.Ready, c.want, c.human)
		}
		if e.Object().Bool("ready") != e.Ready {
			t.Errorf("%s: %s", c.name, ojson.Compact(e.Object()))
		}
	}
}

// shipped returns an initiative whose work in its last phase is done.
func shipped(t *testing.T) (*Workspace, *actors) {
	w := in(world(t, goodConfig), "ship").after(
		append([]string{"build/web", "build/api", "polish/web", "polish/api", "launch/api"}, designDone...)...)
	a := newActors(t, w)
	for _, s := range a.states {
		s.Status = wire.StatusCompleted
	}
	return w, a
}

func TestEvaluateCompletion(t *testing.T) {
	w, a := shipped(t)
	e := EvaluateCompletion(w, a.read())
	if !e.Ready || strings.Join(e.HumanBarriers, " ") != "launch_completion" ||
		strings.Join(e.RequiredRepos, " ") != "api web" {
		t.Errorf("%s", ojson.Compact(e.Object()))
	}
	a.states["web"].Status = wire.StatusActive
	a.states["api"].Status, a.states["api"].PendingRunCompletion = wire.StatusPaused, &run.PendingCompletion{}
	if got := blockers(EvaluateCompletion(w, a.read())); got != "repo_not_completion_ready:web" {
		t.Error(got)
	}
	// A gate that names no repositories waits for all required ones.
	w.Config.Gates.Set(ShipGate, &Gate{})
	if e := EvaluateCompletion(w, a.read()); strings.Join(e.RequiredRepos, " ") != "web api" {
		t.Errorf("%v", e.RequiredRepos)
	}
	if got := blockers(EvaluateCompletion(in(w, "make"),
		a.read())); got != "not_final_phase repo_not_completion_ready:web" {
		t.Error(got)
	}
	w.Barriers = NewBarriers(w.Config, "t")
	if got := blockers(EvaluateCompletion(w, a.read())); strings.Count(got, "barrier_unsatisfied") != 4 {
		t.Error(got) // the barrier for a person is listed for approval
	}
}

func TestGateIsAskedForApprovedAndDenied(t *testing.T) {
	w := world(t, goodConfig).after(designDone...)
	a := newActors(t, w)
	ev := EvaluatePhase(w, a.read(), "")
	c, e := Request(w, ev, env("s"))
	if e != nil || c.State.Status != StatusPaused || c.State.PendingGate.Gate != "phase_transition:design->make" ||
		w.State.PendingGate != nil {
		t.Fatalf("%+v %v", c, e)
	}
	if got := string(ojson.Compact(c.History[0])); !strings.HasPrefix(got,
		`{"type":"phase_transition_requested","timestamp":"2026-01-02T03:04:05.678Z","super_run_id":"srun_1","gate":"phase_transition:design->make","from":"design","to":"make","required_repos":["docs","api","web"],"human_barriers":[]`) {
		t.Error(got)
	}
	if got := c.Decisions[0]; got.String("id") != "DEC-COORD-001" || got.String("category") != "phase_transition" ||
		got.String("phase") != "design" || got.String("to") != "make" {
		t.Errorf("%s", ojson.Compact(got))
	}
	asked := w.With(c)
	if _, e := Request(asked, ev, env("s")); e == nil || e.Code != wire.CodeInvalidStateTransition {
		t.Error(e)
	}

	// What was ready may no longer be.
	a.states["api"].Status = wire.StatusBlocked
	if _, _, e := Approve(asked, a.read(), nil, env("s")); e == nil || e.Code != wire.CodeGateFailed ||
		len(e.Problems) != 1 {
		t.Error(e)
	}
	a.states["api"].Status = wire.StatusActive
	// A block comes before the gate.
	blocked := asked.With(Block(asked, "a  reason\nof two lines", env("s")))
	if _, _, e := Approve(blocked, a.read(), nil, env("s")); e == nil || e.Code != wire.CodeRunBlocked ||
		blocked.State.BlockedReason != "a reason of two lines" {
		t.Error(e)
	}
	if _, e := Deny(blocked, "r", env("s")); e == nil || e.Code != wire.CodeRunBlocked {
		t.Error(e)
	}

	c, _, e = Approve(asked, a.read(), nil, env("s"))
	if e != nil || c.State.Status != StatusActive || c.State.Phase != "make" || c.State.PendingGate != nil {
		t.Fatalf("%+v %v", c, e)
	}
	if v, _ := c.State.PhaseGateStatus.Get("phase_transition:design->make"); v != "passed" ||
		c.Decisions[0].String("id") != "DEC-COORD-002" {
		t.Error(v, c.Decisions[0].String("id"))
	}

	if _, e := Deny(asked, " ", env("s")); e == nil || e.Code != wire.CodeReasonRequired {
		t.Error(e)
	}
	c, e = Deny(asked, "not yet", env("s"))
	if e != nil || c.State.Status != StatusActive || c.State.Phase != "design" || c.State.PendingGate != nil ||
		c.History[0].String("type") != "gate_denied" || c.Decisions[0].String("reason") != "not yet" {
		t.Fatalf("%+v %v", c, e)
	}
	for _, w := range []*Workspace{w, asked.With(c)} {
		if _, _, e := Approve(w, a.read(), nil, env("s")); e == nil || e.Code != wire.CodeNothingPending {
			t.Error(e)
		}
	}
	if _, e := Request(world(t, goodConfig), EvaluatePhase(world(t, goodConfig), a.read(), ""), env("s")); e == nil ||
		e.Code != wire.CodeGateFailed {
		t.Error(e)
	}
}

func TestCompletionApprovesTheBarriersOfPeople(t *testing.T) {
	w, a := shipped(t)
	c, e := Request(w, EvaluateCompletion(w, a.read()), env("s"))
	if e != nil {
		t.Fatal(e)
	}
	w = w.With(c)
	c, _, e = Approve(w, a.read(), nil, env("s"))
	if e != nil || c.State.Status != StatusCompleted || c.State.CompletedAt == "" ||
		c.History[0].String("type") != "run_completed" {
		t.Fatalf("%+v %v", c, e)
	}
	if b := c.Barriers.Get("launch_completion"); b.Status != Satisfied || b.ApprovedAt == "" ||
		b.Object().String("approved_at") == "" {
		t.Errorf("%+v", b)
	}
	if got := string(ojson.Compact(
		c.BarrierLedger[0].Object(
			"causation"))); got != `{"super_run_id":"srun_1","gate_type":"run_completion","gate":"initiative_ship","approved_by":"human"}` {
		t.Error(got)
	}
	if next := NextActions(w.With(c), a.read()); next != nil {
		t.Error(next)
	}
}
