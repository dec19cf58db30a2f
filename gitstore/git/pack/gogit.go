// Applying deltas with go-git, for SHA-1 packs.

package pack

import (
	"encoding/binary"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// PatchDelta is ApplyDelta with go-git, which has no limit.
func PatchDelta(base, delta []byte, limit int64) ([]byte, error) {
	if _, n := binary.Uvarint(delta); n > 0 {
		if size, _ := binary.Uvarint(delta[n:]); size > uint64(limit) {
			return nil, object.OverLimit(size, limit)
		}
	}
	return packfile.PatchDelta(base, delta)
}
