// Changes of earlier attempts: a retry starts from the work tree as the refused attempt left it, and must still
// account for what that attempt changed.

package protocol

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// carry returns the paths that the next attempt's baseline hides although an earlier attempt of the same work may
// have changed them. Without it, a change refused once as undeclared would pass unseen in the retry. It leaves out
// files that were dirty before the first attempt, and files that an accepted turn accounts for.
func carry(t *change.Draft, old *run.Turn, next *run.Baseline) []string {
	if next == nil {
		return nil
	}
	var out []string
	for path, mark := range next.DirtySnapshot.All() {
		if !wire.Observable(path) || sinceAccepted(t, old, path) {
			continue
		}
		if old.Baseline != nil && !slices.Contains(old.Carried, path) {
			if was, ok := old.Baseline.DirtySnapshot.Get(path); ok && was == mark {
				continue
			}
		}
		out = append(out, path)
	}
	wire.SortPaths(out)
	return out
}

// keptBaseline returns the baseline of a turn that moves up in the order of turns: what it started with, plus what
// the turns beside it left that were accepted since. Those turns account for these contents.
func keptBaseline(t *change.Draft, turn *run.Turn) *run.Baseline {
	if turn.Baseline == nil {
		return nil
	}
	out := *turn.Baseline
	out.DirtySnapshot = out.DirtySnapshot.Clone(nil)
	for _, row := range t.Index.Recent {
		if !result.AcceptedSince(turn, row) || !result.ConcurrentRow(turn, row) {
			continue
		}
		markers := row.Object("observed_artifact").Object("file_markers")
		for _, path := range markers.Keys() {
			if m := markers.String(path); m != "" {
				out.DirtySnapshot.Set(path, m)
			}
		}
	}
	return &out
}

// sinceAccepted reports whether the last turn that changed the path was accepted after old was assigned.
func sinceAccepted(t *change.Draft, old *run.Turn, path string) bool {
	owner, ok := t.Index.Uncheckpointed.Get(path)
	return ok && slices.ContainsFunc(t.Index.Recent, func(row *ojson.Object) bool {
		return row.String("turn_id") == owner && result.AcceptedSince(old, row)
	})
}

// resumed returns the observation with carried changes counted as changes of the turn. A carried file that is clean
// again is not a change, unless commits were made since.
func resumed(turn *run.Turn, seen *result.Observation) *result.Observation {
	if len(turn.Carried) == 0 || turn.Baseline == nil || !seen.Available {
		return seen
	}
	c := *seen
	carried := wire.PathSet(turn.Carried)
	var added []string
	c.UnchangedDirt = slices.DeleteFunc(slices.Clone(seen.UnchangedDirt), func(p string) bool {
		if carried[p] {
			added = append(added, p)
		}
		return carried[p]
	})
	c.FilesChanged = append(slices.Clone(seen.FilesChanged), added...)
	if wire.OrEmpty(seen.HeadRef) == wire.OrEmpty(turn.Baseline.HeadRef) {
		dirty := wire.PathSet(seen.Dirty)
		c.FilesChanged = slices.DeleteFunc(c.FilesChanged, func(p string) bool {
			return carried[p] && wire.ProjectOwned(p) && !dirty[p]
		})
	}
	wire.SortPaths(c.FilesChanged)
	c.Markers = seen.Markers.Clone(nil)
	for _, p := range added {
		if mark, ok := turn.Baseline.DirtySnapshot.Get(p); ok {
			c.Markers.Set(p, mark)
		}
	}
	return &c
}
