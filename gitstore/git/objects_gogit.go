// The SHA-1 object backend: objects that are packed as differences are put together by go-git.
//
// Go-git's storer is not opened on the repository, nor its pack reader. Its index decoder
// loads every pack index whole (28 bytes an object: 280 MB for ten million), its reader keeps
// no base from one object to the next, and its writer gives no file to sync.

package git

import (
	"encoding/binary"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// GoGitObjects is the Objects of a SHA-1 repository.
type GoGitObjects struct{ *ObjectFiles }

func newGoGitObjects(r *Repository) Objects { return GoGitObjects{newObjectFiles(r, patchDelta)} }

// patchDelta is ApplyDelta by go-git, which knows no limit.
func patchDelta(base, delta []byte, limit int64) ([]byte, error) {
	if _, n := binary.Uvarint(delta); n > 0 {
		if size, _ := binary.Uvarint(delta[n:]); size > uint64(limit) {
			return nil, fail.Errorf(fail.CodeObjectTooLarge, nil, "an object is %d bytes long, the limit is %d", size,
				limit)
		}
	}
	return packfile.PatchDelta(base, delta)
}
