// Whether an initiative may leave its phase or be completed (docs/coordinator.md#gates).

package initiative

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ShipGate is the completion gate.
const ShipGate = "initiative_ship"

// Codes of blockers.
const (
	BlockNoNextPhase = "no_next_phase"
	BlockPhaseSkip   = "phase_skip_forbidden"
	BlockNotFinal    = "not_final_phase"
	BlockNoState     = "repo_state_missing"
	BlockRunMismatch = "repo_run_id_mismatch"
	BlockRepoBlocked = "repo_blocked"
	BlockActiveTurns = "repo_active_turns"
	BlockPendingGate = "repo_pending_gate"
	BlockNotReady    = "repo_not_ready"
	BlockNotComplete = "repo_not_completion_ready"
	BlockNoBarrier   = "barrier_missing"
	BlockUnsatisfied = "barrier_unsatisfied"
	BlockNotAsked    = "gate_repo_dropped" // ours, like the next
	BlockNoPhase     = "phase_unknown"
)

// Evaluation is what a gate waits for.
type Evaluation struct {
	Ready         bool
	Type          string // GatePhase or GateCompletion
	Gate          string // gate id, "" when there is no next phase
	From, To      string // phases; To is "" for a completion
	RequiredRepos []string
	Workstreams   []*ojson.Object // {workstream_id, barrier_id, barrier_type, barrier_status}
	Blockers      []*ojson.Object // {code, message, and what it is about}
	HumanBarriers []string        // barriers that approving the gate approves

	pending bool // it judges a gate that was requested
}

func (e *Evaluation) block(code, message string, further ...any) {
	o := ojson.NewObject(append([]any{"code", code}, further...)...)
	o.Set("message", message)
	e.Blockers = append(e.Blockers, o)
}

// EvaluatePhase judges the gate out of the current phase. target is the requested phase; "" means the next one.
func EvaluatePhase(w *Workspace, children Children, target string) *Evaluation {
	from, next := w.State.Phase, w.Config.NextPhase(w.State.Phase)
	e := &Evaluation{Type: GatePhase, From: from, To: next, RequiredRepos: []string{}}
	if target != "" {
		e.To = target
	}
	switch {
	case !slices.Contains(w.Config.Phases(), from):
		e.To = ""
		e.block(BlockNoPhase, fmt.Sprintf("%s has no phase %s, which the initiative is in.", ConfigFile, from))
	case next == "":
		e.To = ""
		e.block(BlockNoNextPhase, fmt.Sprintf("Phase %s is the last one.", from))
	case target != "" && target != next:
		e.block(BlockPhaseSkip, fmt.Sprintf("After phase %s comes %s, not %s.", from, next, target))
	}
	if e.To != "" {
		e.Gate = phaseGate(from, e.To)
	}
	streams := w.Due()
	for _, s := range streams {
		e.RequiredRepos = union(e.RequiredRepos, s.Repos)
	}
	for _, repo := range e.RequiredRepos {
		if s := e.repo(w, children, repo); s != nil {
			e.phase(w, children[repo], from)
		}
	}
	for _, s := range streams {
		e.stream(w, s)
	}
	e.Ready = len(e.Blockers) == 0
	return e
}

// Overtaken says how the configuration has changed since a pending gate was requested, so that it is another gate now,
// "" if it has not: only its denial leads on, after which the next step requests the gate anew.
func (e *Evaluation) Overtaken() string {
	if e == nil || !e.pending {
		return ""
	}
	for _, b := range e.Blockers {
		switch b.String("code") {
		case BlockNoPhase:
			return "" // nothing leads on but the phase
		case BlockNoNextPhase, BlockPhaseSkip, BlockNotFinal, BlockNotAsked:
			return b.String("message")
		}
	}
	return ""
}

// EvaluateCompletion judges the gate at the end of the initiative. A gate that
// names no repositories waits for the required ones (docs/siblings.md).
func EvaluateCompletion(w *Workspace, children Children) *Evaluation {
	e := &Evaluation{Type: GateCompletion, Gate: ShipGate, From: w.State.Phase, RequiredRepos: []string{}}
	if next := w.Config.NextPhase(w.State.Phase); next != "" {
		e.block(BlockNotFinal, fmt.Sprintf("Phase %s is not the last one; %s comes next.", w.State.Phase, next))
	}
	if g, _ := w.Config.Gates.Get(ShipGate); g != nil && len(g.RequiresRepos) > 0 {
		e.RequiredRepos = g.RequiresRepos
	} else {
		for id, r := range w.Config.Repos.All() {
			if r.Required {
				e.RequiredRepos = append(e.RequiredRepos, id)
			}
		}
	}
	for _, b := range w.Barriers.All() {
		e.barrier(w, b)
	}
	for _, s := range w.Config.Workstreams.All() {
		if w.BarrierOf(s.ID) == nil {
			e.missing(s)
		}
	}
	for _, repo := range e.RequiredRepos {
		if s := e.repo(w, children, repo); s != nil && s.Status != wire.StatusCompleted &&
			s.PendingRunCompletion == nil {
			e.block(BlockNotComplete,
				fmt.Sprintf("Repository %s is neither complete nor waiting for the approval of its completion.", repo),
				"repo_id", repo)
		}
	}
	e.Ready = len(e.Blockers) == 0
	return e
}

// repo adds blockers for what any gate waits for in a repository. It returns the state when it is of the run that
// the initiative knows.
func (e *Evaluation) repo(w *Workspace, children Children, repo string) *run.State {
	s := children.State(repo)
	if s == nil {
		e.block(BlockNoState, cmp.Or(children[repo], &Child{ID: repo}).noState(), "repo_id", repo)
		return nil
	}
	if expected := w.State.RunOf(repo); expected != s.Run() {
		e.block(BlockRunMismatch, driftText(repo, expected, s.Run()), "repo_id", repo,
			"expected_run_id", ojson.OrNull(expected), "actual_run_id", ojson.OrNull(s.Run()))
		return nil
	}
	if s.Status == wire.StatusBlocked {
		e.block(BlockRepoBlocked, fmt.Sprintf("Repository %s is blocked.", repo), "repo_id", repo)
	}
	if n := s.ActiveTurns.Len(); n > 0 {
		e.block(BlockActiveTurns, fmt.Sprintf("Repository %s is at work (%s).", repo, OrNone(s.ActiveTurns.Keys())),
			"repo_id", repo, "active_turns", n)
	}
	return s
}

// phase adds a blocker for a repository that waits at a gate of its own or is behind the phase that the initiative
// is about to leave (docs/siblings.md). The gates of a repository that has left the phase concern later phases.
func (e *Evaluation) phase(w *Workspace, c *Child, from string) {
	if c.Waits() && !w.ahead(c.State.Phase, from) {
		e.block(BlockPendingGate, fmt.Sprintf("Repository %s waits for a person at a gate of its own.", c.ID),
			"repo_id", c.ID)
	}
	phases := w.Config.Phases()
	if at, due := slices.Index(phases, c.State.Phase),
		slices.Index(phases, from); at < due && c.State.Status != wire.StatusCompleted {
		text := fmt.Sprintf("Repository %s is in phase %s and has not reached %s.", c.ID, c.State.Phase, from)
		if at < 0 {
			text = fmt.Sprintf("Repository %s is in phase %s, which %s does not have.", c.ID, c.State.Phase, ConfigFile)
		}
		e.block(BlockNotReady, text, "repo_id", c.ID, "current_phase", c.State.Phase, "required_phase", from)
	}
}

func (e *Evaluation) stream(w *Workspace, s *Workstream) {
	b := w.BarrierOf(s.ID)
	if b == nil {
		e.missing(s)
		return
	}
	e.Workstreams = append(e.Workstreams,
		ojson.NewObject("workstream_id", s.ID, "barrier_id", b.ID, "barrier_type", b.Type, "barrier_status", b.Status))
	e.barrier(w, b)
}

func (e *Evaluation) missing(s *Workstream) {
	e.block(BlockNoBarrier, fmt.Sprintf("Workstream %s has no barrier %s.", s.ID, BarrierID(s.ID)),
		"barrier_id", BarrierID(s.ID), "workstream_id", s.ID)
}

// barrier adds a blocker for a barrier that still waits for repositories. A barrier that waits only for a person is
// approved with the gate; a sequence is over when its last repository has accepted (docs/siblings.md).
func (e *Evaluation) barrier(w *Workspace, b *Barrier) {
	waiting := b.Waiting(w.History)
	if b.Type == OrderedSequence && b.Status == Satisfied && w.Config.Workstream(b.Workstream) == nil {
		return
	}
	switch {
	case waiting.Len() == 0 && b.Status == Satisfied:
	case waiting.Len() == 0 && b.Type == SharedHumanGate:
		e.HumanBarriers = append(e.HumanBarriers, b.ID)
	default:
		text := fmt.Sprintf("Barrier %s of workstream %s is %s", b.ID, b.Workstream, b.Status)
		if waiting.Len() > 0 {
			text += " and waits for " + OrNone(waiting.Keys())
		}
		e.block(BlockUnsatisfied, text+".", "barrier_id", b.ID, "workstream_id", b.Workstream,
			"barrier_status", b.Status)
	}
}

// Object returns the evaluation for --json.
func (e *Evaluation) Object() *ojson.Object {
	o := ojson.NewObject("ready", e.Ready, "gate_type", e.Type, "gate_id", ojson.OrNull(e.Gate),
		"current_phase", e.From, "target_phase", ojson.OrNull(e.To),
		"required_repos", e.RequiredRepos, "blockers", e.Blockers,
		"human_barriers", append([]string{}, e.HumanBarriers...))
	if e.Type == GatePhase {
		o.Set("workstreams", e.Workstreams)
	} else {
		o.Set("requires_human_approval", true)
	}
	return o
}
