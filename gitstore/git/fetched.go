// Making durable what a git has fetched.

package git

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// SyncFetched makes what a git has brought survive a power cut: git syncs files, and not the directories that name
// them. It is due before a ref is moved to what came. Synced are the directories of objects, and those of the
// tracking names of the remote. Error: unreadable.
func (r *Repository) SyncFetched(remote string) error {
	list, err := os.ReadDir(r.ObjectsDir)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the objects cannot be listed")
	}
	dirs := []string{r.ObjectsDir}
	for _, e := range list {
		if b, err := hex.DecodeString(e.Name()); e.IsDir() && (e.Name() == "pack" || err == nil && len(b) == 1) {
			dirs = append(dirs, filepath.Join(r.ObjectsDir, e.Name()))
		}
	}
	if tracking := "refs/remotes/" + remote; r.RefFormat == "files" && SafeRefName(tracking) {
		_ = filepath.WalkDir(filepath.Join(r.CommonDir, filepath.FromSlash(tracking)),
			func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					dirs = append(dirs, path)
				}
				return nil
			})
	}
	if err := syncAll(nil, dirs); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the directories of objects and refs cannot be synced")
	}
	return nil
}
