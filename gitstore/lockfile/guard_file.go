// The guard as a file, for systems and file systems without directory locks.

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
)

// guardMaxAge is when a guard file counts as left behind by a killed process;
// what is done under the guard takes milliseconds.
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
	fi, err := os.Stat(name)
	if err == nil && time.Since(fi.ModTime()) > guardMaxAge {
		// Renaming, not removing: of several processes that find the same old
		// guard only one succeeds.
		aside := name + "." + git.NewToken()
		if os.Rename(name, aside) == nil {
			_ = os.Remove(aside)
		}
	}
	return nil, false, nil
}
