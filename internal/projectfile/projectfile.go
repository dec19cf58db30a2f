// Reading one file, and the error for an unreadable one.

package projectfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxGate bounds a document a gate reads; a larger one is refused.
const MaxGate = 4 << 20

// CodeUnreadable means that a file the operation needs cannot be read.
const CodeUnreadable = "unreadable_input"

// Read reads a file below the directory root, at most limit bytes. A missing one is nil without error.
func Read(root, path string, limit int64) ([]byte, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	info, err := dir.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	// A running agent can replace the file that was just checked with a pipe: opening it does not block, and what
	// was opened is checked again.
	f, err := dir.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return nil, Unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	if intoGit(dir, root, path) {
		return nil, Unreadable(path, errors.New("it leads into git's own directory"))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if int64(len(data)) > limit {
		return nil, Unreadable(path, fmt.Errorf("larger than %d bytes", limit))
	}
	return data, nil
}

// intoGit reports whether a link on the path leads into a .git. What is read from a project goes into prompts and
// into the record, which is pushed; git keeps passwords and tokens there.
func intoGit(dir *os.Root, root, path string) bool {
	linked := false
	for p := filepath.Clean(path); p != "." && !linked; p = filepath.Dir(p) {
		info, err := dir.Lstat(p)
		linked = err != nil || info.Mode()&fs.ModeSymlink != 0
	}
	if !linked {
		return false
	}
	base, err := filepath.EvalSymlinks(root)
	if err != nil {
		return true
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, path))
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(base, real)
	_, problem := wire.CleanPath(filepath.ToSlash(rel))
	return err != nil || problem == wire.PathGitDir
}

func notRegular(path string) error { return Unreadable(path, errors.New("not a regular file")) }

// PutPlain is the hint for a file of the wrong kind or size.
const PutPlain = "put a plain file of the project in its place"

// Unreadable returns the error for a file that cannot be read.
func Unreadable(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &wire.Error{
		Code:    CodeUnreadable,
		Field:   path,
		Message: fmt.Sprintf("%s cannot be read: %v.", path, err),
		Hint:    cmp.Or(failures.Remedy(path, err), PutPlain),
	}
}
