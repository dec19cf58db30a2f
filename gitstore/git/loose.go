// Loose objects of either hash: one zlib file each, read here. Other programs write
// them; what this package writes is in packs (see packhold.go).

package git

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// looseStore is the fan-out directory part of an objects directory. Go-git's
// loose codec is not used for it: it knows SHA-1 only and reads a header of any
// length into memory.
type looseStore struct {
	dir    string
	format string
}

func (s looseStore) path(oid OID) string {
	return filepath.Join(s.dir, string(oid[:2]), string(oid[2:]))
}

// read returns the object, fs.ErrNotExist when it is not loose, or a
// *Error{object_corrupt}.
func (s looseStore) read(oid OID) (kind string, data []byte, err error) {
	f, err := os.Open(s.path(oid))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	kind, data, err = decodeLoose(f, maxObjectSize)
	if err != nil {
		if fail.CodeOf(err) != "" {
			return "", nil, err
		}
		return "", nil, Corrupt(oid, err)
	}
	return kind, data, verify(s.format, oid, kind, data)
}

// has reports whether a loose file of the name exists, whatever it holds.
func (s looseStore) has(oid OID) bool {
	fi, err := os.Stat(s.path(oid))
	return err == nil && fi.Mode().IsRegular()
}

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

// maxLooseHeader is longer than any honest "kind size\0".
const maxLooseHeader = 32

// decodeLoose reads a loose object of at most limit bytes.
func decodeLoose(r io.Reader, limit int64) (kind string, data []byte, err error) {
	z, err := inflate(r)
	if err != nil {
		return "", nil, err
	}
	defer zlibReaders.Put(z)
	var head [maxLooseHeader]byte
	n, err := io.ReadFull(z, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, err
	}
	end := bytes.IndexByte(head[:n], 0)
	sp := bytes.IndexByte(head[:n], ' ')
	if end < 0 || sp < 0 || sp > end {
		return "", nil, errors.New("no object header")
	}
	kind = string(head[:sp])
	size, err := strconv.ParseInt(string(head[sp+1:end]), 10, 64)
	if err != nil || size < 0 || !validKind(kind) {
		return "", nil, errors.New("malformed object header")
	}
	if size > limit {
		return "", nil, fail.Errorf(fail.CodeObjectTooLarge, nil, "an object is %d bytes long, the limit is %d", size,
			limit)
	}
	data, err = readExactly(io.MultiReader(bytes.NewReader(head[end+1:n]), z), size)
	return kind, data, err
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

// modes returns the mode bits of the objects directory.
func (s looseStore) modes() (fs.FileMode, error) {
	fi, err := os.Stat(s.dir)
	if err != nil {
		return 0, err
	}
	return fi.Mode() & (fs.ModePerm | fs.ModeSetgid), nil
}

// zlibWriters are kept because a new one costs a megabyte.
var zlibWriters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // git's level for loose objects
	return z
}}

func deflate(w io.Writer, parts ...[]byte) error {
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
