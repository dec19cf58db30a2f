// The governed working files: reading them safely and updating them.

package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Limits on what is read into memory, in bytes.
const (
	MaxDocument = 64 << 20
	MaxLedger   = 2 << 30
)

// TooLongError says that a governed file is larger than the store reads.
type TooLongError struct{ Path string }

func (e *TooLongError) Error() string { return e.Path + " is larger than any governed file may be" }

// Dir is the project directory. All access goes through an os.Root, so that a symbolic link planted below
// .agentxchain cannot make us read or write outside the project.
type Dir struct {
	Path string
	Root *os.Root

	// Source, when set, answers Read: for files that are not in place yet.
	Source func(name string, limit int64) ([]byte, git.Stat, bool, error)
}

// Stat describes the file at name; false when there is none.
func (w *Dir) Stat(name string) (git.Stat, bool, error) { return git.StatIn(w.Root, name) }

// Open opens the regular file at name for reading.
func (w *Dir) Open(name string) (*os.File, git.Stat, error) { return git.OpenIn(w.Root, name) }

// Read returns the file at name and its stat data; false when there is none.
func (w *Dir) Read(name string, limit int64) ([]byte, git.Stat, bool, error) {
	if w.Source != nil {
		return w.Source(name, limit)
	}
	f, st, err := w.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, git.Stat{}, false, nil
	}
	if err != nil {
		return nil, git.Stat{}, false, err
	}
	defer func() { _ = f.Close() }()
	data, err := git.ReadLimited(f, st.Size, limit)
	if errors.Is(err, git.ErrTooLong) {
		err = &TooLongError{name}
	}
	return data, st, err == nil, err
}

// ReadTail returns the n bytes before offset size.
func (w *Dir) ReadTail(name string, size int64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	f, _, err := w.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, n)
	_, err = f.ReadAt(data, size-int64(n))
	return data, err
}

// RemoveFile removes a regular file; it ignores a missing file and anything else.
func (w *Dir) RemoveFile(name string) error {
	fi, err := w.Root.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	if err := w.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clearDir removes the named regular files of dir, in order, and then dir itself if
// it is empty. The directory is listed once instead of asking for each name.
func (w *Dir) clearDir(dir string, names []string) error {
	if fi, err := w.Root.Lstat(dir); err != nil || !fi.IsDir() {
		return nil
	}
	d, err := w.Root.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	list, err := fs.ReadDir(d.FS(), ".")
	if err != nil {
		return nil
	}
	for _, name := range names {
		i := slices.IndexFunc(list, func(e fs.DirEntry) bool { return e.Name() == name })
		if i < 0 || !list[i].Type().IsRegular() {
			continue
		}
		if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		w.RemoveEmptyDir(dir)
	}
	return nil
}

// RemoveEmptyDir removes dir when it is empty.
func (w *Dir) RemoveEmptyDir(dir string) {
	if fi, err := w.Root.Lstat(dir); err == nil && fi.IsDir() {
		_ = w.Root.Remove(dir) // fails when it is not empty, as it should
	}
}

// RemoveTemps removes what Temps lists. It is safe only while the lock is held.
func (w *Dir) RemoveTemps() []string {
	return slices.DeleteFunc(w.Temps(), func(name string) bool { return w.RemoveFile(name) != nil })
}

// Temps lists what our interrupted writes left beside governed files.
func (w *Dir) Temps() []string {
	var found []string
	names := make(map[string][]string) // directory -> base names
	add := func(p string) { names[path.Dir(p)] = append(names[path.Dir(p)], path.Base(p)) }
	for _, d := range wire.Documents() {
		add(string(d))
	}
	for _, l := range wire.Ledgers() {
		add(l.Path())
	}
	for dir, bases := range names {
		found = append(found, durable.Temps(w.Root, dir, bases...)...)
	}
	return found
}

// CodeFileExists means that something exists where a new file or directory must go.
const CodeFileExists = "file_exists"

// KeepDir returns the name of a new directory for what a command sets aside at some time: below transactions, which
// git ignores and which never count as an actor's work. The name begins with what.
func (w *Dir) KeepDir(what string, at time.Time) (string, error) {
	base := record.ProjectDir + "/transactions/" + what + at.UTC().Format("20060102T150405.000Z")
	for n := range 100 {
		dir := base
		if n > 0 {
			dir += "-" + strconv.Itoa(n)
		}
		if _, err := w.Root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return dir, nil
		}
	}
	return "", fail.Errorf(CodeFileExists, nil, "%s is already there", base)
}
