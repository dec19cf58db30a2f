// Finding and reading what an actor staged.

package runner

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// refused reads the staged result of a turn that is rejected or reissued. An unreadable result,
// such as a pipe or an oversized file, cannot be kept as a result and must not block the turn
// either.
func (c *change) refused(turnID string) (turnfiles.Staged, error) {
	s, err := turnfiles.ReadStaged(c.r.store.Dir(), turnID)
	if ErrorCode(err) == projectfile.CodeUnreadable {
		return turnfiles.Staged{Path: s.Path}, nil
	}
	return s, err
}

// beside reports whether turn and the other turn id work side by side.
func beside(turn *run.Turn, id string, other *run.Turn) bool {
	return id != turn.TurnID &&
		(slices.Contains(turn.ConcurrentWith, id) || slices.Contains(other.ConcurrentWith, turn.TurnID))
}

// siblings reads what the other active turns that work beside turn have staged.
func (c *change) siblings(turn *run.Turn) []result.SiblingClaim {
	var out []result.SiblingClaim
	for id, other := range c.view.State.ActiveTurns.All() {
		if !beside(turn, id, other) {
			continue
		}
		s, err := turnfiles.ReadStaged(c.r.store.Dir(), id)
		if err != nil || s.Data == nil || s.Path == wire.FlatStagingPath {
			continue // an unreadable sibling claims nothing
		}
		doc, refusal := protocol.DecodeStaged(s.Path, s.Data)
		if refusal != nil || doc.String("turn_id") != id {
			continue
		}
		if files := doc.Strings("files_changed"); len(files) > 0 {
			out = append(out, result.SiblingClaim{TurnID: id, FilesChanged: files})
		}
	}
	return out
}

// Staged reads the staged result of a turn as it is. A file that was only cleared counts as
// nothing.
func (r *Runner) Staged(turnID string) (turnfiles.Staged, error) {
	s, err := turnfiles.ReadStaged(r.store.Dir(), turnID)
	if err == nil && !s.Counts() {
		s.Data = nil
	}
	return s, err
}

// LookStaged reads what is staged for a turn at its own path. Blank and {} count as nothing
// (docs/spec/state.md#files). The file's time is corrected to this machine's clock once Drive has
// measured that of the file system.
func (r *Runner) LookStaged(turnID string) (turnfiles.Facts, error) {
	st, err := turnfiles.Look(r.store.Dir(), turnID)
	st.ModTime = st.ModTime.Add(-r.filesAhead)
	return st, err
}
