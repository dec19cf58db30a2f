// The guard around reading and changing a lock file: a lock on its directory.

package lockfile

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// guard tries once to take the guard. ok is false when another process has it.
func guard(path string) (release func(), ok bool, err error) {
	dir := filepath.Dir(path)
	// Two rounds: the directory may be removed and recreated meanwhile, and a lock on the removed one guards
	// nothing.
	for range 2 {
		f, err := os.Open(dir)
		if err != nil {
			return nil, false, err
		}
		err = process.TryLock(f)
		switch {
		case err == nil:
			if here, err := os.Stat(dir); err == nil {
				if fi, err := f.Stat(); err == nil && os.SameFile(fi, here) {
					return func() { _ = f.Close() }, true, nil
				}
			}
			_ = f.Close()
			continue
		case errors.Is(err, process.ErrLocked):
			_ = f.Close()
			return nil, false, nil
		}
		_ = f.Close()
		// Some systems and network file systems cannot lock a directory.
		return guardByFile(path)
	}
	return nil, false, nil
}
