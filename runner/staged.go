// Finding and reading what an actor staged.

package runner

import (
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// staged is a staged result as found.
type staged struct {
	path string
	data []byte // nil when there is none
}

// staged reads the turn's staged result: its own path, else the shared one of
// older runners (docs/spec/state.md#files).
func (c *change) staged(turnID string) (staged, error) {
	if c.given != nil && c.given.path == wire.StagingPath(turnID) && !c.hooks.has("before_validation") {
		return *c.given, nil
	}
	return readStaged(c.r.store.Dir(), turnID)
}

// refused reads the staged result of a turn that is sent back or begun anew. What
// cannot be read, a pipe or a file beyond all bounds, is no result to be kept, and
// must not keep the turn either.
func (c *change) refused(turnID string) (staged, error) {
	s, err := c.staged(turnID)
	if ErrorCode(err) == projectfile.CodeUnreadable {
		return staged{path: s.path}, nil
	}
	return s, err
}

// keepAttempt keeps what the agent of a turn that is sent back or begun anew said: the
// bundle it lies in is made anew, and whoever looks into the failure needs it.
func (c *change) keepAttempt(turn *run.Turn) {
	bundle, kept := dispatch.BundleDir(turn.TurnID), dispatch.AttemptLog(turn.TurnID, turn.Attempt)
	if bundle != "" && kept != "" {
		_ = c.r.store.KeepLog(path.Join(bundle, dispatch.LogFile), kept)
	}
}

func readStaged(root, turnID string) (staged, error) {
	s := staged{path: wire.StagingPath(turnID)}
	if clean, problem := wire.CleanPath(s.path); problem != "" || clean != s.path {
		// A turn id made by another tool could name any file.
		return s, &wire.Error{Code: wire.CodeInvalidState, Field: "active_turns", Message: "The id of turn " + turnID + " cannot be part of a path."}
	}
	data, err := projectfile.Read(root, s.path, protocol.MaxStagedBytes)
	if err != nil {
		return s, err
	}
	if data == nil {
		flat, err := projectfile.Read(root, wire.FlatStagingPath, protocol.MaxStagedBytes)
		if err != nil {
			return s, err
		}
		if flat != nil {
			s.path, data = wire.FlatStagingPath, flat
		}
	}
	s.data = data
	return s, nil
}

// siblings reads what the other active turns that work beside turn have staged.
func (c *change) siblings(turn *run.Turn) []result.SiblingClaim {
	var out []result.SiblingClaim
	for id, other := range c.view.State.ActiveTurns.All() {
		if id == turn.TurnID || !slices.Contains(turn.ConcurrentWith, id) && !slices.Contains(other.ConcurrentWith, turn.TurnID) {
			continue
		}
		s, err := c.staged(id)
		if err != nil || s.data == nil || s.path == wire.FlatStagingPath {
			continue // an unreadable sibling claims nothing
		}
		doc, refusal := protocol.DecodeStaged(s.path, s.data)
		if refusal != nil || doc.String("turn_id") != id {
			continue
		}
		if files := doc.Strings("files_changed"); len(files) > 0 {
			out = append(out, result.SiblingClaim{TurnID: id, FilesChanged: files})
		}
	}
	return out
}
