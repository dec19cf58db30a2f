// Blobs that neighbouring operations share, kept from one to the next.

package gitstore

import "slices"

// Bounds of what is remembered: operations a blob outlives its last use, and
// its size in bytes.
const (
	recentOps  = 32
	recentSize = 256 << 10
)

// recentBlobs keeps the blobs that the last operations used: the last segments
// of ledgers, which a later operation continues, and documents that stay as they
// are. The nil value keeps nothing.
type recentBlobs struct {
	now, before map[OID][]byte
	ops         int
}

func newRecentBlobs() *recentBlobs { return &recentBlobs{now: make(map[OID][]byte)} }

func (b *recentBlobs) get(oid OID) ([]byte, bool) {
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

// put keeps data; whoever appends to what get returns gets a copy.
func (b *recentBlobs) put(oid OID, data []byte) {
	if b != nil && len(data) <= recentSize {
		b.now[oid] = slices.Clip(data)
	}
}

// next is called after every operation.
func (b *recentBlobs) next() {
	if b == nil {
		return
	}
	if b.ops++; b.ops%recentOps == 0 {
		b.before, b.now = b.now, make(map[OID][]byte, len(b.now))
	}
}
