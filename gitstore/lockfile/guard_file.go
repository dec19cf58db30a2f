// The guard as a file, for systems and file systems without directory locks.

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// guardMaxAge is the age at which a guard file counts as left behind by a killed process; the work under the guard
// takes milliseconds.
const guardMaxAge = 10 * time.Second

func guardByFile(path string) (release func(), ok bool, err error) {
	name := path + ".guard"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_ = f.Close()
		return func() { _ = os.Remove(name) }, true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	// Rename instead of removing: of several processes that find the same old guard only one succeeds.
	aside := sidePath(path, git.NewToken(), "guard")
	if abandoned(name, aside) && os.Rename(name, aside) == nil {
		_ = os.Remove(aside)
	}
	return nil, false, nil
}

// abandoned reports whether a guard is too old, compared with a file made now: the clock of the file system may
// differ from the machine's.
func abandoned(name, aside string) bool {
	guard, err := os.Stat(name)
	if err != nil {
		return false
	}
	if age := time.Since(guard.ModTime()); age >= 0 && age <= guardMaxAge {
		return false
	}
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false
	}
	now, err := f.Stat()
	_ = f.Close()
	_ = os.Remove(aside)
	return err == nil && now.ModTime().Sub(guard.ModTime()) > guardMaxAge
}
