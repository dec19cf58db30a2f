// Complete random initiatives: dispatched, rejected, reissued, blocked, denied and restarted at random, they reach
// their end and never get stuck.

package initiative

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// play drives one initiative as "step" does and returns the number of steps.
func play(t *rapid.T, d dice, outer testing.TB) int {
	raw := drawConfig(d, func(workstream, n int) string {
		return fmt.Sprintf("DEC-%d%d", workstream, n) // a run records an id once
	})
	cfg, problems := DecodeObject(raw)
	if len(problems) > 0 {
		t.Fatalf("%v", Lines(problems))
	}
	// Workstreams pass through the phases in order of their dependencies; otherwise an initiative could never
	// finish.
	for i, s := range cfg.Workstreams.Keys() {
		w := cfg.Workstream(s)
		w.Phase = cfg.Phases()[i*len(cfg.Phases())/cfg.Workstreams.Len()]
	}
	w := &Workspace{
		Config:       cfg,
		Barriers:     NewBarriers(cfg, "t"),
		History:      NewHistory(nil, "srun"),
		Places:       flatPlaces(cfg.Repos.Keys()),
		NextDecision: 1,
		State:        &State{SchemaVersion: Schema, SuperRunID: "srun", Status: StatusActive, Phase: cfg.Phases()[0]},
	}
	for _, id := range cfg.Repos.Keys() {
		run := "run_" + id
		w.State.RepoRuns.Set(id, &RepoRun{RunID: &run, Status: RepoLinked, Phase: w.State.Phase})
	}
	a := newActors(outer, w)
	report := strings.ReplaceAll(Report("r", "t"), reportPlaceholder, "done")
	var all []*ojson.Object
	n := 0
	take := func(c *Change) {
		for _, row := range c.Decisions {
			n++
			if want := fmt.Sprintf("DEC-COORD-%03d", n); row.String("id") != want {
				t.Fatalf("decision %s comes where %s should", row.String("id"), want)
			}
		}
		all = append(all, c.History...)
		w = w.With(c)
		agree(t, raw, w)
		if d.one(5) {
			w = restart(t, w, all)
		}
	}
	decisionsOf := func(as *Assignment) []any {
		var out []any
		b := w.Barriers.Get(BarrierID(as.Workstream))
		for _, id := range w.History.Missing(as.Workstream, as.Repo, b.Decisions(as.Repo)) {
			if !d.one(3) {
				out = append(out, ojson.NewObject("id", id))
			}
		}
		return out
	}
	for step := 1; step <= 2000; step++ {
		e := env(fmt.Sprint("seed", step))
		kids := a.read()
		actions := NextActions(w, kids)
		if w.State.Status == StatusCompleted {
			if len(actions) != 0 {
				t.Fatalf("a complete initiative has something to do: %v", actions)
			}
			finished(t, w)
			return step
		}
		if d.one(40) && w.State.Status != StatusBlocked {
			take(Block(w, "somebody says so", e))
			continue
		}
		if len(actions) == 0 {
			t.Fatalf("step %d: nothing to do in status %s", step, w.State.Status)
		}
		switch actions[0].Code {
		case NextResume:
			c, _, err := Resume(w, kids, &report, e)
			if err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			take(c)
		case NextResync:
			c, r := Resync(w, kids, e)
			if !r.OK || c.Empty() {
				t.Fatalf("step %d: a resync was called for and came to nothing: %s", step, ojson.Compact(r.Object()))
			}
			take(c)
		case NextGate:
			if d.one(4) {
				c, err := Deny(w, "again", e)
				if err != nil {
					t.Fatal(err)
				}
				take(c)
				continue
			}
			from := w.State.Phase
			c, _, err := Approve(w, kids, nil, e)
			if err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			take(c)
			if w.State.Phase != from {
				for _, s := range a.states {
					s.Phase = w.State.Phase // their own gates were passed too
				}
			}
		case NextStep, NextRepo: // the repositories do by themselves what they are asked for
			if len(Divergence(w, kids)) > 0 { // what has ended is taken over first
				c, r := Resync(w, kids, e)
				if !r.OK {
					t.Fatalf("step %d: %s", step, ojson.Compact(r.Object()))
				}
				take(c)
				continue
			}
			as, no := Select(w, kids)
			if as == nil {
				if busy := settle(d, a); busy {
					continue
				}
				ev := EvaluatePhase(w, kids, "")
				if cfg.NextPhase(w.State.Phase) == "" {
					for _, s := range a.states {
						s.PendingRunCompletion = &run.PendingCompletion{}
					}
					ev = EvaluateCompletion(w, a.read())
				}
				if !ev.Ready {
					t.Fatalf("step %d: stuck in phase %s: %+v, and the gate says %s in %s", step, w.State.Phase, no,
						blockers(ev), ojson.Compact(raw))
				}
				c, err := Request(w, ev, e)
				if err != nil {
					t.Fatal(err)
				}
				take(c)
				continue
			}
			turn, c := a.dispatch(w, as)
			take(c)
			if d.one(4) {
				continue // continues later
			}
			work(d, a, as.Repo, turn, decisionsOf(as))
		default:
			t.Fatalf("step %d: %+v", step, actions)
		}
		for repo, s := range a.states {
			for turn := range s.ActiveTurns.All() {
				if d.one(6) {
					work(d, a, repo, turn, nil)
				}
			}
		}
	}
	t.Fatalf("no end after 2000 steps of %s", ojson.Compact(raw))
	return 0
}

// agree compares every barrier with the independent model's result for the acceptances recorded so far.
func agree(t *rapid.T, raw *ojson.Object, w *Workspace) {
	m := &model{raw: raw, turns: map[string]string{}, done: map[string][]*ojson.Object{}}
	for _, row := range w.History.Rows() {
		if row.String("type") != rowProjection {
			continue
		}
		turn := row.String("repo_id") + "/" + row.String("repo_turn_id")
		if m.turns[turn] != "" {
			t.Fatalf("turn %s counts twice", turn)
		}
		m.turns[turn] = row.String("workstream_id")
		at := row.String("workstream_id") + "/" + row.String("repo_id")
		m.done[at] = append(m.done[at], row)
	}
	for _, b := range w.Barriers.All() {
		switch want := m.status(b.Workstream); {
		case b.Type == SharedHumanGate:
			if (b.Status == Satisfied) != (b.ApprovedAt != "") {
				t.Fatalf("%s is %s, approved at %q", b.ID, b.Status, b.ApprovedAt)
			}
		case b.Status != want:
			t.Fatalf("%s (%s) is %s, the model says %s", b.ID, b.Type, b.Status, want)
		}
	}
}

// work ends a turn one way or another.
func work(d dice, a *actors, repo, turn string, decisions []any) {
	switch d.IntN(8) {
	case 0:
		a.reject(repo, turn)
	case 1:
		a.reissue(repo, turn)
	case 2:
		a.states[repo].ActiveTurns.Delete(turn) // for no reason that it gives
	default:
		a.accept(repo, turn, decisions, "src/"+turn)
	}
}

// settle ends a turn that is being worked on; false when there is none.
func settle(d dice, a *actors) bool {
	for _, repo := range a.cfg.Repos.Keys() {
		for turn := range a.states[repo].ActiveTurns.All() {
			work(d, a, repo, turn, nil)
			return true
		}
	}
	return false
}

// finished checks a complete initiative.
func finished(t *rapid.T, w *Workspace) {
	for _, b := range w.Barriers.All() {
		if b.Status != Satisfied || (b.Type == SharedHumanGate) != (b.ApprovedAt != "") {
			t.Fatalf("the initiative is complete and barrier %s (%s) is %s", b.ID, b.Type, b.Status)
		}
		if got := intersect(w.History.Accepted(b.Workstream), b.Required); len(got) != len(b.Required) {
			t.Fatalf("the initiative is complete and of %s only %v have accepted", b.Workstream, got)
		}
	}
	for i, p := range w.Config.Phases()[1:] {
		if v, _ := w.State.PhaseGateStatus.Get(GatePhase + ":" + w.Config.Phases()[i] + "->" + p); v != "passed" {
			t.Fatalf("the gate into %s was not passed", p)
		}
	}
}

func TestInitiativesComeToTheirEnd(t *testing.T) {
	testrepo.Thorough(t)
	steps, n := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))}
		for range oneCheck(t) {
			steps += play(rt, d, t)
			n++
		}
	})
	t.Logf("%d initiatives, %d steps", n, steps)
}
