// Files that commands write.

package shared

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// SaveFile writes a new small file beside the target and renames it once it is complete.
func SaveFile(path string, data []byte, force bool) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-")
	if err != nil {
		return term.Errorf("io_failed", "cannot write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = Publish(f.Name(), path, force)
	}
	if err == nil {
		err = durable.SyncDir(dir)
	}
	var ours *term.Error
	if err != nil && !errors.As(err, &ours) {
		err = term.Errorf("io_failed", "cannot write %s: %w", path, err)
	}
	return err
}

// OutputPlace refuses, before any work is done, a place that cannot or should not be written to,
// and makes its directory.
func OutputPlace(path string, force bool) error {
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		return term.Errorf("invalid_argument", "%s is a directory", path).WithHint("name a file in it with --output")
	case err == nil && fi.Mode().IsRegular() && !force:
		return term.Errorf("file_exists", "%s exists already", path).WithHint("--force replaces it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return term.Errorf("io_failed", "cannot write the artifact: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return term.Errorf("io_failed", "cannot make the directory of the artifact: %w", err)
	}
	return nil
}

// Publish gives a finished file its name. Without force it keeps a file that has appeared there
// meanwhile: linking does not replace.
func Publish(from, to string, force bool) error {
	if !force {
		err := os.Link(from, to)
		if err == nil {
			return nil
		}
		if _, serr := os.Lstat(to); serr == nil {
			return term.Errorf("file_exists", "%s exists already", to).WithHint("--force replaces it")
		}
	}
	return os.Rename(from, to)
}
