// A copy of the index for a git that compares the work tree.

package git

import (
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// scratchIndex begins the names of directories that hold an index of ours.
const scratchIndex = "agentxchain-index-"

// besideIndex returns a git that reads the index from a copy. git diff locks and rewrites the index when a file has
// a new time and its old contents, whatever GIT_OPTIONAL_LOCKS says: the person's own git add beside it would fail,
// and a kill or a power cut would leave index.lock behind. Where no copy can be made it is the repository's git.
func (r *Repository) besideIndex() (g *Git, done func()) {
	dir, err := scratch.New(scratchIndex)
	if err != nil {
		return r.Git, func() {}
	}
	done = func() { _ = dir.Remove() }
	name := filepath.Join(dir.Path, "index")
	if err := copyIndex(filepath.Join(r.GitDir, "index"), name); err != nil {
		return r.Git, done
	}
	return r.Git.withIndex(name), done
}
