// The format of our notes: magic, length, digest, fields. A note is a hint: a damaged one is ignored.

package private

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

const magic = "axc\x00\x02"

// ErrDamaged is the error for an unreadable note.
var ErrDamaged = errors.New("it is not what this version writes")

// Seal frames the fields: magic, length, SHA-256, fields. Bytes after them are ignored, so that shorter content can
// be written over longer.
func Seal(fields []byte) []byte {
	b := append(make([]byte, 0, len(fields)+head), magic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(fields)))
	sum := sha256.Sum256(fields)
	b = append(b, sum[:]...)
	return append(b, fields...)
}

const head = len(magic) + 4 + sha256.Size

// Unseal checks the frame and returns the fields.
func Unseal(data []byte) (*Fields, error) {
	if len(data) < head || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, ErrDamaged
	}
	n := binary.BigEndian.Uint32(data[len(magic):])
	want, fields := data[head-sha256.Size:head], data[head:]
	if uint64(n) > uint64(len(fields)) {
		return nil, ErrDamaged
	}
	fields = fields[:n]
	if sum := sha256.Sum256(fields); !bytes.Equal(sum[:], want) {
		return nil, ErrDamaged
	}
	return &Fields{b: fields}, nil
}

// PutBytes adds a field of any length.
func PutBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// Fields reads fields from b; after the first malformed one everything reads as empty.
type Fields struct {
	b   []byte
	bad bool
}

// Done reports whether all fields were read and none was malformed.
func (d *Fields) Done() bool { return !d.bad && len(d.b) == 0 }

// Rest returns the unread bytes.
func (d *Fields) Rest() []byte { return d.b }

func (d *Fields) fail() { d.b, d.bad = nil, true }

// Bytes reads a field that PutBytes wrote.
func (d *Fields) Bytes() []byte {
	n, w := binary.Uvarint(d.b)
	if w <= 0 || n > uint64(len(d.b)-w) {
		d.fail()
		return nil
	}
	v := d.b[w : w+int(n) : w+int(n)]
	d.b = d.b[w+int(n):]
	return v
}

// Count reads a number of items; each takes at least one byte, which bounds it.
func (d *Fields) Count() uint64 {
	n, w := binary.Uvarint(d.b)
	if w <= 0 || n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return n
}

// Int reads a number, which may be negative.
func (d *Fields) Int() int64 {
	v, w := binary.Varint(d.b)
	if w <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return v
}
