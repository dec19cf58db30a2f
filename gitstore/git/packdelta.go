// Packed objects that are stored as differences, resolved without recursion and
// within bounds, for packs that somebody else has made.

package git

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// Bounds of one object's chain of differences. Git itself makes at most 4095.
const (
	maxDeltaChain = 4095
	maxDeltaWork  = 1 << 30 // bytes all the intermediate objects have together
)

var errDeltaChain = errors.New("malformed chain of differences")

// deltaEntry is one difference in a pack.
type deltaEntry struct {
	base int64  // offset of the base in the same pack, 0 when it is named
	name []byte // raw id of the base otherwise
	data []byte // the instructions
}

// readDelta reads the difference at off, of at most limit bytes.
func readDelta(pack *os.File, off int64, hashLen int, limit int64) (deltaEntry, error) {
	var d deltaEntry
	var b [64]byte
	n, err := pack.ReadAt(b[:], off)
	if n == 0 {
		return d, err
	}
	e, err := entryHeader(b[:n], off)
	if err != nil {
		return d, err
	}
	if e.size > limit {
		return d, Errorf(CodeObjectTooLarge, nil, "a difference is %d bytes long, the limit is %d", e.size, limit)
	}
	rest := b[min(int64(n), e.data-off):n]
	start := e.data
	if b[0]>>4&7 == 7 {
		if len(rest) < hashLen {
			return d, errEntry
		}
		d.name = append([]byte{}, rest[:hashLen]...)
		start += int64(hashLen)
	} else {
		back, used := DeltaOffset(rest)
		if used == 0 || back <= 0 || back >= off {
			return d, errEntry
		}
		d.base = off - back
		start += int64(used)
	}
	z, err := inflate(io.NewSectionReader(pack, start, e.size+e.size/512+4096))
	if err != nil {
		return d, err
	}
	defer zlibReaders.Put(z)
	d.data, err = readExactly(z, e.size)
	return d, err
}

// DeltaOffset reads how far back a base lies; used is 0 when that cannot be told.
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

// ApplyDelta makes the object that delta describes out of base.
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
		return nil, Errorf(CodeObjectTooLarge, nil, "an object is %d bytes long, the limit is %d", size, limit)
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
