// The board of barriers: workstreams, their repositories, and what each still waits for.

package coordinator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Cells of the board: the progress of a repository with its part of a workstream.
const (
	CellDone     = "accepted"     // its part counts
	CellPartial  = "decisions"    // accepted, but declared decisions are missing
	CellWorking  = "working"      // a turn is in progress
	CellAccepted = "uncounted"    // accepted in the repository; the next step counts it
	CellLoose    = "unassigned"   // it accepted a turn that the initiative did not assign
	CellBlocked  = "blocked"      // its run is blocked
	CellGate     = "pending_gate" // it waits for a person at its own gate
	CellBehind   = "behind"       // its run has not reached the phase of the workstream
	CellOpen     = "open"         // none of it has begun
	CellAbsent   = "unreadable"   // its state cannot be read
)

// Cell is a repository's part of a workstream.
type Cell struct {
	Repo    string
	State   string   // one of the Cell constants
	Turn    string   // the turn in progress, or one that was accepted and does not count (yet)
	Missing []string // declared decisions it has not accepted
	Entry   bool     // the workstream begins here
}

// Row is a workstream with its barrier.
type Row struct {
	Workstream *initiative.Workstream
	Barrier    *initiative.Barrier // nil when barriers.json has none
	Current    bool                // it is worked on now: it belongs to the current phase, or was left behind in an earlier one
	Cells      []Cell
	WaitsFor   []string // in words; empty when the barrier is satisfied and there is nothing left to do
}

// Board returns the workstreams in the order of the phases.
func (s *Standing) Board() []Row {
	var out []Row
	phases := s.Config.Phases()
	for _, stream := range s.Config.Workstreams.All() {
		if !slices.Contains(phases, stream.Phase) {
			phases = append(phases, stream.Phase)
		}
	}
	for _, phase := range phases {
		for _, stream := range s.Config.PhaseWorkstreams(phase) {
			out = append(out, s.row(stream))
		}
	}
	return out
}

func (s *Standing) row(stream *initiative.Workstream) Row {
	r := Row{
		Workstream: stream,
		Barrier:    s.BarrierOf(stream.ID),
		Current:    slices.Contains(s.Due(), stream) && !s.State.Over(),
	}
	for _, repo := range stream.Repos {
		r.Cells = append(r.Cells, s.cell(stream, r.Barrier, repo))
	}
	r.WaitsFor = s.waitsFor(stream, r.Barrier)
	return r
}

func (s *Standing) cell(stream *initiative.Workstream, b *initiative.Barrier, repo string) Cell {
	c := Cell{Repo: repo, Entry: repo == stream.EntryRepo, State: CellOpen}
	if b != nil {
		c.Missing = s.History.Missing(stream.ID, repo, b.Decisions(repo))
	}
	for _, row := range s.History.Open() {
		if row.String("repo_id") != repo || row.String("workstream_id") != stream.ID {
			continue
		}
		child := s.Children[repo]
		if child == nil {
			continue
		}
		turn := child.Follow(row.String("repo_turn_id"))
		switch {
		case child.Accepted(turn) != nil && s.History.Projection(repo, turn) == nil:
			c.State, c.Turn = CellAccepted, turn
			return c
		case child.Active(turn):
			c.State, c.Turn = CellWorking, turn
		}
	}
	child := s.Children.State(repo)
	accepted := slices.Contains(s.History.Accepted(stream.ID), repo)
	switch {
	case c.State == CellWorking && (child == nil || child.Status != wire.StatusBlocked):
	case accepted && len(c.Missing) == 0:
		c.State = CellDone
	case child == nil:
		c.State = CellAbsent
	case child.Status == wire.StatusBlocked:
		c.State = CellBlocked
	case accepted:
		c.State = CellPartial
	case s.Children[repo].Waits() && stream.Phase == s.State.Phase:
		c.State = CellGate
	case stream.Phase == s.State.Phase &&
		slices.Index(s.Config.Phases(), child.Phase) < slices.Index(s.Config.Phases(), stream.Phase):
		c.State = CellBehind
	case stream.Phase == s.State.Phase:
		if turn := s.loose(repo); turn != "" {
			c.State, c.Turn = CellLoose, turn
		}
	}
	return c
}

// loose returns the newest turn that a repository accepted, if the initiative did not assign it; "" otherwise.
func (s *Standing) loose(repo string) string {
	child := s.Children[repo]
	if child.State.LastCompletedTurnID == nil || child.Run() != s.State.RunOf(repo) {
		return ""
	}
	turn := *child.State.LastCompletedTurnID
	for _, row := range s.History.Dispatched(repo) {
		if child.Follow(row.String("repo_turn_id")) == turn {
			return ""
		}
	}
	if s.History.Projection(repo, turn) != nil || s.Foreign(child, turn) {
		return ""
	}
	return turn
}

// waitsFor describes what a barrier still waits for.
func (s *Standing) waitsFor(stream *initiative.Workstream, b *initiative.Barrier) []string {
	if b == nil {
		return []string{fmt.Sprintf("barriers.json has no barrier %s", initiative.BarrierID(stream.ID))}
	}
	var out []string
	for _, dep := range stream.DependsOn {
		if !s.Done(dep, stream) {
			out = append(out, "workstream "+dep)
		}
	}
	waiting := b.Waiting(s.History)
	accepted := s.History.Accepted(stream.ID)
	for _, repo := range waiting.Keys() {
		ids, _ := waiting.Get(repo)
		switch {
		case b.Type == initiative.OrderedSequence && len(out) == 0 && repo != stream.EntryRepo &&
			!slices.Contains(accepted, stream.EntryRepo):
			out = append(out, fmt.Sprintf("%s, after %s", repo, stream.EntryRepo))
		case len(ids) > 0 && slices.Contains(accepted, repo):
			for i, id := range ids {
				if other := s.History.Elsewhere(stream.ID, repo, id); other != "" {
					ids[i] = fmt.Sprintf("%s (accepted in workstream %s, and counts only there)", id, other)
				}
			}
			out = append(out, fmt.Sprintf("%s to decide %s", repo, strings.Join(ids, ", ")))
		case len(ids) > 0:
			out = append(out, fmt.Sprintf("%s with %s", repo, strings.Join(ids, ", ")))
		default:
			out = append(out, repo)
		}
	}
	if b.Type == initiative.SharedHumanGate && b.Status != initiative.Satisfied {
		out = append(out, "a person, with the gate of the phase")
	}
	if len(out) > 0 && b.Differs(stream) {
		out = append(out, "this since the initiative began ("+initiative.ConfigFile+" has changed)")
	}
	return out
}

// Object returns the row for --json: {workstream_id, phase, current, depends_on, barrier_id, type, status, repos
// [{repo_id, entry, state, turn_id, missing_decisions}], waits_for}.
func (r *Row) Object() *ojson.Object {
	cells := []*ojson.Object{}
	for _, c := range r.Cells {
		cells = append(cells, ojson.NewObject("repo_id", c.Repo, "entry", c.Entry, "state", c.State,
			"turn_id", ojson.OrNull(c.Turn), "missing_decisions", append([]string{}, c.Missing...)))
	}
	id, kind, status := initiative.BarrierID(r.Workstream.ID), r.Workstream.Barrier, "missing"
	if r.Barrier != nil {
		id, kind, status = r.Barrier.ID, r.Barrier.Type, r.Barrier.Status
	}
	return ojson.NewObject("workstream_id", r.Workstream.ID, "phase", r.Workstream.Phase, "current", r.Current,
		"depends_on", append([]string{}, r.Workstream.DependsOn...), "barrier_id", id, "type", kind, "status", status,
		"repos", cells, "waits_for", append([]string{}, r.WaitsFor...))
}
