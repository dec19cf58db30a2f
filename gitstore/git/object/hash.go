// Object ids of either hash, and computing them without git.

package object

import (
	"crypto/sha1" //nolint:gosec // git's object id, not a security boundary of ours
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
)

// Object formats as `git rev-parse --show-object-format` names them.
const (
	FormatSHA1   = "sha1"
	FormatSHA256 = "sha256"
)

// OID is an object id in lowercase hexadecimal: 40 digits for SHA-1, 64 for SHA-256. The empty string means "no
// object".
type OID string

// HexLen returns the number of hexadecimal digits of an id in the format, 0
// for a format this package does not know.
func HexLen(format string) int {
	switch format {
	case FormatSHA1:
		return 2 * sha1.Size
	case FormatSHA256:
		return 2 * sha256.Size
	}
	return 0
}

// Valid reports whether o is a full lowercase id of the format.
func (o OID) Valid(format string) bool {
	return len(o) > 0 && len(o) == HexLen(format) && isLowerHex(string(o))
}

// IsZero reports whether o names no object: empty or all zeros.
func (o OID) IsZero() bool {
	for i := range len(o) {
		if o[i] != '0' {
			return false
		}
	}
	return true
}

// Short returns the first ten digits, for messages.
func (o OID) Short() string { return string(o[:min(len(o), 10)]) }

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Raw returns the id's bytes; ok is false when o is not hexadecimal.
func (o OID) Raw() (b []byte, ok bool) {
	if !isLowerHex(string(o)) {
		return nil, false
	}
	b, err := hex.DecodeString(string(o))
	return b, err == nil
}

// AppendRaw appends the id's bytes to b, nothing when o is not hexadecimal.
func (o OID) AppendRaw(b []byte) []byte {
	var spelled [2 * sha256.Size]byte // on the stack, where a conversion would be on the heap
	if len(o) > len(spelled) {
		return b
	}
	out, err := hex.AppendDecode(b, spelled[:copy(spelled[:], o)])
	if err != nil {
		return b
	}
	return out
}

// OIDFromRaw returns the OID of an id's bytes.
func OIDFromRaw(b []byte) OID { return OID(hex.EncodeToString(b)) }

// ZeroOID returns the all-zero id that git's plumbing uses for "none".
func ZeroOID(format string) OID {
	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	return OID(zeros[:HexLen(format)])
}

func NewHash(format string) hash.Hash {
	if format == FormatSHA256 {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see the import
}

// Hash returns the id git gives an object of this kind ("blob", "tree",
// "commit", "tag") and content. An unknown format is treated as SHA-1.
func Hash(format, kind string, data []byte) OID {
	h := hasherOf(format)
	defer h.done()
	return OID(h.id(kind, data))
}

// hasher is a reusable hash function, because objects are many and small.
type hasher struct {
	hash.Hash
	pool *sync.Pool
	buf  [3 * sha256.Size]byte // a header, or a sum and how it is spelled
}

var (
	sha1s   = sync.Pool{New: func() any { return &hasher{Hash: NewHash(FormatSHA1)} }}
	sha256s = sync.Pool{New: func() any { return &hasher{Hash: NewHash(FormatSHA256)} }}
)

func hasherOf(format string) *hasher {
	pool := &sha1s
	if format == FormatSHA256 {
		pool = &sha256s
	}
	h := pool.Get().(*hasher)
	h.pool = pool
	return h
}

func (h *hasher) done() { h.pool.Put(h) }

// id returns the hexadecimal id of an object, valid until the hasher is used again.
func (h *hasher) id(kind string, data []byte) []byte {
	h.Reset()
	h.Write(appendHeader(h.buf[:0], kind, len(data)))
	h.Write(data)
	sum := h.Sum(h.buf[:0])
	return hex.AppendEncode(h.buf[len(sum):len(sum)], sum)
}

// EmptyTree returns the id of the tree without entries, which every
// repository knows even when it is not stored.
func EmptyTree(format string) OID { return Hash(format, KindTree, nil) }

func appendHeader(b []byte, kind string, size int) []byte {
	b = append(b, kind...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}
