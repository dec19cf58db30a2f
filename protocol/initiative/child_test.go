// Simulated repositories: governed states in memory that take, accept, reject and reissue turns.

package initiative

import (
	"fmt"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// actors are the repositories of a workspace.
type actors struct {
	t       testing.TB
	cfg     *Config
	configs map[string]*config.Config
	states  map[string]*run.State
	history map[string][]*ojson.Object
	events  map[string][]*ojson.Object
	hidden  map[string]bool // cannot be read
	turns   int
}

func newActors(t testing.TB, w *Workspace) *actors {
	a := &actors{
		t:       t,
		cfg:     w.Config,
		configs: map[string]*config.Config{},
		states:  map[string]*run.State{},
		history: map[string][]*ojson.Object{},
		events:  map[string][]*ojson.Object{},
		hidden:  map[string]bool{},
	}
	routing := ojson.NewObject()
	for _, p := range w.Config.Phases() {
		routing.Set(p, ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "qa"}))
	}
	for _, id := range w.Config.Repos.Keys() {
		raw := ojson.NewObject("schema_version", "1.0", "project", ojson.NewObject("id", id, "name", id),
			"roles", ojson.NewObject(
				"dev", ojson.NewObject("title", "D", "mandate", "m", "write_authority", "authoritative", "runtime",
					"manual"),
				"qa", ojson.NewObject("title", "Q", "mandate", "m", "write_authority", "review_only", "runtime",
					"manual")),
			"runtimes", ojson.NewObject("manual", ojson.NewObject("type", "manual")), "routing", routing)
		cfg, problems := config.DecodeObject(raw)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		runID := "run_" + id
		a.configs[id] = cfg
		a.states[id] = &run.State{RunID: &runID, Status: wire.StatusActive, Phase: w.State.Phase}
	}
	return a
}

// read returns what the coordinator sees.
func (a *actors) read() Children {
	out := Children{}
	for id, s := range a.states {
		if !a.hidden[id] {
			state := *s
			state.ActiveTurns = s.ActiveTurns.Clone(nil)
			out[id] = NewChild(id, "/"+id, a.configs[id], &state, a.history[id], a.events[id])
		}
	}
	return out
}

// dispatch dispatches a turn and returns the change that records it.
func (a *actors) dispatch(w *Workspace, as *Assignment) (turn string, c *Change) {
	a.turns++
	turn = fmt.Sprintf("turn_%d", a.turns)
	s := a.states[as.Repo]
	s.ActiveTurns.Set(turn, &run.Turn{TurnID: turn, AssignedRole: as.Role})
	c = &Change{}
	e := env("dispatch")
	c.Record(w, &e, RowDispatched, "workstream_id", as.Workstream, "repo_id", as.Repo, "repo_run_id", s.Run(),
		"repo_turn_id", turn, "role", as.Role, "context_ref", "ctx")
	return turn, c
}

func (a *actors) accept(repo, turn string, decisions []any, files ...string) {
	s := a.states[repo]
	s.ActiveTurns.Delete(turn)
	a.history[repo] = append(a.history[repo],
		ojson.NewObject("turn_id", turn, "run_id", s.Run(), "status", "completed", "summary", "did "+turn,
			"files_changed", append([]string{}, files...), "decisions", append([]any{}, decisions...),
			"verification", ojson.NewObject("status", "pass"), "accepted_at", "2026-01-02T03:04:05.678Z"))
}

func (a *actors) reject(repo, turn string) {
	a.states[repo].ActiveTurns.Delete(turn)
	a.history[repo] = append(a.history[repo], ojson.NewObject("turn_id", turn, "status", "rejected"))
}

func (a *actors) reissue(repo, turn string) string {
	a.turns++
	next := fmt.Sprintf("turn_%d", a.turns)
	s := a.states[repo]
	s.ActiveTurns.Delete(turn)
	s.ActiveTurns.Set(next, &run.Turn{TurnID: next, AssignedRole: "dev", ReissuedFrom: turn})
	a.history[repo] = append(a.history[repo], ojson.NewObject("turn_id", turn, "status", "reissued"))
	a.events[repo] = append(a.events[repo], ojson.NewObject("event_type", "turn_reissued",
		"turn", ojson.NewObject("turn_id", next), "payload", ojson.NewObject("old_turn_id", turn)))
	return next
}

func TestChildFollowsReissues(t *testing.T) {
	ev := func(old, turn string) *ojson.Object {
		return ojson.NewObject("event_type", "turn_reissued", "turn", ojson.NewObject("turn_id", turn),
			"payload", ojson.NewObject("old_turn_id", old))
	}
	c := NewChild("r", "/r", nil, nil, nil,
		[]*ojson.Object{ev("a", "b"), ev("b", "c"), ev("x", "y"), ev("y", "x"), ev("z", "z"), ev("", "q")})
	if c.Follow("a") != "c" || c.Follow("c") != "c" || c.Follow("z") != "z" || c.Follow("none") != "none" {
		t.Error("links are not followed to their end")
	}
	c.Follow("x") // must end despite the cycle
}

func TestCheckPhases(t *testing.T) {
	w := world(t, goodConfig)
	a := newActors(t, w)
	if p := CheckPhases(w.Config, a.read()["api"]); p != nil {
		t.Error(p)
	}
	other := world(t, goodConfig)
	other.Config.Routing.Delete("ship")
	if p := CheckPhases(other.Config, a.read()["api"]); p == nil || p.Code != "repo_phase_alignment_invalid" {
		t.Error(p)
	}
}
