// Tests of selection: who is next, and why no repository is.

package initiative

import (
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// after projects acceptances "workstream/repo:decisions".
func (w *Workspace) after(list ...string) *Workspace {
	out := *w
	out.History = accepted(list...)
	out.History.superRun = w.State.SuperRunID
	out.History = NewHistory(relabel(out.History.rows, w.State.SuperRunID), w.State.SuperRunID)
	return out.With(Evaluate(&out, env("s")))
}

func relabel(rows []*ojson.Object, run string) []*ojson.Object {
	for _, r := range rows {
		r.Set("super_run_id", run)
	}
	return rows
}

// in brings the initiative to a phase: the barriers of those before are satisfied.
func in(w *Workspace, phase string) *Workspace {
	c := &Change{State: w.State.Clone()}
	c.State.Phase = phase
	for _, s := range w.Config.Workstreams.All() {
		if slices.Index(w.Config.Phases(), s.Phase) < slices.Index(w.Config.Phases(), phase) {
			b := *w.BarrierOf(s.ID)
			b.Status, b.Required = Satisfied, nil
			c.put(w, &b)
		}
	}
	return w.With(c)
}

func TestSelect(t *testing.T) {
	base := world(t, goodConfig)
	all := []string{"contract/api:DEC-1", "contract/web:DEC-2,DEC-3"}
	with := func(more ...string) []string { return append(append([]string{}, all...), more...) }
	for _, c := range []struct {
		name, phase string
		history     []string
		change      func(*Workspace, *actors)
		want        string // "workstream repo role reason", or "! reason workstream repo"
	}{
		{"the entry workstream waits for another, which begins", "design", nil, nil, "contract api dev entry_repo"},
		{"the first refusal is told", "design", nil, func(_ *Workspace,
			a *actors) {
			a.states["api"].Status = wire.StatusBlocked
		}, "! dependency_pending names "},
		{"then the others", "design", []string{"contract/api:DEC-1"}, nil, "contract web dev next_unaccepted_repo"},
		{"a repository whose decisions are missing works on", "design",
			[]string{"contract/api", "contract/web:DEC-2,DEC-3"}, nil, "contract api dev missing_decisions"},
		{"no turn brings a decision that was accepted elsewhere", "design",
			[]string{"contract/api", "contract/web:DEC-2,DEC-3", "names/api:DEC-1"}, nil, "! dependency_pending names "},
		{"the entry workstream goes first", "design", all, nil, "names docs dev entry_repo"},
		{"everything is done", "design", with("names/docs:DEC-007"), nil, "! workstream_complete names "},
		{"another phase", "ship", nil, nil, "launch api dev entry_repo"},
		{"no workstream", "void", nil, nil, "! no_assignable_workstream  "},
		{"a sequence begins with its entry", "make", all, nil, "build web dev entry_repo"},
		{"even when another was first", "make", with("build/api"), nil, "build web dev entry_repo"},
		{"a sequence keeps its order", "make", with("build/web"), nil, "build api dev next_unaccepted_repo"},
		{"then what comes after the sequence", "make", with("build/web", "build/api", "polish/web"), nil,
			"polish api dev next_unaccepted_repo"},
		{"a busy repository holds up nobody", "design", []string{"contract/docs:DEC-1"}, func(_ *Workspace,
			a *actors) {
			a.states["api"].ActiveTurns.Set("t", &run.Turn{})
		}, "contract web dev next_unaccepted_repo"},
		{"a gate for a person does not stop work", "ship", with("build/web", "build/api", "polish/web", "polish/api"),
			nil, "launch api dev entry_repo"},
		{"nobody is left at the gate", "ship", with("build/web", "build/api", "polish/web", "polish/api",
			"launch/api"), nil, "! workstream_complete launch "},
		{"blocked", "make", all, func(_ *Workspace, a *actors) { a.states["web"].Status = wire.StatusBlocked },
			"! repo_blocked build web"},
		{"at work", "make", all, func(_ *Workspace, a *actors) { a.states["web"].ActiveTurns.Set("t", &run.Turn{}) },
			"! repo_busy build web"},
		{"at a gate of its own", "make", all, func(_ *Workspace, a *actors) {
			a.states["web"].PendingRunCompletion = &run.PendingCompletion{}
		}, "! repo_pending_gate build web"},
		{"behind", "make", all, func(_ *Workspace, a *actors) { a.states["web"].Phase = "design" },
			"! repo_not_ready build web"},
		{"ahead, with decisions that are missing", "design", []string{"contract/api", "contract/web:DEC-2,DEC-3"},
			func(_ *Workspace, a *actors) { a.states["api"].Phase = "make" }, "contract api dev missing_decisions"},
		{"a run that is over starts again at the first phase", "make", all, func(_ *Workspace,
			a *actors) {
			a.states["web"].Status = wire.StatusCompleted
		}, "! repo_not_ready build web"},
		{"no project", "make", all, func(_ *Workspace, a *actors) { a.hidden["web"] = true },
			"! repo_context_invalid build web"},
		{"the recommended role", "make", all, func(_ *Workspace,
			a *actors) {
			r := "qa"
			a.states["web"].NextRecommendedRole = &r
		}, "build web qa entry_repo"},
		{"a role of another phase is not taken", "make", all, func(_ *Workspace,
			a *actors) {
			r := "pope"
			a.states["web"].NextRecommendedRole = &r
		}, "build web dev entry_repo"},
		{"held back by a barrier", "make", all, hold(`{"downstream_repos":["web"]}`), "! barrier_blocked build web"},
		{"held back in one role", "make", all, hold(`{"blocked_assignments":["web:dev"]}`),
			"! barrier_blocked build web"},
		{"held back in any role", "make", all, hold(`{"blocked_assignments":["web:*"]}`),
			"! barrier_blocked build web"},
		{"another role is held back", "make", all, hold(`{"blocked_assignments":["web:qa","api"]}`),
			"build web dev entry_repo"},
		{"a barrier that is satisfied holds nobody", "make", with("build/web"), hold(`{"downstream_repos":["api"]}`),
			"build api dev next_unaccepted_repo"},
	} {
		w := in(base, c.phase).after(c.history...)
		a := newActors(t, w)
		if c.change != nil {
			c.change(w, a)
		}
		got := ""
		if as, no := Select(w, a.read()); as != nil {
			got = as.Workstream + " " + as.Repo + " " + as.Role + " " + as.Reason
		} else {
			got = "! " + no.Reason + " " + no.Workstream + " " + no.Repo
			if no.Detail == "" {
				t.Errorf("%s: no detail", c.name)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// hold sets members in the barrier of build.
func hold(text string) func(*Workspace, *actors) {
	return func(w *Workspace, a *actors) {
		b := w.Barriers.Get("build_completion")
		o := b.Object()
		for k, v := range object(a.t, text).All() {
			o.Set(k, v)
		}
		w.Barriers = w.Barriers.with(newBarrier(b.ID, o))
	}
}
