// Fetching, and making durable what came.

package git

import (
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Fetch runs fetches by a git, one after another while they work, and makes durable what came, of one that failed as
// well. remote is the one whose tracking names move, "" for none; in is what each reads on its standard input.
func (r *Repository) Fetch(ctx context.Context, by *Git, remote string, in []byte, fetches ...[]string) error {
	var err error
	for _, args := range fetches {
		if _, err = by.Run(ctx, in, args...); err != nil {
			break
		}
	}
	if serr := r.syncFetched(remote); err == nil {
		return serr
	}
	return err
}

// syncFetched makes what a git has brought survive a power cut: git syncs files, and not the directories that name
// them. It is due before a ref is moved to what came. Synced are the directories of objects, and those of the
// tracking names of the remote. Error: unreadable.
func (r *Repository) syncFetched(remote string) error {
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
	if tracking := "refs/remotes/" + remote; remote != "" && r.RefFormat == "files" && SafeRefName(tracking) {
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
