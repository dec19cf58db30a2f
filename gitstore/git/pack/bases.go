// A cache of delta bases, kept between reads of the same packs.

package pack

import "sync"

// baseBytes bounds each of the two cached generations, and the largest object in them.
const (
	baseBytes = 8 << 20
	baseLimit = 1 << 20
)

// Place is an entry of a pack. Its content never changes: a pack is opened once, and git writes a new file for each
// new pack.
type Place struct {
	Pack *Index
	Off  int64
}

type packBase struct {
	kind string
	data []byte
}

// Bases caches the most recently used bases. A nil *Bases caches nothing.
type Bases struct {
	mu          sync.Mutex
	now, before map[Place]packBase
	size        int // bytes in now
}

// Get returns a base, which the caller must not change.
func (c *Bases) Get(at Place) (kind string, data []byte, ok bool) {
	if c == nil {
		return "", nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.now[at]
	if !ok {
		if b, ok = c.before[at]; ok {
			c.add(at, b)
		}
	}
	return b.kind, b.data, ok
}

func (c *Bases) Put(at Place, kind string, data []byte) {
	if c == nil || len(data) > baseLimit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(at, packBase{kind, data})
}

func (c *Bases) add(at Place, b packBase) {
	if c.size += len(b.data); c.now == nil || c.size > baseBytes {
		c.before, c.now, c.size = c.now, make(map[Place]packBase), len(b.data)
	}
	c.now[at] = b
}

// Forget drops all bases: one of them did not match its id.
func (c *Bases) Forget() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.before, c.size = nil, nil, 0
}
