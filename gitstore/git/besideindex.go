// A copy of the index, for a git that compares the work tree.

package git

import (
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// scratchIndex is the name prefix of directories that hold an index of ours.
const scratchIndex = "agentxchain-index-"

// ScratchIndex returns a place for an index of ours, initially without one.
func ScratchIndex() (name string, remove func(), err error) {
	dir, err := scratch.New(scratchIndex)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir.Path, "index"), func() { _ = dir.Remove() }, nil
}

// BesideIndex returns a git that reads a copy of the index. git diff locks and rewrites the index when a file has a
// new time and its old contents, whatever GIT_OPTIONAL_LOCKS says: a person's concurrent git add would fail, and a
// kill or a power cut would leave index.lock behind. Where no copy can be made it returns the repository's git.
func (r *Repository) BesideIndex() (g *Git, done func()) {
	name, done, err := ScratchIndex()
	if err != nil {
		return r.Git, func() {}
	}
	if err := CopyIndex(filepath.Join(r.GitDir, "index"), name); err != nil {
		return r.Git, done
	}
	return r.Git.WithIndex(name), done
}

// CopyIndex copies an index with its time: git assumes that a file not older than the index may have changed (git's
// Documentation/technical/racy-git.txt), and a copy with the current time would make such a file look older.
func CopyIndex(from, to string) error {
	is, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := copyFile(from, to, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, is.ModTime(), is.ModTime())
}

func copyFile(from, to string, mode os.FileMode) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return putFile(to, mode, f)
}
