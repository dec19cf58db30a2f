// A copy of the index for a git that compares the work tree.

package git

import (
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// scratchIndex begins the names of directories that hold an index of ours.
const scratchIndex = "agentxchain-index-"

// ScratchIndex is a place for an index of ours, in which there is none yet.
func ScratchIndex() (name string, remove func(), err error) {
	dir, err := scratch.New(scratchIndex)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir.Path, "index"), func() { _ = dir.Remove() }, nil
}

// BesideIndex returns a git that reads the index from a copy. git diff locks and rewrites the index when a file has
// a new time and its old contents, whatever GIT_OPTIONAL_LOCKS says: the person's own git add beside it would fail,
// and a kill or a power cut would leave index.lock behind. Where no copy can be made it is the repository's git.
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

// CopyIndex copies an index with its time: git takes a file that is younger than the
// index, or as young, for changed (git's Documentation/technical/racy-git.txt), and a
// copy of now would make such a file look older.
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
