// Writing a batch of objects durably as one pack with its index.
//
// A commit of the store is 15-20 small objects. As loose files each costs a
// sync of its own and of its directory, about 32 syncs; as a pack the whole
// batch costs three (pack, index, directory), measured 2 ms against 5-20 ms on
// the same disk. syncfs(2) is no way out: it waits for everything other
// programs have dirty. Git's own "batch" sync mode is documented as safe only
// for some other systems' file systems. The packs are folded together by
// Compact, so their number stays small.

package git

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// maxPackBytes splits batches so that every offset fits the index's 31 bits.
const maxPackBytes = 1 << 30

// packedEntry is one line of an index.
type packedEntry struct {
	raw    []byte
	crc    uint32
	offset uint32
}

// PackWriter streams a pack of undeltified objects into w.
type PackWriter struct {
	w       *bufio.Writer
	sum     hash.Hash
	off     int64
	entries []packedEntry
}

func newPackWriter(w io.Writer, format string, count int) *PackWriter {
	p := &PackWriter{sum: object.NewHash(format)}
	p.w = bufio.NewWriterSize(io.MultiWriter(w, p.sum), 32<<10)
	var head [12]byte
	copy(head[:], "PACK\x00\x00\x00\x02")
	binary.BigEndian.PutUint32(head[8:], uint32(count))
	_, _ = p.w.Write(head[:]) // a bufio.Writer keeps its error until Flush
	p.off = int64(len(head))
	return p
}

// Add compresses one object into the pack.
func (p *PackWriter) Add(o object.Object) error {
	raw, ok := o.OID.Raw()
	if !ok {
		return fail.Errorf(fail.CodeObjectInvalid, nil, "%q is not an object id", o.OID)
	}
	var buf bytes.Buffer
	writeEntryHead(&buf, kindNumber(o.Kind), len(o.Data))
	if err := object.Deflate(&buf, o.Data); err != nil {
		return err
	}
	return p.addRaw(raw, buf.Bytes())
}

// writeEntryHead writes the header of an entry: what it is, and how long it is inflated.
func writeEntryHead(w *bytes.Buffer, number byte, length int) {
	size := uint64(length)
	b := number<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		w.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	w.WriteByte(b)
}

// addRaw copies an entry that is already compressed.
func (p *PackWriter) addRaw(raw, entry []byte) error {
	p.entries = append(p.entries, packedEntry{raw: raw, crc: crc32.ChecksumIEEE(entry), offset: uint32(p.off)})
	p.off += int64(len(entry))
	_, err := p.w.Write(entry)
	return err
}

// finish writes the trailer to w, the underlying writer, and returns it.
func (p *PackWriter) finish(w io.Writer) ([]byte, error) {
	if err := p.w.Flush(); err != nil {
		return nil, err
	}
	sum := p.sum.Sum(nil)
	_, err := w.Write(sum)
	return sum, err
}

// encodeIndex returns the version 2 index of the entries, which it sorts.
func encodeIndex(entries []packedEntry, packSum []byte, format string) []byte {
	slices.SortFunc(entries, func(a, b packedEntry) int { return bytes.Compare(a.raw, b.raw) })
	b := append(make([]byte, 0, 1100+len(entries)*40), 0xff, 't', 'O', 'c', 0, 0, 0, 2)
	next := 0
	for i := range 256 {
		for next < len(entries) && int(entries[next].raw[0]) <= i {
			next++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(next))
	}
	for _, e := range entries {
		b = append(b, e.raw...)
	}
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, e.crc)
	}
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, e.offset)
	}
	b = append(b, packSum...)
	h := object.NewHash(format)
	h.Write(b)
	return h.Sum(b)
}

// writePack stores objects as one durable pack in packDir, held until a ref reaches
// it. The objects must be distinct, checked and fewer than maxPackBytes in all.
func writePack(packDir, format string, mode fs.FileMode, objects []object.Object) (*packHold, error) {
	h, err := BuildPack(packDir, format, mode, len(objects), func(p *PackWriter) error {
		for _, o := range objects {
			if err := p.Add(o); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		h.tips = commitsIn(objects)
	}
	return h, err
}

// BuildPack writes, syncs and publishes a pack that fill streams entries into.
// The file that holds the pack is there first. The pack is written under its own name,
// as git looks for indexes alone; "tmp_" names are no good, because git prune removes
// them from under the writer. The index gets its name last, when both are
// complete on disk. What a crash leaves the next command removes (StaleHolds).
func BuildPack(packDir, format string, mode fs.FileMode, count int, fill func(*PackWriter) error) (_ *packHold,
	err error) {
	faults.Point("objects.pack.before")
	path, keep, err := newKeep(packDir, format)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = keep.Close()
		if err != nil {
			removeUnfinished(path)
			_ = os.Remove(path + KeepExt)
		}
	}()
	faults.Point("objects.pack.kept")
	pack, err := os.OpenFile(path+".pack", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = pack.Close()
		}
	}()
	w := newPackWriter(pack, format, count)
	if err := fill(w); err != nil {
		return nil, err
	}
	if len(w.entries) != count {
		return nil, fmt.Errorf("pack of %d objects announced as %d", len(w.entries), count)
	}
	sum, err := w.finish(pack)
	if err != nil {
		return nil, err
	}
	idx, err := os.OpenFile(path+".idx"+newExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = idx.Close() }()
	index := encodeIndex(w.entries, sum, format)
	if _, err := idx.Write(index); err != nil {
		return nil, err
	}
	// Side by side, the syncs share one journal commit of the file system.
	beside := make(chan error, 2)
	go func() { beside <- seal(pack, mode) }()
	go func() { beside <- keep.Sync() }()
	if err = errors.Join(seal(idx, mode), <-beside, <-beside); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.synced")
	if err := os.Rename(idx.Name(), path+".idx"); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.named")
	if err := durable.SyncDir(packDir); err != nil {
		return nil, err
	}
	faults.Point("objects.pack.after")
	return &packHold{path: path, pack: pack, index: index}, nil
}

// seal makes a finished file read-only, as git's are, and syncs it.
func seal(f *os.File, mode fs.FileMode) error {
	if err := f.Chmod(0o444 & mode); err != nil {
		return err
	}
	return f.Sync()
}
