// A cache of blobs that neighbouring operations share.

package git

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Limits of the cache: how many operations a blob outlives its last use, and its size in bytes.
const (
	recentOps  = 32
	recentSize = 256 << 10
)

// RecentBlobs caches the blobs that the last operations used: the last segments of ledgers, which a later operation
// continues, and unchanged documents. A nil *RecentBlobs caches nothing.
type RecentBlobs struct {
	now, before map[object.OID][]byte
	ops         int
}

// NewRecentBlobs returns an empty cache.
func NewRecentBlobs() *RecentBlobs { return &RecentBlobs{now: make(map[object.OID][]byte)} }

// Get returns a cached blob and keeps it for another generation.
func (b *RecentBlobs) Get(oid object.OID) ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	if data, ok := b.now[oid]; ok {
		return data, true
	}
	data, ok := b.before[oid]
	if ok {
		b.now[oid] = data
	}
	return data, ok
}

// Put caches data without spare capacity, so that appending to it copies.
func (b *RecentBlobs) Put(oid object.OID, data []byte) {
	if b != nil && len(data) <= recentSize {
		b.now[oid] = slices.Clip(data)
	}
}

// Next is called after every operation.
func (b *RecentBlobs) Next() {
	if b == nil {
		return
	}
	if b.ops++; b.ops%recentOps == 0 {
		b.before, b.now = b.now, make(map[object.OID][]byte, len(b.now))
	}
}
