// The people and keys listed in a commit of the project.

package proof

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ListedAt reads who may approve according to a commit, with one git process. prefix is where the project is in the
// repository, "" or ending in a slash.
func ListedAt(ctx context.Context, repo *git.Repository, prefix string, commit object.OID) (*approval.Listed, error) {
	paths := append(wire.SignerFiles(), wire.ConfigPath)
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = string(commit) + ":" + prefix + p
	}
	files := make(map[string][]byte)
	err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		if o.Found && o.Kind == "blob" && len(o.Data) <= projectfile.MaxGate {
			files[paths[i]] = slices.Clone(o.Data)
		}
	})
	if err != nil {
		return nil, err
	}
	return approval.ListedIn(files), nil
}
