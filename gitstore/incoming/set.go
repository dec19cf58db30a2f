// Files from elsewhere that are to replace those of the project.

package incoming

import (
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Set is a set of files that are to replace those at and below Roots.
type Set struct {
	Files []File // sorted by path; paths are canonical and at or below Roots
	// Open returns the contents of one of Files.
	Open func(path string) (io.Reader, error)
	// Roots are the files and directories that are replaced, project-relative. A regular file at or below them that
	// is not among Files is removed, unless Spare keeps it.
	Roots []string
	Spare func(path string) bool

	Detail *ojson.Object  // where the files come from; recorded
	Reason string         // recorded
	Bundle *bundle.Bundle // history of the run, to be transferred too; may be nil
}

// File is an incoming file.
type File struct {
	Path   string // project-relative, slash-separated
	Size   int64
	SHA256 string // lowercase hexadecimal
	// Perm is the mode of a new file before the umask; 0 is that of a governed file. A file that replaces another
	// makes it executable or not accordingly.
	Perm fs.FileMode
}

// Sort sorts files by path.
func Sort(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// Find returns the file with a path in sorted files.
func Find(files []File, path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(files, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return files[i], true
}

// Brings reports whether a file is incoming.
func (in *Set) Brings(name string) bool {
	_, ok := Find(in.Files, name)
	return ok
}

// Action is what happens to one file.
type Action struct {
	Path   string
	Action string // create, replace, remove
}

// Changes lists what has to happen to put the files of a set in place.
type Changes struct {
	Actions []Action
	Same    int      // files that are in place already
	Empty   []string // directories that are empty afterwards, deepest first
}
