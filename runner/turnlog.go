// The output of the program that carried out a turn; files of the project.

package runner

import (
	"errors"
	"path"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// TurnLog returns the log of a turn and its project-relative path: the log of the dispatch under
// way, else the one kept when the turn ended, else that of the newest of at most attempts failed
// attempts. The log is foreign text, with secrets removed. It is nil without error when there is
// none.
func (r *Runner) TurnLog(turnID string, attempts int) (name string, data []byte, err error) {
	bundle := dispatch.BundleDir(turnID)
	if bundle == "" {
		return "", nil, nil // such an id names no directory
	}
	names := []string{path.Join(bundle, dispatch.LogFile), dispatch.AcceptedLog(turnID)}
	for n := attempts; n > 0; n-- {
		names = append(names, dispatch.AttemptLog(turnID, n))
	}
	for _, name := range names {
		if data, err := r.ReadFile(name); err != nil || data != nil {
			return name, data, err
		}
	}
	return "", nil, nil
}

// KeepLog keeps the log of a failed attempt, as the bundle and its log are rebuilt for the next one. An acceptance
// keeps the log of its turn. Failing to keep a log has no other effect.
func (r *Runner) KeepLog(turnID string, attempt int) {
	r.keepLog(turnID, dispatch.AttemptLog(turnID, attempt))
}

func (r *Runner) keepLog(turnID, kept string) {
	if bundle := dispatch.BundleDir(turnID); bundle != "" {
		_ = r.store.KeepLog(path.Join(bundle, dispatch.LogFile), kept)
	}
}

// maxProjectFile bounds a file of the project that is shown to a person.
const maxProjectFile = 64 << 20

// ReadFile reads a regular file of the project, at most 64 MiB, never through a
// link out of it; nil without error when it is missing.
func (r *Runner) ReadFile(name string) ([]byte, error) {
	clean, problem := wire.CleanPath(name)
	if problem != "" {
		return nil, projectfile.Unreadable(name, errors.New("it is not a path in the project"))
	}
	return projectfile.Read(r.store.Dir(), clean, maxProjectFile)
}

// MakeDir makes a project-relative directory and those above it, durably and never through a link out of the project.
func (r *Runner) MakeDir(name string) error { return r.store.MakeDir(name) }
