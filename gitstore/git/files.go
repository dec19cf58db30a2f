// Reading files within bounds, whatever is in their place.

package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// Stat is the metadata that tells a changed file from an unchanged one without reading it. To hide a change, a
// writer would have to restore size, times and inode; fsck, which always reads, finds even that.
type Stat struct {
	Size  int64
	MTime int64 // nanoseconds
	CTime int64 // nanoseconds; 0 where unknown
	Inode uint64
}

// StatIn returns the Stat of the regular file name below root; false when there is none, a NotRegularError when it
// is something else.
func StatIn(root *os.Root, name string) (Stat, bool, error) {
	fi, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Stat{}, false, nil
	case err != nil:
		return Stat{}, false, err
	case !fi.Mode().IsRegular():
		return Stat{}, false, &NotRegularError{name, fi.Mode()}
	}
	return StatOf(fi), true, nil
}

// OpenIn opens a regular file below root for reading. It checks before opening because opening a FIFO would wait
// for its other end, and it does not block even on a FIFO put there in between.
func OpenIn(root *os.Root, name string) (*os.File, Stat, error) {
	if _, ok, err := StatIn(root, name); err != nil || !ok {
		if err == nil {
			err = fs.ErrNotExist
		}
		return nil, Stat{}, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Stat{}, err
	}
	fi, err := InfoOf(f, name)
	if err != nil {
		_ = f.Close()
		return nil, Stat{}, err
	}
	return f, StatOf(fi), nil
}

// InfoOf returns the metadata of an open file; a NotRegularError for anything but a regular file.
func InfoOf(f *os.File, name string) (fs.FileInfo, error) {
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &NotRegularError{name, fi.Mode()}
	}
	return fi, err
}

// openAt is OpenIn for a path.
func openAt(name string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	fi, err := InfoOf(f, name)
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// ReadBounded reads a file of our own outside the project.
func ReadBounded(name string, limit int64) ([]byte, error) {
	fi, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &NotRegularError{name, fi.Mode()}
	}
	f, err := object.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadLimited(f, fi.Size(), limit)
}

// ReadLimited reads f, whose expected size is size; ErrTooLong beyond limit bytes.
func ReadLimited(f io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, ErrTooLong
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+512))
	n, err := io.Copy(buf, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = ErrTooLong
	}
	return buf.Bytes(), err
}

var ErrTooLong = errors.New("file is too long")

// NotRegularError says that a governed path is not a regular file.
type NotRegularError struct {
	Path string
	Mode fs.FileMode
}

func (e *NotRegularError) Error() string {
	what := "not a regular file"
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case e.Mode.IsDir():
		what = "a directory"
	}
	return e.Path + " is " + what
}

// MaxPointer bounds the small files that name another place, in bytes.
const MaxPointer = 8 << 10

// MaxGitConfig bounds a repository's configuration file, in bytes.
const MaxGitConfig = 4 << 20

// RealOr returns the path with links resolved, or the path itself if that fails.
func RealOr(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// Within reports whether dir is top or below it; both are clean paths.
func Within(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// ClipBytes returns the first 200 bytes of output, to quote in a message.
func ClipBytes(b []byte) []byte { return b[:min(len(b), 200)] }

// Parallel runs f for 0..n-1 concurrently and returns their errors.
func Parallel(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return failures.All(errs...)
}

// MakeDir makes a directory in a git directory, and those above it. People who share the repository may write in it.
func MakeDir(dir string) error {
	above := filepath.Dir(dir)
	at, err := os.OpenRoot(above)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err = MakeDir(above); err == nil {
			at, err = os.OpenRoot(above)
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	return makeDir(at, filepath.Base(dir))
}

func makeDir(at *os.Root, name string) error {
	err := at.Mkdir(name, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return share(at, name)
}

// WriteShared durably writes a file in a git directory, with the directories above it, for those who share it too. mode
// is masked by the umask.
func WriteShared(name string, data []byte, mode fs.FileMode) error {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	if err := MakeDir(dir); err != nil {
		return err
	}
	if err := durable.WriteFile(dir, base, data, mode); err != nil {
		return err
	}
	at, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	return share(at, base)
}

// share gives a file or directory that was made in at to those who share at, whatever the umask: where git made the
// directory so that a group may write in it (core.sharedRepository), all in it is for that group.
func share(at *os.Root, name string) error {
	above, err := at.Stat(".")
	if err != nil || above.Mode()&0o020 == 0 {
		return err
	}
	fi, err := at.Lstat(name)
	if err != nil {
		return err
	}
	shared := above.Mode().Perm()
	if !fi.IsDir() {
		shared &= 0o666
	}
	is := fi.Mode() & (fs.ModePerm | fs.ModeSetgid)
	if is&shared == shared {
		return nil
	}
	return at.Chmod(name, is|shared)
}

// PrivateName is the name of our directory in a git directory.
const PrivateName = "agentxchain"

// OpenPrivate opens our directory sub in gitDir ("" for the top one), and creates it if create is set.
// fs.ErrNotExist when it does not exist.
func OpenPrivate(gitDir, sub string, create bool) (*os.Root, error) {
	at, err := os.OpenRoot(gitDir)
	if err != nil {
		return nil, err
	}
	name := gitDir
	for part := range strings.SplitSeq(path.Join(PrivateName, sub), "/") {
		name = filepath.Join(name, part)
		fi, err := at.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) && create {
			if err = makeDir(at, part); err == nil {
				if err = durable.SyncDirRoot(at, "."); err == nil {
					fi, err = at.Lstat(part)
				}
			}
		}
		if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			err = LinkedPrivate(name)
		}
		if err == nil && !fi.IsDir() {
			err = NoPrivateDir(name)
		}
		var next *os.Root
		if err == nil {
			next, err = at.OpenRoot(part)
		}
		_ = at.Close()
		if err != nil {
			return nil, Placed(err, name)
		}
		at = next
	}
	return at, nil
}

// Placed replaces the file name in an error from an os.Root with the full name.
func Placed(err error, name string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = name
	}
	return err
}

// LinkedPrivate returns the error for a private file of ours that is a link (unsafe_target).
func LinkedPrivate(name string) *fail.Error {
	return fail.Errorf(fail.CodeUnsafeTarget, nil,
		"%s is a link, and what this program keeps there would be somewhere else",
		name).
		WithHint("look at where it leads and who made it (ls -l %s), then remove it; this program makes again what belongs there",
			name)
}

// NoPrivateDir returns the error for something else in place of our directory (unsafe_target).
func NoPrivateDir(name string) *fail.Error {
	return fail.Errorf(fail.CodeUnsafeTarget, nil, "%s is in the place of a directory that this program keeps", name).
		WithHint("look at what it is and who made it (ls -l %s), then remove it; this program makes again what belongs there",
			name)
}

// RowTexts returns v as a list of n strings; false when it is anything else.
func RowTexts(v any, n int) ([]string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) != n {
		return nil, false
	}
	out := make([]string, n)
	for i, x := range list {
		if out[i], ok = x.(string); !ok {
			return nil, false
		}
	}
	return out, true
}
