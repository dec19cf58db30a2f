// The SHA-1 object backend: packed deltas are resolved by go-git, over our own
// on-disk index.
//
// Go-git's storer is not opened on the repository. Its index decoder loads
// every pack index whole (28 bytes an object: 280 MB for ten million), and its
// writer gives no file to sync. Its pack reader, however, takes any index.

package git

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// GoGitObjects is the Objects of a SHA-1 repository.
type GoGitObjects struct{ *ObjectFiles }

func newGoGitObjects(r *Repository) Objects {
	s := GoGitObjects{newObjectFiles(r)}
	s.delta = s.readDelta
	return s
}

// deltaCache bounds the bases kept while one chain is resolved, in bytes.
const deltaCache = 8 << 20

func (s GoGitObjects) readDelta(p *packIndex, off int64, oid OID) (string, []byte, error) {
	f, err := os.Open(p.path + ".pack")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	pack := packfile.NewPackfileWithCache(&diskIndex{set: s.Packs, index: p}, nil, packFile{f},
		cache.NewObjectLRU(deltaCache), maxObjectSize)
	size, err := pack.GetSizeByOffset(off)
	if err != nil {
		return "", nil, err
	}
	if size > maxObjectSize {
		return "", nil, tooLarge(oid, size)
	}
	obj, err := pack.GetByOffset(off)
	if err != nil {
		return "", nil, err
	}
	r, err := obj.Reader()
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, maxObjectSize))
	return obj.Type().String(), data, err
}

// packFile gives an os.File the two methods go-git's file interface adds;
// packs are never locked.
type packFile struct{ *os.File }

func (packFile) Lock() error   { return nil }
func (packFile) Unlock() error { return nil }

// diskIndex is go-git's view of a pack index that stays on disk.
type diskIndex struct {
	set   *packSet
	index *packIndex
}

func (d *diskIndex) FindOffset(h plumbing.Hash) (int64, error) {
	d.set.mu.Lock()
	defer d.set.mu.Unlock()
	off, ok := d.index.find(h[:])
	if !ok {
		return 0, plumbing.ErrObjectNotFound
	}
	return off, nil
}

func (d *diskIndex) Contains(h plumbing.Hash) (bool, error) {
	_, err := d.FindOffset(h)
	return err == nil, nil
}

// FindHash is asked for the base of an offset delta, only to look into a cache
// keyed by hash. The true answer needs a scan of the whole index, so the offset
// itself stands in: unique within the pack, and never equal to a real id for
// which go-git would cache anything (twelve bytes of a hash are not all 0xff).
func (d *diskIndex) FindHash(off int64) (plumbing.Hash, error) {
	var h plumbing.Hash
	for i := range h {
		h[i] = 0xff
	}
	binary.BigEndian.PutUint64(h[12:], uint64(off))
	return h, nil
}

var errNotIndexed = errors.New("not available from an index on disk")

func (d *diskIndex) FindCRC32(plumbing.Hash) (uint32, error) { return 0, errNotIndexed }
func (d *diskIndex) Count() (int64, error)                   { return int64(d.index.n), nil }
func (d *diskIndex) Entries() (idxfile.EntryIter, error)     { return nil, errNotIndexed }
func (d *diskIndex) EntriesByOffset() (idxfile.EntryIter, error) {
	return nil, errNotIndexed
}
