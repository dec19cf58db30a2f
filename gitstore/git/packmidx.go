// A multi-pack-index that names missing packs. git does not look for their objects in the other packs it names, and
// says "bad object".

package git

import (
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
)

// DropStaleMidx removes the multi-pack-index when it names a missing pack. Its writer lists the packs first, and
// some may be removed, by git repack or by folding, before the index exists. It is only an accelerator, and git
// also removes it whenever it removes a pack it names.
func (r *Repository) DropStaleMidx() {
	dir := r.packDir()
	for _, name := range pack.MidxPacks(filepath.Join(dir, pack.MidxName)) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.Base(name))); Absent(err) {
			_ = os.Remove(filepath.Join(dir, pack.MidxName))
			return
		}
	}
}
