// Finding and reading packed objects without loading a pack index: a handful
// of positioned reads per lookup, whatever the size of the repository.

package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// errDelta says that an entry is stored as a delta.
var errDelta = errors.New("entry is a delta")

// smallIndex is the size up to which an index is kept in memory; the packs this package writes are far below it.
const smallIndex = 64 << 10

// A frequently used index is also kept in memory, up to hugeIndex: a replay looks up every object of a run.
const (
	oftenAsked = 64
	hugeIndex  = 64 << 20
)

// maxOpenIndexes bounds file handles in a repository with thousands of packs; git reads objects in the remaining
// packs.
const maxOpenIndexes = 256

const (
	idxHeader = 8
	idxFanout = 256 * 4
)

// Set is the set of packs of one objects directory.
type Set struct {
	Dir     string
	HashLen int // bytes
	Open    Opener

	mu      sync.Mutex
	stamp   time.Time // directory's mtime at the last scan
	partial bool      // there are more packs than maxOpenIndexes
	packs   map[string]*Index
	order   []*Index
}

// Opener opens a file or directory for reading; nil is object.Open. An untrusted repository gets one that stays
// inside it.
type Opener func(name string) (*os.File, error)

func (open Opener) file(name string) (*os.File, error) {
	if open == nil {
		return object.Open(name)
	}
	return open(name)
}

// Index is one index file, version 2.
type Index struct {
	path string // without the extension
	open Opener
	data []byte // whole content of a small index
	file *os.File
	// Of a larger one: how often it was used, and its content once that is often.
	asked   atomic.Int32
	loaded  atomic.Pointer[[]byte]
	pack    atomic.Pointer[os.File] // the pack itself, see openPack
	windows sync.Pool               // of *window, parts of the pack
	n       uint32                  // objects
	size    int64
	fan     [256]uint32
	hlen    int64
}

// Find returns the pack and offset of an object; nil when no readable pack has it.
func (s *Set) Find(raw []byte) (*Index, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, off := s.lookup(raw, nil); p != nil {
		return p, off
	}
	if s.scan() {
		return s.lookup(raw, nil)
	}
	return nil, 0
}

// FindKnown is find among the packs of the last refresh for which only returns true.
func (s *Set) FindKnown(raw []byte, only func(path string) bool) (*Index, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookup(raw, only)
}

// FindOpen is find among the packs that are open.
func (s *Set) FindOpen(raw []byte) (*Index, int64) { return s.FindKnown(raw, nil) }

// Refresh looks for new packs.
func (s *Set) Refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scan()
}

func (s *Set) lookup(raw []byte, only func(path string) bool) (*Index, int64) {
	for i, p := range s.order {
		if only != nil && !only(p.path) {
			continue
		}
		if off, ok := p.find(raw); ok {
			// Objects read together were mostly written together.
			if i > 0 {
				copy(s.order[1:i+1], s.order[:i])
				s.order[0] = p
			}
			return p, off
		}
	}
	return nil, 0
}

// Forget drops a pack that vanished (a repack), so that the next find rescans.
func (s *Set) Forget(p *Index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(p)
	s.stamp = time.Time{}
}

func (s *Set) drop(p *Index) {
	if s.packs[p.path] != p {
		return
	}
	delete(s.packs, p.path)
	s.order = slices.DeleteFunc(s.order, func(q *Index) bool { return q == p })
	p.close()
}

// Moving reports whether packs may have come or gone during the search: listing a changing directory can miss a
// pack that replaced another.
func (s *Set) Moving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fi, err := os.Stat(s.Dir)
	return err == nil && (!fi.ModTime().Equal(s.stamp) || time.Since(s.stamp) < 2*time.Second)
}

// Partial reports whether there are more packs than are opened.
func (s *Set) Partial() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partial
}

// scan rereads the directory; false when it has not changed since.
func (s *Set) scan() bool {
	fi, err := os.Stat(s.Dir)
	if err != nil {
		return false
	}
	// A directory changed within the clock's granularity of the last scan may change again without a new mtime, so
	// a recent stamp is never trusted.
	if fi.ModTime().Equal(s.stamp) && time.Since(s.stamp) > 2*time.Second {
		return false
	}
	d, err := s.Open.file(s.Dir)
	if err != nil {
		return false
	}
	entries, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return false
	}
	if s.packs == nil {
		s.packs = make(map[string]*Index)
	}
	present := make(map[string]bool, len(entries))
	changed := false
	s.partial = false
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || !strings.HasPrefix(base, "pack-") {
			continue
		}
		path := filepath.Join(s.Dir, base)
		present[path] = true
		if s.packs[path] != nil {
			continue
		}
		if len(s.packs) >= maxOpenIndexes {
			s.partial = true
			continue
		}
		if p, err := openIndex(s.Open, path, s.HashLen); err == nil {
			s.packs[path] = p
			s.order = append(s.order, p)
			changed = true
		}
	}
	for path, p := range s.packs {
		if !present[path] {
			s.drop(p)
		}
	}
	s.stamp = fi.ModTime()
	return changed
}

func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.order {
		p.close()
	}
	s.packs, s.order, s.stamp = nil, nil, time.Time{}
}

// CloseFiles is close that also closes the packs at once; there must be no concurrent reads.
func (s *Set) CloseFiles() {
	for _, p := range s.order {
		if f := p.pack.Load(); f != nil {
			_ = f.Close()
		}
	}
	s.Close()
}

func openIndex(open Opener, path string, hashLen int) (*Index, error) {
	f, err := open.file(path + ".idx")
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	p := &Index{path: path, open: open, file: f, size: fi.Size(), hlen: int64(hashLen)}
	if p.size <= smallIndex {
		p.data, err = io.ReadAll(io.LimitReader(f, smallIndex+1))
		p.file = nil
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		p.size = int64(len(p.data))
	}
	if err := p.readHead(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

var errIndex = errors.New("not a version 2 pack index")

func (p *Index) readHead() error {
	var b [idxHeader + idxFanout]byte
	if err := p.readAt(b[:], 0); err != nil {
		return err
	}
	if !bytes.Equal(b[:idxHeader], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return errIndex
	}
	last := uint32(0)
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(b[idxHeader+4*i:])
		if p.fan[i] < last {
			return errIndex
		}
		last = p.fan[i]
	}
	p.n = last
	if p.size < idxHeader+idxFanout+int64(p.n)*(p.hlen+8)+2*p.hlen {
		return errIndex
	}
	return nil
}

func (p *Index) readAt(b []byte, off int64) error {
	part, err := p.part(off, b)
	copy(b, part)
	return err
}

// part returns len(buf) bytes from off: from memory, or read into buf.
func (p *Index) part(off int64, buf []byte) ([]byte, error) {
	data := p.data
	if p.file != nil {
		whole := p.loaded.Load()
		if whole == nil {
			_, err := p.file.ReadAt(buf, off)
			return buf, err
		}
		data = *whole
	}
	if off < 0 || off+int64(len(buf)) > int64(len(data)) {
		return nil, io.ErrUnexpectedEOF
	}
	return data[off : off+int64(len(buf))], nil
}

// ask counts a lookup and loads the index once there were many.
func (p *Index) ask() {
	if p.file == nil || p.size > hugeIndex || p.asked.Add(1) != oftenAsked {
		return
	}
	data := make([]byte, p.size)
	if _, err := p.file.ReadAt(data, 0); err == nil {
		p.loaded.Store(&data)
	}
}

// guesses is how often find tries the position an id would have if all ids were evenly spaced.
const guesses = 4

// find searches the ids that share the first byte.
func (p *Index) find(raw []byte) (offset int64, ok bool) {
	if int64(len(raw)) != p.hlen {
		return 0, false
	}
	lo, hi := uint32(0), p.fan[raw[0]]
	if raw[0] > 0 {
		lo = p.fan[raw[0]-1]
	}
	p.ask()
	var buf [sha256.Size]byte
	want := uint64(binary.BigEndian.Uint32(raw[1:]))
	from, to := uint64(0), uint64(1)<<32 // ids between lo and hi are between these
	for n := 0; lo < hi; n++ {
		mid := lo + (hi-lo)/2
		if n < guesses && from <= want && want < to { // in an unsorted index they need not be
			mid = lo + uint32(uint64(hi-lo)*(want-from)/(to-from))
		}
		id, err := p.part(idxHeader+idxFanout+int64(mid)*p.hlen, buf[:p.hlen])
		if err != nil {
			return 0, false
		}
		switch c := bytes.Compare(raw, id); {
		case c < 0:
			hi, to = mid, uint64(binary.BigEndian.Uint32(id[1:]))+1
		case c > 0:
			lo, from = mid+1, uint64(binary.BigEndian.Uint32(id[1:]))
		default:
			return p.offset(mid)
		}
	}
	return 0, false
}

func (p *Index) offset(i uint32) (int64, bool) {
	var b [8]byte
	crcs := idxHeader + idxFanout + int64(p.n)*p.hlen
	offs := crcs + 4*int64(p.n)
	if p.readAt(b[:4], offs+4*int64(i)) != nil {
		return 0, false
	}
	v := binary.BigEndian.Uint32(b[:4])
	if v&(1<<31) == 0 {
		return int64(v), true
	}
	at := offs + 4*int64(p.n) + 8*int64(v&^(1<<31))
	if at+8 > p.size-2*p.hlen || p.readAt(b[:], at) != nil {
		return 0, false
	}
	off := int64(binary.BigEndian.Uint64(b[:]))
	return off, off >= 0
}

// openPack returns the pack of the index, opened once: a replay reads tens of thousands of objects from it. It is
// never closed explicitly, since another reader may be using it; the runtime closes it after its last use, and a
// pack that a repack has removed stays readable until then.
func (p *Index) openPack() (*os.File, error) {
	if f := p.pack.Load(); f != nil {
		return f, nil
	}
	f, err := p.open.file(p.path + ".pack")
	if err != nil {
		return nil, err
	}
	if !p.pack.CompareAndSwap(nil, f) {
		_ = f.Close()
	}
	return p.pack.Load(), nil
}

func (p *Index) close() {
	if p.file != nil {
		_ = p.file.Close()
	}
}

// entry returns line i of the index.
func (p *Index) entry(i uint32) (raw []byte, crc uint32, off int64, err error) {
	raw = make([]byte, p.hlen)
	if err := p.readAt(raw, idxHeader+idxFanout+int64(i)*p.hlen); err != nil {
		return nil, 0, 0, err
	}
	var b [4]byte
	if err := p.readAt(b[:], idxHeader+idxFanout+int64(p.n)*p.hlen+4*int64(i)); err != nil {
		return nil, 0, 0, err
	}
	off, ok := p.offset(i)
	if !ok {
		return nil, 0, 0, errIndex
	}
	return raw, binary.BigEndian.Uint32(b[:]), off, nil
}
