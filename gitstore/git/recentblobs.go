// Blobs that neighbouring operations share, kept from one to the next.

package git

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Bounds of what is remembered: operations a blob outlives its last use, and
// its size in bytes.
const (
	recentOps  = 32
	recentSize = 256 << 10
)

// RecentBlobs keeps the blobs that the last operations used: the last segments
// of ledgers, which a later operation continues, and documents that stay as they
// are. The nil value keeps nothing.
type RecentBlobs struct {
	now, before map[object.OID][]byte
	ops         int
}

// NewRecentBlobs remembers nothing yet.
func NewRecentBlobs() *RecentBlobs { return &RecentBlobs{now: make(map[object.OID][]byte)} }

// Get returns a remembered blob and keeps it for another generation.
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

// Put keeps data; whoever appends to what get returns gets a copy.
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
