// The compression of objects, loose or in packs.

package object

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"sync"
)

var zlibReaders sync.Pool // of io.ReadCloser with zlib.Resetter

func inflate(r io.Reader) (io.ReadCloser, error) {
	if z, ok := zlibReaders.Get().(io.ReadCloser); ok {
		if err := z.(zlib.Resetter).Reset(r, nil); err != nil {
			return nil, err
		}
		return z, nil
	}
	return zlib.NewReader(r)
}

// Inflate decompresses size bytes from r. Memory grows with the actual data, not with the claimed size.
func Inflate(r io.Reader, size int64) ([]byte, error) {
	z, err := inflate(r)
	if err != nil {
		return nil, err
	}
	defer zlibReaders.Put(z)
	return readExactly(z, size)
}

// readExactly reads size bytes and requires the end of the stream after them, which also makes zlib check its
// checksum. Memory grows with the actual data, not with the size in the header.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, min(size, 64<<10))
	n, err := io.ReadFull(r, buf)
	for err == nil && int64(n) < size {
		buf = append(buf, make([]byte, min(size-int64(n), int64(n)))...)
		var more int
		more, err = io.ReadFull(r, buf[n:])
		n += more
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("holds less than the %d bytes it claims", size)
	}
	if err != nil {
		return nil, err
	}
	var more [1]byte
	if _, err := io.ReadFull(r, more[:]); err == nil {
		return nil, fmt.Errorf("holds more than the %d bytes it claims", size)
	} else if err != io.EOF {
		return nil, err
	}
	return buf, nil
}

// zlibWriters are pooled because a new one costs a megabyte.
var zlibWriters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // git's level for loose objects
	return z
}}

// Deflate writes the parts to w as one zlib stream.
func Deflate(w io.Writer, parts ...[]byte) error {
	z := zlibWriters.Get().(*zlib.Writer)
	defer zlibWriters.Put(z)
	z.Reset(w)
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			return err
		}
	}
	return z.Close()
}

// store appends data, less than 64 KiB, to b as an uncompressed zlib stream (RFC 1950, RFC 1951 3.2.4).
func store(b, data []byte) []byte {
	n := uint16(len(data))
	b = append(b, 0x78, 0x01, 1) // no dictionary, fastest; the last block, stored
	b = binary.LittleEndian.AppendUint16(b, n)
	b = binary.LittleEndian.AppendUint16(b, ^n)
	b = append(b, data...)
	return binary.BigEndian.AppendUint32(b, adler32.Checksum(data))
}

// maxStoredTree is the size up to which a tree is stored uncompressed: ids do not compress, and names are few.
const maxStoredTree = 512

// Packed appends an object to b in the form used in packs.
func Packed(b []byte, o Object) ([]byte, error) {
	if o.Kind == KindTree && len(o.Data) <= maxStoredTree {
		return store(b, o.Data), nil
	}
	w := bytes.NewBuffer(b)
	err := Deflate(w, o.Data)
	return w.Bytes(), err
}
