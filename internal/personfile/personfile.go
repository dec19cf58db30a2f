// One file below a project's directory, read and replaced.

package personfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxSize is the maximum size of a file to be changed, in bytes.
const maxSize = 4 << 20

// File is a file as it was read.
type File struct {
	Path   string // below the directory, with slashes
	Data   []byte
	Exists bool

	dir  string
	perm fs.FileMode
}

// Error says why a file is not changed.
type Error struct {
	Code    string // unsafe_target, unreadable_file, io_failed
	Message string
	Hint    string
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) ErrorCode() string { return e.Code }
func (e *Error) ErrorHint() string { return e.Hint }

// Read reads the file of that name below dir. A missing file has no Data. A link, even to another file of dir, is
// unsafe_target: the change would be made elsewhere.
func Read(dir, name string) (*File, error) {
	clean, problem := wire.CleanPath(name)
	if problem != "" {
		return nil, &Error{
			Code:    "unsafe_target",
			Message: fmt.Sprintf("%q is not a path inside the project: %s", name, problem),
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &Error{Code: "unreadable_file", Message: err.Error()}
	}
	defer func() { _ = root.Close() }()
	f := &File{Path: clean, dir: dir, perm: 0o666}
	for at := clean; at != "."; at = path.Dir(at) {
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, &Error{Code: "unreadable_file", Message: fmt.Sprintf("%s cannot be read: %v", at, err)}
		case at == clean && info.Mode().IsRegular():
			f.Exists, f.perm = true, info.Mode().Perm()
		case at == clean || !info.IsDir():
			return nil, &Error{
				Code:    "unsafe_target",
				Message: at + " is not an ordinary file (a link, perhaps); it is left as it is",
				Hint:    "put a file in its place, or make the change by hand where the link leads",
			}
		}
	}
	if !f.Exists {
		return f, nil
	}
	f.Data, err = readAll(root, clean)
	return f, err
}

func readAll(root *os.Root, name string) ([]byte, error) {
	r, err := root.Open(name)
	if err != nil {
		return nil, &Error{Code: "unreadable_file", Message: fmt.Sprintf("%s cannot be read: %v", name, err)}
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	switch {
	case err != nil:
		return nil, &Error{Code: "unreadable_file", Message: fmt.Sprintf("%s cannot be read: %v", name, err)}
	case len(data) > maxSize:
		return nil, &Error{
			Code:    "unreadable_file",
			Message: fmt.Sprintf("%s has more than %d bytes; it is left as it is", name, maxSize),
		}
	}
	return data, nil
}

// Write replaces the file with data, completely or not at all, and creates its directory. It refuses if the file
// was changed since Read.
func (f *File) Write(data []byte) error {
	return f.change(func(root *os.Root) error {
		if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
			return err
		}
		return durable.WriteFileRoot(root, f.Path, data, f.perm)
	})
}

// Remove removes the file, unless it was changed since Read.
func (f *File) Remove() error {
	return f.change(func(root *os.Root) error { return root.Remove(f.Path) })
}

func (f *File) change(do func(*os.Root) error) error {
	now, err := Read(f.dir, f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || !bytes.Equal(now.Data, f.Data) {
		return &Error{
			Code:    "io_failed",
			Message: f.Path + " was changed by another program meanwhile",
			Hint:    "run the command again",
		}
	}
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		defer func() { _ = root.Close() }()
		err = do(root)
	}
	if err != nil {
		return &Error{Code: "io_failed", Message: fmt.Sprintf("%s cannot be written: %v", f.Path, err)}
	}
	return nil
}

// LineEnd returns the line end of data: "\r\n" if its first line has it, else "\n".
func LineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
