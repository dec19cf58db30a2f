// Making files that git wrote, and the directories that name them, survive a power cut.

package git

import (
	"errors"
	"io/fs"
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// SyncAll syncs files, then the directories that name them; missing files were packed or removed meanwhile.
func SyncAll(files, dirs []string) error {
	each := func(names []string, sync func(string) error) error {
		const lanes = 8
		return Parallel(min(lanes, len(names)), func(lane int) error {
			var errs []error
			for i := lane; i < len(names); i += lanes {
				if err := sync(names[i]); err != nil && !Absent(err) {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		})
	}
	if err := each(files, syncFile); err != nil {
		return err
	}
	return each(dirs, durable.SyncDir)
}

// syncFile syncs a file of git's, which may be read-only.
func syncFile(name string) error {
	fi, err := os.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil //nolint:nilerr // not there any more, and nothing to sync
	}
	if err = durable.SyncFile(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
