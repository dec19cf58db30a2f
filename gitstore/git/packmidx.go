// A multi-pack-index that names packs which are gone. git does not look for their
// objects in the other packs it names, and says "bad object".

package git

import (
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
)

// DropStaleMidx removes the multi-pack-index when it names a pack that is not there.
// Who writes one lists the packs first, and some of those may be removed, by git repack
// or by folding, before it is there. It only makes looking up faster, and git removes
// it as well whenever it removes a pack it names.
func (r *Repository) DropStaleMidx() {
	dir := filepath.Join(r.ObjectsDir, "pack")
	for _, name := range pack.MidxPacks(filepath.Join(dir, pack.MidxName)) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.Base(name))); Absent(err) {
			_ = os.Remove(filepath.Join(dir, pack.MidxName))
			return
		}
	}
}
