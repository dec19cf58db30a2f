// The coordinator's history: what happened in one super run, indexed for the rules
// (docs/coordinator.md#files-and-refs).

package initiative

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Types of history rows that the rules read or write.
const (
	rowProjection = "acceptance_projection"
	RowDispatched = "turn_dispatched"
	RowResynced   = "state_resynced"
	RowContext    = "context_generated"
	RowRelinked   = "repo_relinked"
)

// History has the rows of one super run in the order they were appended.
type History struct {
	superRun string
	rows     []*ojson.Object

	accepted   map[string][]string           // workstream -> repositories with a projection, in order
	decisions  map[[2]string]map[string]bool // workstream, repository -> accepted decision ids
	byTurn     map[[2]string]*ojson.Object   // repository, turn -> its projection
	dispatched []*ojson.Object
	gone       map[[2]string]bool // repository, turn: acknowledged as rejected or gone
	refs       map[string]bool    // projection refs in use, of other super runs too
	others     map[[2]string]bool // repository, turn: of another super run
}

// NewHistory indexes the rows of a super run. It skips rows of other runs in the same file (docs/siblings.md); a
// row that names no run belongs to it.
func NewHistory(rows []*ojson.Object, superRun string) *History {
	h := &History{
		superRun:  superRun,
		accepted:  make(map[string][]string),
		decisions: make(map[[2]string]map[string]bool),
		byTurn:    make(map[[2]string]*ojson.Object),
		refs:      make(map[string]bool),
		gone: make(
			map[[2]string]bool),
		others: make(map[[2]string]bool),
	}
	for _, row := range rows {
		h.add(row)
	}
	return h
}

func (h *History) add(row *ojson.Object) {
	if ref := row.String("projection_ref"); ref != "" {
		h.refs[ref] = true
	}
	if id := row.String("super_run_id"); id != "" && id != h.superRun {
		if turn := row.String("repo_turn_id"); turn != "" {
			h.others[[2]string{row.String("repo_id"), turn}] = true
		}
		return
	}
	h.rows = append(h.rows, row)
	repo, stream := row.String("repo_id"), row.String("workstream_id")
	switch row.String("type") {
	case RowDispatched:
		h.dispatched = append(h.dispatched, row)
	case RowResynced:
		for _, t := range row.Objects("acknowledged_turns") {
			h.gone[[2]string{t.String("repo_id"), t.String("turn_id")}] = true
		}
	case rowProjection:
		if !slices.Contains(h.accepted[stream], repo) {
			h.accepted[stream] = append(h.accepted[stream], repo)
		}
		if turn := row.String("repo_turn_id"); turn != "" && h.byTurn[[2]string{repo, turn}] == nil {
			h.byTurn[[2]string{repo, turn}] = row
		}
		key := [2]string{stream, repo}
		if h.decisions[key] == nil {
			h.decisions[key] = make(map[string]bool)
		}
		for _, id := range DecisionIDs(row.Array("decisions")) {
			h.decisions[key][id] = true
		}
	}
}

// IsProjection reports whether the row makes a repository's acceptance count.
func IsProjection(row *ojson.Object) bool { return row.String("type") == rowProjection }

// with returns the history with further rows.
func (h *History) with(rows []*ojson.Object) *History {
	if len(rows) == 0 {
		return h
	}
	return NewHistory(append(slices.Clone(h.rows), rows...), h.superRun).keeping(h)
}

// keeping takes over what from knows of other super runs.
func (h *History) keeping(from *History) *History {
	maps.Copy(h.refs, from.refs)
	maps.Copy(h.others, from.others)
	return h
}

// foreign reports whether another super run dispatched the turn.
func (h *History) foreign(repo, turn string) bool { return h.others[[2]string{repo, turn}] }

// Gone reports whether a resync acknowledged that a turn ended without a result.
func (h *History) Gone(repo, turn string) bool { return h.gone[[2]string{repo, turn}] }

// Rows returns the rows in order. The caller must not change them.
func (h *History) Rows() []*ojson.Object { return h.rows }

// Accepted returns the repositories with at least one projected acceptance in
// the workstream, first acceptance first.
func (h *History) Accepted(workstream string) []string { return h.accepted[workstream] }

// Missing returns the decision ids that no projected acceptance of the repository in the workstream has.
func (h *History) Missing(workstream, repo string, ids []string) []string {
	have := h.decisions[[2]string{workstream, repo}]
	var out []string
	for _, id := range ids {
		if !have[id] {
			out = append(out, id)
		}
	}
	return out
}

// Elsewhere returns another workstream in which the repository accepted a decision, "" for none. A run records an
// id only once, so the decision can no longer come in this workstream.
func (h *History) Elsewhere(workstream, repo, id string) string {
	for _, key := range slices.SortedFunc(maps.Keys(h.decisions), func(a, b [2]string) int {
		return strings.Compare(a[0], b[0])
	}) {
		if key[0] != workstream && key[1] == repo && h.decisions[key][id] {
			return key[0]
		}
	}
	return ""
}

// Projection returns the projected acceptance of a repository's turn, or nil.
func (h *History) Projection(repo, turn string) *ojson.Object { return h.byTurn[[2]string{repo, turn}] }

// Dispatched returns the turn_dispatched rows of a repository.
func (h *History) Dispatched(repo string) []*ojson.Object {
	return slices.DeleteFunc(slices.Clone(h.dispatched), func(row *ojson.Object) bool {
		return row.String("repo_id") != repo
	})
}

// Open returns the turn_dispatched rows whose turn has no projection.
func (h *History) Open() []*ojson.Object {
	var out []*ojson.Object
	for _, row := range h.dispatched {
		if turn := row.String("repo_turn_id"); turn != "" && h.Projection(row.String("repo_id"), turn) == nil {
			out = append(out, row)
		}
	}
	return out
}

// DecisionIDs returns the ids of a turn's decisions, each given as an id or an object with an id.
func DecisionIDs(decisions []any) []string {
	var out []string
	for _, d := range decisions {
		switch d := d.(type) {
		case string:
			out = append(out, d)
		case *ojson.Object:
			if id := d.String("id"); id != "" {
				out = append(out, id)
			}
		}
	}
	return out
}
