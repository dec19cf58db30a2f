// The stat cache: what this work tree's governed files were after our last
// write, so that opening a run costs a few stat calls and not a full read.
//
// It is a cache. Losing or damaging it costs one full check; it is never
// trusted for anything the objects or the files could contradict.

package gitstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// statCache is the decoded cache file.
type statCache struct {
	Run     string
	Op      git.OID // operation the working files are at
	Root    git.OID // its tree
	Ledgers map[wire.Ledger]record.LedgerMark
	Trees   map[git.OID][]byte // raw trees on the right edge of Root
	Index   []byte             // index.json of Op
}

const (
	cacheName  = "cache"
	cacheMagic = "axc\x00\x02"
	// maxCache is far above what a run needs (about 20 KiB) and far below what hurts.
	maxCache = 16 << 20
)

var errCache = errors.New("not a stat cache of this version")

// encode returns the cache file.
func (c *statCache) encode() []byte {
	b := putBytes(nil, []byte(c.Run))
	b = putBytes(b, []byte(c.Op))
	b = putBytes(b, []byte(c.Root))
	b = binary.AppendUvarint(b, uint64(len(c.Ledgers)))
	for _, l := range wire.Ledgers() {
		m, ok := c.Ledgers[l]
		if !ok {
			continue
		}
		b = putBytes(b, []byte(l))
		for _, v := range []int64{m.Size, int64(m.Segments), int64(m.Tail), m.Stat.Size, m.Stat.MTime, m.Stat.CTime, int64(m.Stat.Inode)} {
			b = binary.AppendVarint(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(c.Trees)))
	for _, oid := range sortedKeys(c.Trees) {
		b = putBytes(b, []byte(oid))
		b = putBytes(b, c.Trees[oid])
	}
	return sealCache(putBytes(b, c.Index))
}

// sealCache frames the fields: magic, length, SHA-256, fields. What follows is
// no part of it, so that a shorter content can be written over a longer one.
func sealCache(fields []byte) []byte {
	b := append(make([]byte, 0, len(fields)+cacheHead), cacheMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(fields)))
	sum := sha256.Sum256(fields)
	b = append(b, sum[:]...)
	return append(b, fields...)
}

const cacheHead = len(cacheMagic) + 4 + sha256.Size

// unsealCache checks the frame and returns the fields.
func unsealCache(data []byte) (*cacheReader, error) {
	if len(data) < cacheHead || !bytes.HasPrefix(data, []byte(cacheMagic)) {
		return nil, errCache
	}
	n := binary.BigEndian.Uint32(data[len(cacheMagic):])
	want, fields := data[cacheHead-sha256.Size:cacheHead], data[cacheHead:]
	if uint64(n) > uint64(len(fields)) {
		return nil, errCache
	}
	fields = fields[:n]
	if sum := sha256.Sum256(fields); !bytes.Equal(sum[:], want) {
		return nil, errCache
	}
	return &cacheReader{b: fields}, nil
}

func sortedKeys[V any](m map[git.OID]V) []git.OID {
	keys := make([]git.OID, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// decodeCache reads what encode wrote; any damage is errCache.
func decodeCache(data []byte) (*statCache, error) {
	d, err := unsealCache(data)
	if err != nil {
		return nil, err
	}
	c := &statCache{Ledgers: make(map[wire.Ledger]record.LedgerMark), Trees: make(map[git.OID][]byte)}
	c.Run, c.Op, c.Root = string(d.bytes()), git.OID(d.bytes()), git.OID(d.bytes())
	for range d.count() {
		l := wire.Ledger(d.bytes())
		var v [7]int64
		for i := range v {
			v[i] = d.int()
		}
		if l.Path() == "" || v[0] < 0 || v[1] < 0 || v[1] > record.MaxSlots || v[2] < 0 || v[2] > v[0] {
			return nil, errCache
		}
		c.Ledgers[l] = record.LedgerMark{Size: v[0], Segments: int(v[1]), Tail: int(v[2]),
			Stat: git.Stat{Size: v[3], MTime: v[4], CTime: v[5], Inode: uint64(v[6])}}
	}
	for range d.count() {
		oid := git.OID(d.bytes())
		c.Trees[oid] = d.bytes()
	}
	c.Index = d.bytes()
	if d.bad || len(d.b) != 0 {
		return nil, errCache
	}
	return c, nil
}

func putBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// cacheReader takes fields off b; after the first bad one everything reads as empty.
type cacheReader struct {
	b   []byte
	bad bool
}

func (d *cacheReader) fail() { d.b, d.bad = nil, true }

func (d *cacheReader) bytes() []byte {
	n, w := binary.Uvarint(d.b)
	if w <= 0 || n > uint64(len(d.b)-w) {
		d.fail()
		return nil
	}
	v := d.b[w : w+int(n) : w+int(n)]
	d.b = d.b[w+int(n):]
	return v
}

// count reads a number of items; each takes at least one byte, which bounds it.
func (d *cacheReader) count() uint64 {
	n, w := binary.Uvarint(d.b)
	if w <= 0 || n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return n
}

func (d *cacheReader) int() int64 {
	v, w := binary.Varint(d.b)
	if w <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return v
}

// cacheDir is this work tree's own directory for this project. Linked work
// trees share run refs but each has its own .agentxchain, so each has its own
// cache; two projects in one repository have two.
func (s *Store) cacheDir() string {
	sum := sha256.Sum256([]byte(s.prefix))
	return filepath.Join(s.repo.GitDir, git.PrivateName, hex.EncodeToString(sum[:6]))
}

// readCache returns the cache, or nil when there is none that can be used.
func (s *Store) readCache() *statCache {
	data, err := s.readPrivate(cacheName, maxCache)
	if err != nil {
		return nil
	}
	c, err := decodeCache(data)
	if err != nil || !c.Op.Valid(s.repo.ObjectFormat) || !c.Root.Valid(s.repo.ObjectFormat) {
		return nil
	}
	return c
}

// writeCache renews the cache in place: replacing it by a rename would have the
// file system flush it, which costs as much as syncing it. A reader that meets a
// half-written cache sees that by its digest, and checks everything; so does the
// next command after a power cut.
func (s *Store) writeCache(c *statCache) error {
	root, err := s.private(true)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if fi, err := root.Lstat(cacheName); err == nil && !fi.Mode().IsRegular() {
		return git.LinkedPrivate(filepath.Join(s.cacheDir(), cacheName))
	}
	f, err := root.OpenFile(cacheName, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(c.encode(), 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// dropCache makes the next open check everything.
func (s *Store) dropCache() error {
	return s.removePrivate(cacheName)
}
