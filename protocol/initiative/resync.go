// Resync: the repositories are right, and the record of the initiative follows them
// (docs/coordinator.md#when-it-is-blocked).

package initiative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Resynced is the outcome of a resync.
type Resynced struct {
	OK            bool
	Repos         []string // repositories whose record changed, or that had a turn projected
	Projected     []Projected
	Barriers      []BarrierChange
	Mismatches    []*ojson.Object // {code, repo_id, expected_run_id, actual_run_id, message}
	Errors        []string        // repositories that could not be read or are on another run
	BlockedReason string          // "" unless the initiative is blocked now
	Behind        *wire.Error     // set when a clone is behind, so that nothing can be decided here; else nil
}

// Projected is an acceptance that a resync found.
type Projected struct {
	Ref        string
	Acceptance Acceptance
}

// Object returns the result for --json.
func (r *Resynced) Object() *ojson.Object {
	rows, barriers := []*ojson.Object{}, []*ojson.Object{}
	for _, p := range r.Projected {
		a := p.Acceptance
		rows = append(rows, ojson.NewObject("repo_id", a.Repo, "repo_turn_id", a.TurnID, "workstream_id", a.Workstream,
			"projection_ref", p.Ref,
			"summary", a.Summary, "files_changed", append([]string{}, a.FilesChanged...),
			"decisions", append([]any{}, a.Decisions...), "verification", a.Verification))
	}
	for _, b := range r.Barriers {
		barriers = append(barriers, b.Row())
	}
	o := ojson.NewObject("ok", r.OK, "resynced_repos", append([]string{}, r.Repos...), "projected_acceptances", rows,
		"barrier_changes", barriers,
		"mismatch_details", append([]*ojson.Object{}, r.Mismatches...), "errors", append([]string{}, r.Errors...))
	if r.BlockedReason != "" {
		o.Set("blocked_reason", r.BlockedReason)
	}
	return o
}

// Merge adds another change, made on top of this one.
func (c *Change) Merge(d *Change) {
	c.History = append(c.History, d.History...)
	c.BarrierLedger = append(c.BarrierLedger, d.BarrierLedger...)
	c.Decisions = append(c.Decisions, d.Decisions...)
	c.HookAudit = append(c.HookAudit, d.HookAudit...)
	c.HookNotes = append(c.HookNotes, d.HookNotes...)
	c.Files = append(c.Files, d.Files...)
	c.Effects = append(c.Effects, d.Effects...)
	c.Invalidated = union(c.Invalidated, d.Invalidated)
	if d.Barriers != nil {
		c.Barriers = d.Barriers
	}
	if d.State != nil {
		c.State = d.State
	}
}

// Resync updates the record: the runs of the repositories, the turns they accepted, the barriers. It never changes
// a repository. An acceptance that cannot be believed (another run, files of a sibling) blocks the initiative and
// is not projected; a gate that waits while one of its repositories is blocked also blocks it. A clone that is
// behind blocks nothing: others have what it lacks. A resync that finds nothing new changes nothing.
func Resync(w *Workspace, children Children, env protocol.Env) (*Change, *Resynced) {
	r := &Resynced{}
	total := &Change{}
	mismatches := Divergence(w, children)

	cur := *w
	state := w.State.Clone()
	drift := r.refresh(state, mismatches, children)
	cur.State = state

	var violations []string
	gone := r.turns(&cur, children, total, mismatches, &violations, env)
	moved := Evaluate(&cur, env)
	total.Merge(moved)
	cur = *cur.With(moved)
	r.Barriers = total.Effects

	reason := strings.Join(drift, "; ")
	for _, next := range []string{strings.Join(violations, "; "), incoherent(state, children)} {
		if reason == "" {
			reason = next
		}
	}
	if reason != "" && (state.Status != StatusBlocked || state.BlockedReason != reason) {
		state.block(reason)
	}
	r.OK = reason == "" && len(r.Errors) == 0
	if reason != "" {
		r.BlockedReason = reason
	}
	if string(ojson.Compact(state.Object())) != string(ojson.Compact(w.State.Object())) {
		state.UpdatedAt = env.Time()
		total.State = state
	}
	if total.Empty() && len(gone) == 0 {
		return total, r
	}
	changes := ojson.List(r.Barriers, BarrierChange.Row)
	total.Record(w, &env, RowResynced, "resynced_repos", append([]string{}, r.Repos...), "barrier_changes", changes,
		"blocked_reason", ojson.OrNull(reason))
	if len(gone) > 0 {
		total.History[len(total.History)-1].Set("acknowledged_turns", gone)
	}
	return total, r
}

// refresh takes over the runs of the repositories. It returns the repositories on another run, which block the
// initiative.
func (r *Resynced) refresh(state *State, mismatches []Mismatch, children Children) (drift []string) {
	skip := make(map[string]bool)
	for _, m := range mismatches {
		switch m.Type {
		case MismatchConfig, MismatchState:
			skip[m.Repo] = true
			r.Errors = append(r.Errors, m.Detail)
		case MismatchRun:
			skip[m.Repo] = true
			r.Errors = append(r.Errors, m.Detail)
			switch {
			case !m.Behind:
				drift = append(drift, m.Detail)
			case r.Behind == nil:
				r.Behind = children[m.Repo].behindError(m)
			}
			r.Mismatches = append(r.Mismatches, ojson.NewObject("code", BlockRunMismatch, "repo_id", m.Repo,
				"expected_run_id", ojson.OrNull(m.Recorded),
				"actual_run_id", ojson.OrNull(m.Actual), "message", m.Detail))
		}
	}
	for repo, run := range state.RepoRuns.All() {
		if skip[repo] {
			continue
		}
		child := children[repo].State
		status := run.Status
		switch child.Status {
		case wire.StatusCompleted:
			status = RepoCompleted
		case wire.StatusBlocked:
			status = RepoBlocked
		case wire.StatusActive:
			if status = RepoLinked; run.Initialized {
				status = RepoInitialized
			}
		}
		if status == run.Status && child.Phase == run.Phase {
			continue
		}
		run.Status, run.Phase = status, child.Phase
		r.Repos = append(r.Repos, repo)
	}
	return drift
}

// turns projects what was accepted and returns the turns that are gone, each as {repo_id, turn_id, type}, so that
// they are reported only once.
func (r *Resynced) turns(cur *Workspace, children Children, total *Change, mismatches []Mismatch, violations *[]string,
	env protocol.Env) (gone []*ojson.Object) {
	for _, m := range mismatches {
		switch m.Type {
		case MismatchRejected, MismatchDisappear:
			if m.Behind {
				r.Behind = cmp.Or(r.Behind, children[m.Repo].behindError(m))
				continue
			}
			gone = append(gone, ojson.NewObject("repo_id", m.Repo, "turn_id", m.Turn, "type", m.Type))
		case MismatchAccepted:
			in, e := m.acceptance()
			in.Unproven = !children[m.Repo].Proven(m.turn)
			var c *Change
			if e == nil {
				c, e = Project(cur, in, env)
			}
			if e != nil {
				*violations = append(*violations,
					fmt.Sprintf("turn %s of %s cannot count: %s", m.turn, m.Repo, e.Message))
				continue
			}
			total.Merge(c)
			*cur = *cur.With(c)
			r.Projected = append(r.Projected, Projected{c.ProjectionRef, in})
			r.Repos = union(r.Repos, []string{m.Repo})
		}
	}
	return gone
}

// acceptance reads what the repository accepted. A row that names its run must match it; otherwise the run in which
// the turn was dispatched counts.
func (m *Mismatch) acceptance() (Acceptance, *wire.Error) {
	in, e := DecodeAcceptance(m.Repo, m.Workstream, m.accepted)
	in.Recovered = true
	if in.RunID = m.accepted.String("run_id"); in.RunID == "" {
		in.RunID = m.row.String("repo_run_id")
	}
	return in, e
}

// incoherent says why the waiting gate can no longer be decided.
func incoherent(s *State, children Children) string {
	g := s.PendingGate
	if g == nil {
		return ""
	}
	for _, repo := range g.RequiredRepos {
		if !s.RepoRuns.Has(repo) {
			return fmt.Sprintf("gate %s waits for repository %s, which the initiative no longer knows", g.Gate, repo)
		}
		if child := children.State(repo); child != nil && child.Status == wire.StatusBlocked {
			return fmt.Sprintf("gate %s waits for repository %s, which is blocked now", g.Gate, repo)
		}
	}
	return ""
}

// stillBlocked returns the repositories whose own runs are blocked.
func (s *State) stillBlocked() []string {
	var out []string
	for repo, run := range s.RepoRuns.All() {
		if run.Status == RepoBlocked {
			out = append(out, repo)
		}
	}
	return slices.Clip(out)
}
