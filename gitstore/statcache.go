// The stat cache: the metadata of this work tree's governed files after our last write, so that opening a run costs
// a few stat calls instead of a full read.
//
// It is only a cache. Losing or damaging it costs one full check; it is never trusted over the objects or the
// files.

package gitstore

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// statCache is the decoded cache file.
type statCache struct {
	Run     string
	Op      object.OID // operation of the working files
	Root    object.OID // its tree
	Ledgers map[wire.Ledger]record.LedgerMark
	Trees   map[object.OID][]byte // raw trees on the right edge of Root
	Index   []byte                // index.json of Op
}

const (
	cacheName = "cache"
	// maxCache is far above what a run needs (about 20 KiB) and far below a harmful size.
	maxCache = 16 << 20
)

// encode returns the cache file.
func (c *statCache) encode() []byte {
	b := private.PutBytes(nil, []byte(c.Run))
	b = private.PutBytes(b, []byte(c.Op))
	b = private.PutBytes(b, []byte(c.Root))
	b = binary.AppendUvarint(b, uint64(len(c.Ledgers)))
	for _, l := range wire.Ledgers() {
		m, ok := c.Ledgers[l]
		if !ok {
			continue
		}
		b = private.PutBytes(b, []byte(l))
		for _, v := range []int64{m.Size, int64(m.Segments), int64(m.Tail), m.Stat.Size, m.Stat.MTime, m.Stat.CTime,
			int64(m.Stat.Inode)} {
			b = binary.AppendVarint(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(c.Trees)))
	for _, oid := range slices.Sorted(maps.Keys(c.Trees)) {
		b = private.PutBytes(b, []byte(oid))
		b = private.PutBytes(b, c.Trees[oid])
	}
	return private.Seal(private.PutBytes(b, c.Index))
}

// decodeCache parses the output of encode; any damage is private.ErrDamaged.
func decodeCache(data []byte) (*statCache, error) {
	d, err := private.Unseal(data)
	if err != nil {
		return nil, err
	}
	c := &statCache{Ledgers: make(map[wire.Ledger]record.LedgerMark), Trees: make(map[object.OID][]byte)}
	c.Run, c.Op, c.Root = string(d.Bytes()), object.OID(d.Bytes()), object.OID(d.Bytes())
	for range d.Count() {
		l := wire.Ledger(d.Bytes())
		var v [7]int64
		for i := range v {
			v[i] = d.Int()
		}
		if l.Path() == "" || v[0] < 0 || v[1] < 0 || v[1] > record.MaxSlots || v[2] < 0 || v[2] > v[0] {
			return nil, private.ErrDamaged
		}
		c.Ledgers[l] = record.LedgerMark{Size: v[0], Segments: int(v[1]), Tail: int(v[2]),
			Stat: git.Stat{Size: v[3], MTime: v[4], CTime: v[5], Inode: uint64(v[6])}}
	}
	for range d.Count() {
		oid := object.OID(d.Bytes())
		c.Trees[oid] = d.Bytes()
	}
	c.Index = d.Bytes()
	if !d.Done() {
		return nil, private.ErrDamaged
	}
	return c, nil
}

// readCache returns the cache, or nil when there is no usable one.
func (s *Store) readCache() *statCache {
	data, err := private.Read(s.repo, cacheName, maxCache)
	if err != nil {
		return nil
	}
	c, err := decodeCache(data)
	if err != nil || !c.Op.Valid(s.repo.ObjectFormat) || !c.Root.Valid(s.repo.ObjectFormat) {
		return nil
	}
	return c
}

// writeCache rewrites the cache in place: replacing it by a rename would make the file system flush it, which costs
// as much as syncing it. A reader detects a half-written cache by its digest, and checks everything; so does the
// next command after a power cut.
func (s *Store) writeCache(c *statCache) error {
	root, err := private.Open(s.repo, true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if fi, err := root.Lstat(cacheName); err == nil && !fi.Mode().IsRegular() {
		return git.LinkedPrivate(filepath.Join(private.Dir(s.repo), cacheName))
	}
	f, err := root.OpenFile(cacheName, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return git.Placed(err, filepath.Join(private.Dir(s.repo), cacheName))
	}
	_, err = f.WriteAt(c.encode(), 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// dropCache makes the next open check everything.
func (s *Store) dropCache() error {
	return private.Remove(s.repo, cacheName)
}
