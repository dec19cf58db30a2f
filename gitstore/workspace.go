// The record of an initiative in the coordinator's own repository: one ref a super run, one commit a change (docs/coordinator.md#files-and-refs).

package gitstore

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpenForeign is OpenAt for the project of another repository than the one this
// process was started in: programs that its configuration would start are switched
// off (see discoverSibling).
func OpenForeign(ctx context.Context, dir string, opts Options) (*Store, error) {
	repo, err := discoverSibling(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !hasConfig(repo.ProjectDir) {
		_ = repo.Close()
		return nil, git.Errorf(CodeNotProject, nil, "there is no %s in %s", wire.ConfigPath, dir).WithHint("git agentxchain init")
	}
	return newStore(repo, opts)
}
