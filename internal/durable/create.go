// New files, complete or not at all.

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// CreateRoot creates the file name below root with data: it writes and syncs a temporary file beside it, as
// WriteFileRoot does, and renames it; the name must be free (fs.ErrExist). The name is durable only once the
// directory has been synced. perm is masked by the umask.
func CreateRoot(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	dir, base := filepath.Split(filepath.Clean(name))
	var tmp string
	var f *os.File
	err := fs.ErrExist
	for try := 0; errors.Is(err, fs.ErrExist) && try < 1000; try++ {
		tmp = dir + "." + base + strconv.FormatUint(rand.Uint64(), 10)
		f, err = root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = root.Remove(tmp) }()
	_, err = f.Write(data)
	faults.Point("durable.create.written")
	if err == nil {
		err = sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	err = root.Link(tmp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		faults.Point("durable.create.named")
		return err
	}
	// Some file systems have no hard links.
	if _, lerr := root.Lstat(name); lerr == nil {
		return &os.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return root.Rename(tmp, name)
}
