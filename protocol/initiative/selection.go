// Which repository works next, on which workstream and in which role (docs/coordinator.md#a-turn).

package initiative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Reasons of an assignment.
const (
	ReasonEntry     = "entry_repo"           // the workstream begins here
	ReasonNext      = "next_unaccepted_repo" // it has accepted nothing of the workstream yet
	ReasonDecisions = "missing_decisions"    // it has not accepted all its declared decisions
)

// Reasons why nothing can be assigned.
const (
	NoWorkstream      = "no_assignable_workstream"
	DependencyPending = "dependency_pending"
	StreamComplete    = "workstream_complete"
	ContextInvalid    = "repo_context_invalid"
	StateMissing      = "repo_state_missing"
	ChildBlocked      = "repo_blocked"
	ChildOver         = "repo_run_over"
	ChildBusy         = "repo_busy"
	ChildWaiting      = "repo_pending_gate"
	ChildPhase        = "repo_not_ready"
	RoleUnresolved    = "role_unresolved"
	BarrierBlocked    = "barrier_blocked"
)

// Assignment is the next turn to dispatch.
type Assignment struct {
	Workstream, Repo, Role string
	Reason                 string
}

// Refusal says why a workstream, or a repository for it, cannot be assigned. Repo and Workstream are empty when the
// refusal is about none.
type Refusal struct {
	Reason, Detail   string
	Workstream, Repo string

	wayOut, reason string // of what no turn can bring any more: what helps, or why the initiative ends
}

// Select picks the next assignment: the first workstream of the phase with work for a repository that can take it.
// Otherwise it returns the first refusal.
func Select(w *Workspace, children Children) (*Assignment, *Refusal) {
	var first *Refusal
	for _, stream := range w.Due() {
		a, no := w.assign(stream, children)
		if a != nil {
			return a, nil
		}
		if first == nil || first.Reason == StreamComplete && no.Reason != StreamComplete {
			first = no // a finished workstream says nothing about what blocks another
		}
	}
	if no := w.orphan(); no != nil && (first == nil || first.Reason == StreamComplete) {
		first = no
	}
	if first == nil {
		first = &Refusal{Reason: NoWorkstream, Detail: fmt.Sprintf("No workstream is in phase %s.", w.State.Phase)}
	}
	return nil, first
}

// Due returns the workstreams that are worked on now: those of the phase, after those of earlier phases that still wait.
// A workstream is left behind where a person moves it to an earlier phase, or adds it there.
func (w *Workspace) Due() []*Workstream {
	var out []*Workstream
	phases := w.Config.Phases()
	for _, phase := range phases[:max(0, slices.Index(phases, w.State.Phase))] {
		for _, s := range w.Config.PhaseWorkstreams(phase) {
			if b := w.BarrierOf(s.ID); b == nil || b.Status != Satisfied || b.Waiting(w.History).Len() > 0 {
				out = append(out, s)
			}
		}
	}
	return append(out, w.Config.PhaseWorkstreams(w.State.Phase)...)
}

// BarrierOf returns the barrier of a workstream: the one it started with, or
// another that names it.
func (w *Workspace) BarrierOf(stream string) *Barrier {
	if b := w.Barriers.Get(BarrierID(stream)); b != nil {
		return b
	}
	if list := w.Barriers.Of(stream); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Done reports whether stream no longer waits for dep. A person approves a shared gate together with its phase, so
// workstreams of that phase cannot wait for the approval: they follow the work (docs/siblings.md).
func (w *Workspace) Done(dep string, stream *Workstream) bool {
	b, of := w.BarrierOf(dep), w.Config.Workstream(dep)
	switch {
	case b == nil || of == nil:
		return false
	case b.Status == Satisfied:
		return true
	}
	return b.Type == SharedHumanGate && of.Phase == stream.Phase && b.Waiting(w.History).Len() == 0
}

func (w *Workspace) assign(stream *Workstream, children Children) (*Assignment, *Refusal) {
	for _, dep := range stream.DependsOn {
		if !w.Done(dep, stream) {
			return nil, &Refusal{
				Reason:     DependencyPending,
				Workstream: stream.ID,
				Detail:     fmt.Sprintf("Workstream %s waits for %s.", stream.ID, dep),
			}
		}
	}
	candidates := w.candidates(stream)
	if len(candidates) == 0 {
		if no := w.waitsInVain(stream); no != nil {
			return nil, no
		}
		return nil, &Refusal{
			Reason:     StreamComplete,
			Workstream: stream.ID,
			Detail:     fmt.Sprintf("Every repository of workstream %s has done its part.", stream.ID),
		}
	}
	var first *Refusal
	for _, a := range candidates {
		no := w.available(&a, stream, children)
		if no == nil {
			return &a, nil
		}
		if no.Workstream, no.Repo = stream.ID, a.Repo; first == nil {
			first = no
		}
	}
	return nil, first
}

// candidates returns the repositories that have something to do, in the order they are tried. A workstream begins
// with its entry repository; a sequence keeps its order to the end, elsewhere a busy repository holds up no other
// (docs/siblings.md).
func (w *Workspace) candidates(stream *Workstream) []Assignment {
	b := w.BarrierOf(stream.ID)
	if b != nil && b.Type == SharedHumanGate && b.Status == Satisfied {
		return nil
	}
	accepted := w.History.Accepted(stream.ID)
	ordered := stream.Barrier == OrderedSequence
	if len(accepted) == 0 || ordered && !slices.Contains(accepted, stream.EntryRepo) {
		return []Assignment{{Workstream: stream.ID, Repo: stream.EntryRepo, Reason: ReasonEntry}}
	}
	var out []Assignment
	for _, repo := range stream.Repos {
		if !slices.Contains(accepted, repo) {
			out = append(out, Assignment{Workstream: stream.ID, Repo: repo, Reason: ReasonNext})
		}
	}
	if ordered && len(out) > 1 {
		out = out[:1]
	}
	if b == nil || b.Status == Satisfied || b.Type != InterfaceAlignment && b.Type != NamedDecisions {
		return out
	}
	for _, repo := range stream.Repos {
		if slices.Contains(accepted, repo) && len(w.History.Missing(stream.ID, repo, b.Decisions(repo))) > 0 &&
			w.inVain(stream.ID, repo) == "" {
			out = append(out, Assignment{Workstream: stream.ID, Repo: repo, Reason: ReasonDecisions})
		}
	}
	return out
}

// inVain returns the decision of a repository that a workstream can never get: the repository accepted it in
// another workstream, so no turn can bring it any more.
func (w *Workspace) inVain(stream, repo string) string {
	b := w.BarrierOf(stream)
	if b == nil || b.Status == Satisfied || b.Type != InterfaceAlignment && b.Type != NamedDecisions {
		return ""
	}
	for _, id := range w.History.Missing(stream, repo, b.Decisions(repo)) {
		if other := w.History.Elsewhere(stream, repo, id); other != "" {
			return fmt.Sprintf("Workstream %s waits for decision %s of repository %s, which was accepted in workstream %s and "+
				"counts only there; a run records an id once.", stream, id, repo, other)
		}
	}
	return ""
}

// deadEnd refuses what no turn can bring any more, in the workstreams that are due and at the end; nil if there is
// nothing of the kind.
func (w *Workspace) deadEnd() *Refusal {
	for _, stream := range w.Due() {
		if no := w.waitsInVain(stream); no != nil {
			return no
		}
	}
	return w.orphan()
}

// waitsInVain refuses a workstream that waits for a decision it can never get, or for a repository that a person has
// taken out of it; nil for any other.
func (w *Workspace) waitsInVain(stream *Workstream) *Refusal {
	for _, repo := range stream.Repos {
		if why := w.inVain(stream.ID, repo); why != "" {
			return &Refusal{
				Reason: BarrierBlocked, Workstream: stream.ID, Repo: repo, Detail: why,
				wayOut: "Correct the ids in " + ConfigFile + ", end this initiative, and start another one.",
				reason: "decisions were accepted in another workstream",
			}
		}
	}
	b := w.BarrierOf(stream.ID)
	if b == nil {
		return nil
	}
	for _, repo := range b.Waiting(w.History).Keys() {
		if !slices.Contains(stream.Repos, repo) {
			return b.abandoned(repo, fmt.Sprintf("Barrier %s waits for repository %s as when it began, and workstream %s of %s "+
				"no longer has it.", b.ID, repo, stream.ID, ConfigFile))
		}
	}
	return nil
}

// orphan refuses the end of an initiative while a barrier waits whose workstream a person has taken out.
func (w *Workspace) orphan() *Refusal {
	if phases := w.Config.Phases(); len(phases) == 0 || phases[len(phases)-1] != w.State.Phase {
		return nil // without any the configuration cannot be used
	}
	for _, b := range w.Barriers.All() {
		if b.Status != Satisfied && w.Config.Workstream(b.Workstream) == nil {
			return b.abandoned("", fmt.Sprintf("Barrier %s is %s, and %s no longer has its workstream %s.", b.ID, b.Status,
				ConfigFile, b.Workstream))
		}
	}
	return nil
}

// abandoned refuses to wait for what a person has taken out of the configuration.
func (b *Barrier) abandoned(repo, detail string) *Refusal {
	return &Refusal{
		Reason: BarrierBlocked, Workstream: b.Workstream, Repo: repo, Detail: detail,
		wayOut: "Put it back there; or end this initiative, and start another one.",
		reason: "its workstreams were changed",
	}
}

// available fills in the role if the repository can take the turn now.
func (w *Workspace) available(a *Assignment, stream *Workstream, children Children) *Refusal {
	refuse := func(reason, format string, args ...any) *Refusal {
		return &Refusal{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	c := children[a.Repo]
	switch {
	case c == nil || c.Config == nil:
		return refuse(ContextInvalid, "Repository %s is not a governed project that can be loaded.", a.Repo)
	case c.State == nil:
		return refuse(StateMissing, "%s", c.noState())
	case w.OtherName(a.Repo, c.Run()) != "":
		return refuse(ContextInvalid, "Repository %s is in run %s, which the initiative knows as that of %s.", a.Repo, c.Run(),
			w.OtherName(a.Repo, c.Run()))
	case c.Remote && c.State.ActiveTurns.Len() == 0:
		return refuse(RemoteOnly, "%s", onServer(a.Repo, "its turns are assigned"))
	case c.State.Status == wire.StatusBlocked:
		return refuse(ChildBlocked, "Repository %s is blocked.", a.Repo)
	case c.State.Status == wire.StatusFailed:
		return refuse(ChildOver, "%s", c.over())
	case c.State.ActiveTurns.Len() > 0:
		return refuse(ChildBusy, "Repository %s is at work on %s.", a.Repo,
			strings.Join(c.State.ActiveTurns.Keys(), ", "))
	case c.Waits():
		return refuse(ChildWaiting, "Repository %s waits for a person at a gate of its own.", a.Repo)
	case c.phase() != stream.Phase && c.State.Status == wire.StatusCompleted:
		return refuse(ChildPhase, "%s", c.over())
	case c.phase() != stream.Phase && !w.ahead(c.phase(), stream.Phase):
		return refuse(ChildPhase, "Repository %s is in phase %s, workstream %s in %s.", a.Repo, c.phase(), stream.ID,
			stream.Phase)
	}
	state := *c.State
	state.Phase = c.phase()
	role, _, err := protocol.ResolveRole(c.Config, &state, "")
	if err != nil || role == "" {
		return refuse(RoleUnresolved, "Repository %s has no role for phase %s.", a.Repo, state.Phase)
	}
	for _, b := range w.Barriers.Of(stream.ID) {
		if b.blocks(a.Repo, role) {
			return refuse(BarrierBlocked, "Barrier %s holds %s back.", b.ID, a.Repo)
		}
	}
	a.Role = role
	return nil
}

// OtherName returns the repository that a run belongs to, if that is another one: a person has renamed it, or put a
// clone in the place of another. A turn of that run would count twice.
func (w *Workspace) OtherName(repo, run string) string {
	for other := range w.State.RepoRuns.All() {
		if other != repo && run != "" && w.State.RunOf(other) == run {
			return other
		}
	}
	return ""
}

// ahead reports whether a repository has left a phase that the initiative is in. Its run does not go back, so it
// delivers what it still owes a workstream of that phase from its present phase.
func (w *Workspace) ahead(at, phase string) bool {
	phases := w.Config.Phases()
	return slices.Index(phases, at) > slices.Index(phases, phase)
}

// blocks reports whether the barrier declares that the repository waits for it. Waiting for a person is not a reason
// to stop working (docs/coordinator.md).
func (b *Barrier) blocks(repo, role string) bool {
	if b.Status == Satisfied || b.Type == AllReposAccepted {
		return false
	}
	for _, entry := range b.list("blocked_assignments") {
		if entry == repo || entry == repo+":"+role || entry == repo+":*" {
			return true
		}
	}
	return slices.Contains(b.list("downstream_repos"), repo)
}

// OrNone joins words with commas, or says that there are none.
func OrNone(words []string) string {
	if len(words) == 0 {
		return "(none)"
	}
	return strings.Join(words, ", ")
}
