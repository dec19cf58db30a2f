// One entry of a pack: its header and, when it is whole, its contents.

package pack

import (
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// packEntry is the header of one entry.
type packEntry struct {
	kind string // "" for a delta
	size int64  // inflated; for a delta, the size of the delta itself
	data int64  // offset of the compressed data or of a delta's base reference
}

// Kinds of deltas: with a base at a distance back, and with a base named by id.
const (
	ofsDelta = 6
	refDelta = 7
)

var packKinds = [8]string{1: object.KindCommit, 2: object.KindTree, 3: object.KindBlob, 4: object.KindTag}

// kindNumber is the inverse of packKinds.
func kindNumber(kind string) byte {
	for i, k := range packKinds {
		if k == kind && k != "" {
			return byte(i)
		}
	}
	return 0
}

var errEntry = errors.New("malformed pack entry")

// entryHeader reads the header of the entry that begins b, off in its pack.
func entryHeader(b []byte, off int64) (packEntry, error) {
	if len(b) == 0 {
		return packEntry{}, errEntry
	}
	number := b[0] >> 4 & 7
	e := packEntry{kind: packKinds[number], size: int64(b[0] & 15)}
	i, shift := 1, 4
	for b[i-1]&0x80 != 0 {
		if i >= len(b) || shift > 53 {
			return packEntry{}, errEntry
		}
		e.size |= int64(b[i]&0x7f) << shift
		shift += 7
		i++
	}
	e.data = off + int64(i)
	if e.kind == "" && number != ofsDelta && number != refDelta {
		return packEntry{}, errors.New("unknown pack entry type")
	}
	return e, nil
}

// packPart is one entry of a pack: an object or a delta.
type packPart struct {
	kind string // "" for a delta
	base int64  // for a delta, the offset of its base in the same pack, 0 when the base is named by id
	name []byte // raw id of the base otherwise
	data []byte // the object, or the delta's instructions
}

// readPart reads the entry at off, of at most limit bytes. hashLen is the length of an id in bytes; windows is the
// pack's pool.
func readPart(pack io.ReaderAt, windows *sync.Pool, off, limit int64, hashLen int) (part packPart, err error) {
	w, ok := windows.Get().(*window)
	if !ok {
		w = &window{}
	}
	defer windows.Put(w)
	if err := w.look(pack, off); err != nil {
		return part, err
	}
	defer func() { w.src = nil }()
	head := w.buf[w.at:w.n]
	e, err := entryHeader(head, off)
	if err != nil {
		return part, err
	}
	if e.size > limit {
		return part, object.OverLimit(uint64(e.size), limit)
	}
	used := int(e.data - off)
	if part.kind = e.kind; e.kind == "" {
		n, err := part.baseOf(head, used, off, hashLen)
		if err != nil {
			return part, err
		}
		used += n
	}
	w.at += used
	// A deflate stream never grows its content by more than a few bytes per block, so this is far enough; with a
	// false size it reads too little.
	w.end = off + int64(used) + e.size + e.size/512 + 4096
	part.data, err = object.Inflate(w, e.size)
	return part, err
}

// baseOf reads the base reference, n bytes from b[at] on, of a delta at off in its pack; b begins with the entry's
// header.
func (d *packPart) baseOf(b []byte, at int, off int64, hashLen int) (n int, err error) {
	rest := b[min(at, len(b)):]
	if b[0]>>4&7 == refDelta {
		if len(rest) < hashLen {
			return 0, errEntry
		}
		d.name = slices.Clone(rest[:hashLen])
		return hashLen, nil
	}
	back, n := DeltaOffset(rest)
	if n == 0 || back <= 0 || back >= off {
		return 0, errEntry
	}
	d.base = off - back
	return n, nil
}

// Size of a window, and how many bytes of an entry it must hold to contain its header with base reference.
const (
	windowSize = 32 << 10
	entryHead  = 64
)

// window is a part of a pack. Objects read together were mostly written together, in either order: the window stays
// where it is until a byte outside it is needed, so most entries cost no system call.
type window struct {
	src   io.ReaderAt
	off   int64 // of the next read, where buf[n] would be
	end   int64 // nothing is read beyond this
	at, n int   // buf[at:n] is not yet consumed
	buf   [windowSize]byte
}

// look positions the window so that the byte at off is consumed next.
func (w *window) look(src io.ReaderAt, off int64) error {
	w.src, w.end = src, math.MaxInt64
	from := w.off - int64(w.n)
	if off >= from && off+entryHead <= w.off {
		w.at = int(off - from)
		return nil
	}
	// A distant place gets half a window around it. A near one is part of a sequence, of operations forward or of
	// commits back: a whole window, with more of it in that direction.
	before := int64(windowSize / 4)
	w.end = off + windowSize/4
	switch {
	case off >= from && off < w.off+windowSize:
		before, w.end = windowSize*3/8, math.MaxInt64
	case off < from && off > from-windowSize:
		before, w.end = windowSize*5/8, math.MaxInt64
	}
	w.off = max(0, off-before)
	back := int(off - w.off)
	err := w.fill()
	if w.at = back; w.n <= back {
		w.off, w.at, w.n = 0, 0, 0
		if err == nil {
			err = io.EOF
		}
		return err
	}
	return nil
}

// fill reads on; io.EOF at the end.
func (w *window) fill() error {
	size := min(int64(len(w.buf)), w.end-w.off)
	if size <= 0 {
		return io.EOF
	}
	n, err := w.src.ReadAt(w.buf[:size], w.off)
	w.off += int64(n)
	w.at, w.n = 0, n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

func (w *window) Read(p []byte) (int, error) {
	if w.at == w.n {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.buf[w.at:w.n])
	w.at += n
	return n, nil
}

// ReadByte keeps the decompressor from wrapping the window in another buffer.
func (w *window) ReadByte() (byte, error) {
	if w.at == w.n {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	b := w.buf[w.at]
	w.at++
	return b, nil
}
