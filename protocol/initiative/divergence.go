// Where the record of the initiative and the repositories disagree (docs/coordinator.md#when-it-is-blocked).

package initiative

import (
	"cmp"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Types of mismatches.
const (
	MismatchConfig    = "repo_config_missing"
	MismatchState     = "repo_state_missing"
	MismatchRun       = "run_id_mismatch"
	MismatchCompleted = "repo_completed_unexpectedly"
	MismatchBlocked   = "repo_blocked_unexpectedly"
	MismatchUnblocked = "repo_active_unexpectedly"
	MismatchAccepted  = "turn_accepted_unprojected"
	MismatchRejected  = "turn_rejected_unprojected"
	MismatchDisappear = "turn_disappeared"
)

// Mismatch is one disagreement.
type Mismatch struct {
	Type, Repo, Detail string
	Turn, Workstream   string // of a turn
	Recorded, Actual   string // run ids or statuses, as the type says
	Behind             bool   // the clone is in a run that the initiative has left, or lacks the turn

	row      *ojson.Object // the turn's dispatch
	accepted *ojson.Object // the child's row, when it accepted the turn
	turn     string        // the turn it was accepted as, another one after a reissue
}

// Object returns the mismatch for --json: {type, repo_id, …, detail}.
func (m *Mismatch) Object() *ojson.Object {
	o := ojson.NewObject("type", m.Type, "repo_id", m.Repo)
	switch m.Type {
	case MismatchRun:
		o.Set("coordinator_run_id", ojson.OrNull(m.Recorded))
		o.Set("repo_run_id", ojson.OrNull(m.Actual))
	case MismatchCompleted, MismatchBlocked, MismatchUnblocked:
		o.Set("coordinator_status", m.Recorded)
		o.Set("repo_status", m.Actual)
	case MismatchAccepted, MismatchRejected, MismatchDisappear:
		o.Set("turn_id", m.Turn)
		o.Set("workstream_id", m.Workstream)
	}
	o.Set("detail", m.Detail)
	return o
}

// Divergence returns every mismatch, repositories first, then turns, each in the order they were recorded. A turn
// that a resync acknowledged as gone is not reported again, unless its repository accepted it after all.
func Divergence(w *Workspace, children Children) []Mismatch {
	var out []Mismatch
	for repo, run := range w.State.RepoRuns.All() {
		if m := w.compare(repo, run, children[repo]); m != nil {
			out = append(out, *m)
		}
	}
	seen := make(map[[2]string]bool)
	for _, row := range w.History.Open() {
		repo, turn := row.String("repo_id"), row.String("repo_turn_id")
		key := [2]string{repo, turn}
		if seen[key] {
			continue
		}
		seen[key] = true
		if m := w.sent(row, repo, turn, children[repo]); m != nil && (m.accepted != nil || !w.History.gone[key]) {
			out = append(out, *m)
		}
	}
	for repo := range w.State.RepoRuns.All() {
		out = append(out, w.operated(repo, children[repo])...)
	}
	return out
}

// compare judges a repository's run.
func (w *Workspace) compare(repo string, run *RepoRun, c *Child) *Mismatch {
	m := &Mismatch{Repo: repo, Recorded: run.Status}
	switch {
	case w.Config.Repo(repo) == nil || c == nil:
		m.Type, m.Detail = MismatchConfig,
			fmt.Sprintf("Repository %s has no place that %s leads to.", repo, ConfigFile)
		return m
	case c.State == nil:
		m.Type, m.Detail = MismatchState, c.noState()
		return m
	case w.State.RunOf(repo) != "" && c.Run() != w.State.RunOf(repo):
		m.Type, m.Recorded, m.Actual = MismatchRun, w.State.RunOf(repo), c.Run()
		m.Detail = driftText(repo, m.Recorded, m.Actual)
		if m.Behind = w.Behind(repo, c); m.Behind {
			m.Detail = behindText(repo, m.Recorded, m.Actual)
		}
		return m
	}
	m.Actual = string(c.State.Status)
	switch {
	case c.State.Status == wire.StatusCompleted && run.Status != RepoCompleted:
		m.Type = MismatchCompleted
	case c.State.Status == wire.StatusBlocked && run.Status != RepoBlocked:
		m.Type = MismatchBlocked
	case c.State.Status == wire.StatusActive && (run.Status == RepoBlocked || run.Status == RepoCompleted):
		m.Type = MismatchUnblocked
	default:
		return nil
	}
	m.Detail = fmt.Sprintf("Repository %s is recorded as %s and is %s.", repo, run.Status, m.Actual)
	return m
}

// Behind reports whether a clone is in a run that the initiative has left: the repository was in that run before,
// or the run began before the initiative joined its present one. Such a clone knows less than the initiative and
// proves nothing about the repository. A run that began later is one that a person started anew.
func (w *Workspace) Behind(repo string, c *Child) bool {
	if known := w.State.RunOf(repo); c.State == nil || known == "" || known == c.Run() {
		return false
	}
	since := w.State.CreatedAt
	for _, row := range w.History.rows {
		if row.String("type") != RowRelinked || row.String("repo_id") != repo {
			continue
		}
		if row.String("from_run_id") == c.Run() {
			return true
		}
		since = row.String("timestamp")
	}
	if c.Run() == "" || c.State.CreatedAt == nil {
		return c.Run() == ""
	}
	began, err := wire.ParseTime(*c.State.CreatedAt)
	took, terr := wire.ParseTime(since)
	return err == nil && terr == nil && began.Before(took)
}

// behindText says that a clone is in a run that the initiative has left.
func behindText(repo, expected, actual string) string {
	return fmt.Sprintf("The clone of repository %s here is behind: it is on %s, and the initiative continued with %s.",
		repo, cmp.Or(actual, "no run"), expected)
}

// sent judges a dispatched turn that has no projection.
func (w *Workspace) sent(row *ojson.Object, repo, turn string, c *Child) *Mismatch {
	if c == nil || c.State == nil {
		return nil // already reported for the repository
	}
	m := &Mismatch{Repo: repo, Turn: turn, Workstream: row.String("workstream_id"), row: row, turn: c.Follow(turn)}
	switch m.accepted = c.Accepted(m.turn); {
	case m.accepted != nil:
		if w.History.Projection(repo, m.turn) != nil {
			return nil // the turn that replaced it was projected
		}
		m.Type, m.Detail = MismatchAccepted,
			fmt.Sprintf("Turn %s was accepted in %s and does not count yet.", turn, repo)
	case c.Active(m.turn):
		return nil
	case c.Rejected(m.turn):
		m.Type, m.Detail = MismatchRejected, fmt.Sprintf("Turn %s was rejected in %s.", turn, repo)
	case c.State.Status == wire.StatusFailed:
		m.Type, m.Detail = MismatchDisappear, fmt.Sprintf("Turn %s of %s is over: its run was abandoned.", turn, repo)
	case c.Refused != "":
		return nil // the files may have it before the record does
	case c.Lacks[turn]:
		m.Type, m.Behind = MismatchDisappear, true
		m.Detail = fmt.Sprintf("The clone of repository %s here is behind: it lacks turn %s, which was given out elsewhere.", repo,
			turn)
	default:
		m.Type, m.Detail = MismatchDisappear,
			fmt.Sprintf("Turn %s is no longer active in %s, and its history does not say why.", turn, repo)
	}
	return m
}
