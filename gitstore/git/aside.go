// A place beside the repository for the output of our own git processes.

package git

import (
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

const scratchCommit = "agentxchain-commit-"

// Aside is a directory for the output of our own git processes; git prune does not look there.
type Aside struct{ *scratch.Dir }

func (r *Repository) Aside() (*Aside, error) {
	dir, err := scratch.New(scratchCommit)
	if err != nil {
		return nil, err
	}
	if err := r.LendObjects(filepath.Join(dir.Path, "objects")); err != nil {
		_ = dir.Remove()
		return nil, err
	}
	return &Aside{dir}, nil
}

// Git returns a git that uses an index there and writes its objects there. The person's hooks are not to see what
// it does.
func (a *Aside) Git(g *Git, index string) *Git {
	g = g.WithIndex(filepath.Join(a.Path, index))
	g.Env = append(dropVars(g.Env, []string{"GIT_OBJECT_DIRECTORY"}),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(a.Path, "objects"))
	g.hooksPath = ""
	return g
}
