// Resolving packed deltas without recursion and within limits, because other programs may have made the packs.

package pack

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Limits on one object's delta chain. Git itself makes at most 4095.
const (
	maxDeltaChain = 4095
	maxDeltaWork  = 1 << 30 // total bytes of all intermediate objects
)

var errDeltaChain = errors.New("malformed chain of differences")

// Patcher applies delta to base, for an object of at most limit bytes.
type Patcher func(base, delta []byte, limit int64) ([]byte, error)

// Reader reads entries of packs, following delta chains down to a whole object and applying the deltas.
type Reader struct {
	Packs *Set
	Limit int64 // bytes of one object
	Patch Patcher
	Loose func(oid object.OID) (kind string, data []byte, err error)
	Bases *Bases // nil: nothing is cached
}

// Read returns the object at off of p. fs.ErrNotExist says that a pack is gone.
func (d *Reader) Read(p *Index, off int64) (kind string, data []byte, err error) {
	kind, data, kept, err := d.Look(p, off)
	if kept {
		data = slices.Clone(data)
	}
	return kind, data, err
}

// Look is Read without a copy: if kept is set, the object is cached as a base and the caller must not change it.
func (d *Reader) Look(p *Index, off int64) (kind string, data []byte, kept bool, err error) {
	type link struct {
		at    Place
		delta []byte
	}
	var chain []link
	var held int64
	for {
		at := Place{p, off}
		var ok bool
		if kind, data, ok = d.Bases.Get(at); ok {
			kept = len(chain) == 0
			break
		}
		f, err := p.openPack()
		if err != nil {
			return "", nil, false, err
		}
		part, err := readPart(f, &p.windows, off, d.Limit, int(p.hlen))
		if err != nil {
			return "", nil, false, err
		}
		if part.kind != "" {
			if kind, data = part.kind, part.data; len(chain) > 0 {
				d.Bases.Put(at, kind, data)
			}
			break
		}
		chain = append(chain, link{at, part.data})
		if held += int64(len(part.data)); len(chain) > maxDeltaChain || held > d.Limit {
			return "", nil, false, errDeltaChain
		}
		if part.name == nil {
			off = part.base
			continue
		}
		if p, off = d.Packs.Find(part.name); p == nil {
			if kind, data, err = d.Loose(object.OIDFromRaw(part.name)); err != nil {
				return "", nil, false, errDeltaChain
			}
			break
		}
	}
	work := int64(len(data))
	for i, l := range slices.Backward(chain) {
		if data, err = d.Patch(data, l.delta, d.Limit); err != nil {
			return "", nil, false, err
		}
		if work += int64(len(data)); work > maxDeltaWork {
			return "", nil, false, errDeltaChain
		}
		if i > 0 {
			d.Bases.Put(l.at, kind, data)
		}
	}
	return kind, data, kept, nil
}

// DeltaOffset reads the distance back to a base; used is 0 when it is malformed.
func DeltaOffset(b []byte) (back int64, used int) {
	for i, c := range b {
		if i > 8 {
			return 0, 0
		}
		if i > 0 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, i + 1
		}
	}
	return 0, 0
}

// ApplyDelta applies delta to base.
func ApplyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errDeltaChain
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 {
		return nil, errDeltaChain
	}
	if size > uint64(limit) {
		return nil, object.OverLimit(size, limit)
	}
	delta = delta[n:]
	out := make([]byte, 0, min(size, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op == 0 {
			return nil, errDeltaChain
		}
		var part []byte
		if op&0x80 == 0 {
			if int(op) > len(delta) {
				return nil, errDeltaChain
			}
			part, delta = delta[:op], delta[op:]
		} else {
			var at, length uint64
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errDeltaChain
				}
				if i < 4 {
					at |= uint64(delta[0]) << (8 * i)
				} else {
					length |= uint64(delta[0]) << (8 * (i - 4))
				}
				delta = delta[1:]
			}
			if length == 0 {
				length = 1 << 16
			}
			if at+length > uint64(len(base)) {
				return nil, errDeltaChain
			}
			part = base[at : at+length]
		}
		if uint64(len(out)+len(part)) > size {
			return nil, errDeltaChain
		}
		out = append(out, part...)
	}
	if uint64(len(out)) != size {
		return nil, errDeltaChain
	}
	return out, nil
}
