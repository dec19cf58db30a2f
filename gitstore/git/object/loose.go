// Loose objects of either hash: one zlib file each, read here. Other programs write them; we write packs (see
// packhold.go in package git).

package object

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Loose is the fan-out directory part of an objects directory. Go-git's
// loose codec is not used for it: it knows SHA-1 only and reads a header of any
// length into memory.
type Loose struct {
	Dir    string
	Format string
}

func (s Loose) Path(oid OID) string {
	return filepath.Join(s.Dir, string(oid[:2]), string(oid[2:]))
}

// Open opens a file or directory of git's for reading. It refuses anything else, and does not block on a pipe,
// which may come from an unpacked archive.
func Open(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() && !fi.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the object, fs.ErrNotExist when it is not loose, or a
// *Error{object_corrupt}.
func (s Loose) Read(oid OID) (kind string, data []byte, err error) {
	f, err := Open(s.Path(oid))
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	kind, data, err = DecodeLoose(f, MaxSize)
	if err != nil {
		if fail.CodeOf(err) != "" {
			return "", nil, err
		}
		return "", nil, Corrupt(oid, err)
	}
	return kind, data, Verify(s.Format, oid, kind, data)
}

// Has reports whether a loose file of the name exists, whatever its content.
func (s Loose) Has(oid OID) bool {
	fi, err := os.Stat(s.Path(oid))
	return err == nil && fi.Mode().IsRegular()
}

// maxLooseHeader is longer than any valid "kind size\0".
const maxLooseHeader = 32

// DecodeLoose reads a loose object of at most limit bytes.
func DecodeLoose(r io.Reader, limit int64) (kind string, data []byte, err error) {
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
	if err != nil || size < 0 || !IsKind(kind) {
		return "", nil, errors.New("malformed object header")
	}
	if size > limit {
		return "", nil, OverLimit(uint64(size), limit)
	}
	data, err = readExactly(io.MultiReader(bytes.NewReader(head[end+1:n]), z), size)
	return kind, data, err
}

// Modes returns the mode bits of the objects directory, for new files.
func (s Loose) Modes() (fs.FileMode, error) {
	fi, err := os.Stat(s.Dir)
	if err != nil {
		return 0, err
	}
	return fi.Mode() & (fs.ModePerm | fs.ModeSetgid), nil
}
