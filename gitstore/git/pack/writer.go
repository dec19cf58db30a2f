// Writing packs and their indexes.

package pack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// MaxBytes splits batches so that every offset fits the index's 31 bits.
const MaxBytes = 1 << 30

// packedEntry is one line of an index.
type packedEntry struct {
	raw    []byte
	crc    uint32
	offset uint32
}

// Writer streams a pack of undeltified objects into w.
type Writer struct {
	w       *bufio.Writer
	format  string
	sum     hash.Hash
	off     int64
	entries []packedEntry
}

func NewWriter(w io.Writer, format string, count int) *Writer {
	p := &Writer{format: format, sum: object.NewHash(format)}
	p.w = bufio.NewWriterSize(io.MultiWriter(w, p.sum), 32<<10)
	var head [12]byte
	copy(head[:], "PACK\x00\x00\x00\x02")
	binary.BigEndian.PutUint32(head[8:], uint32(count))
	_, _ = p.w.Write(head[:]) // a bufio.Writer keeps its error until Flush
	p.off = int64(len(head))
	return p
}

// Add compresses one object into the pack.
func (p *Writer) Add(o object.Object) error {
	raw, ok := o.OID.Raw()
	if !ok {
		return fail.Errorf(fail.CodeObjectInvalid, nil, "%q is not an object id", o.OID)
	}
	var head bytes.Buffer
	writeEntryHead(&head, kindNumber(o.Kind), len(o.Data))
	entry, err := object.Packed(head.Bytes(), o)
	if err != nil {
		return err
	}
	return p.AddRaw(raw, entry)
}

// writeEntryHead writes the header of an entry: its kind and its inflated length.
func writeEntryHead(w *bytes.Buffer, number byte, length int) {
	size := uint64(length)
	b := number<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		w.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	w.WriteByte(b)
}

// AddRaw copies an entry that is already compressed.
func (p *Writer) AddRaw(raw, entry []byte) error {
	p.entries = append(p.entries, packedEntry{raw: raw, crc: crc32.ChecksumIEEE(entry), offset: uint32(p.off)})
	p.off += int64(len(entry))
	_, err := p.w.Write(entry)
	return err
}

// Finish writes the trailer to w, the underlying writer, and returns it.
func (p *Writer) Finish(w io.Writer) ([]byte, error) {
	if err := p.w.Flush(); err != nil {
		return nil, err
	}
	sum := p.sum.Sum(nil)
	_, err := w.Write(sum)
	return sum, err
}

// Count returns how many objects are in the pack.
func (p *Writer) Count() int { return len(p.entries) }

// Index returns the index of the finished pack with the trailer.
func (p *Writer) Index(trailer []byte) []byte { return encodeIndex(p.entries, trailer, p.format) }

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
