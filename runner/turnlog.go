// TurnLog: what the program that carried out a turn printed.

package runner

import (
	"path"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
)

// TurnLog returns the log of a turn and its project-relative path: that of the dispatch
// under way, else the one kept when the turn ended, else that of its newest attempt that
// led nowhere, at most attempts of them. The log is foreign text, with secrets taken out.
// It is nil without error when there is none.
func (r *Runner) TurnLog(turnID string, attempts int) (name string, data []byte, err error) {
	bundle, audit := dispatch.BundleDir(turnID), dispatch.AuditDir(turnID)
	if bundle == "" || audit == "" {
		return "", nil, nil // no such id names a directory
	}
	names := []string{path.Join(bundle, dispatch.LogFile), path.Join(audit, dispatch.LogFile)}
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
