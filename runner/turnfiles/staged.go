// The result that the actor of a turn has staged.

package turnfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Staged is a staged result as found.
type Staged struct {
	Path string
	Data []byte // nil when there is none
}

// Counts reports whether it is a result; a file that was only cleared is not.
func (s Staged) Counts() bool { return s.Data != nil && protocol.StagedProof(s.Data) }

// UnsafeID refuses a turn whose id would name a file elsewhere; another tool can have made it.
func UnsafeID(turnID string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidState,
		Field:   "active_turns",
		Message: "The id of turn " + turnID + " cannot be part of a path.",
	}
}

// ReadStaged reads the staged result of a turn: at its own path, else at the shared one of
// older runners (docs/spec/state.md#files).
func ReadStaged(root, turnID string) (Staged, error) {
	s := Staged{Path: wire.StagingPath(turnID)}
	if clean, problem := wire.CleanPath(s.Path); problem != "" || clean != s.Path {
		return s, UnsafeID(turnID)
	}
	data, err := readResult(root, s.Path, turnID)
	if err != nil {
		return s, err
	}
	if data == nil {
		flat, err := readResult(root, wire.FlatStagingPath, turnID)
		if err != nil {
			return s, err
		}
		if flat != nil {
			s.Path, data = wire.FlatStagingPath, flat
		}
	}
	s.Data = data
	return s, nil
}

func readResult(root, path, turnID string) ([]byte, error) {
	data, err := projectfile.Read(root, path, protocol.MaxStagedBytes)
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Hint == projectfile.PutPlain {
		refusal.Hint = fmt.Sprintf("make it a plain file of at most %d MiB, then: git agentxchain accept %s",
			protocol.MaxStagedBytes>>20, turnID)
	}
	return data, err
}

// Facts describes the file at the staging path of a turn.
type Facts struct {
	Data    []byte    // nil when there is nothing that counts as a result
	ModTime time.Time // of the file
}

// Look reads what is staged for a turn at its own path. Blank and {} count
// as nothing (docs/spec/state.md#files).
func Look(root, turnID string) (Facts, error) {
	s, err := ReadStaged(root, turnID)
	if err != nil || s.Path == wire.FlatStagingPath || !s.Counts() {
		return Facts{}, err
	}
	out := Facts{Data: s.Data}
	if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(s.Path))); err == nil {
		out.ModTime = info.ModTime()
	}
	return out, nil
}
