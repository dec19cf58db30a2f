// The compression of objects, loose or in packs.

package object

import (
	"compress/zlib"
	"fmt"
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

// Inflate reads what r holds compressed, size bytes of it. Memory grows with what really
// comes, not with what is claimed.
func Inflate(r io.Reader, size int64) ([]byte, error) {
	z, err := inflate(r)
	if err != nil {
		return nil, err
	}
	defer zlibReaders.Put(z)
	return readExactly(z, size)
}

// readExactly reads size bytes and requires the end of the stream after them,
// which also makes zlib check its checksum. Memory grows with what really
// comes, not with what the header claims.
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

// zlibWriters are kept because a new one costs a megabyte.
var zlibWriters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // git's level for loose objects
	return z
}}

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
