// Looking up a ref in a packed-refs file of any size, and refs that are being packed.

package git

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Packed reports whether a ref deletion that git announces to its hooks removes no more than the loose copy:
// pack-refs, and gc with it, has just packed the ref with the same value. A git that also removed the packed one
// would hold the lock of packed-refs when the hook runs.
func (r *Repository) Packed(name string, old object.OID) bool {
	file := filepath.Join(r.CommonDir, "packed-refs")
	// If it is a link, git locks the link's target.
	if fi, err := os.Lstat(file); r.RefFormat != "files" || err != nil || !fi.Mode().IsRegular() {
		return false
	}
	if _, err := os.Lstat(file + ".lock"); !Absent(err) {
		return false
	}
	oid, known, err := r.scanPacked(name)
	return err == nil && known && oid == old && old != ""
}

// packedWindow is how many bytes around a position are read at once: two lines fit in, unless a name is longer than
// git allows.
const packedWindow = 16 << 10

// searchPacked finds a ref by binary search in a file sorted by git, which says so in its first line. known is
// false when git has to decide: the file is not sorted, or malformed.
func searchPacked(f io.ReaderAt, size int64, format, name string) (oid object.OID, known bool) {
	buf := make([]byte, packedWindow)
	window := func(from, to int64) []byte {
		n, err := f.ReadAt(buf[:min(to-from, packedWindow)], from)
		if err != nil && err != io.EOF {
			return nil
		}
		return buf[:n]
	}
	head, _, whole := bytes.Cut(window(0, size), []byte("\n"))
	if !whole || !bytes.HasPrefix(head, []byte("# pack-refs with:")) ||
		!strings.Contains(string(head)+" ", " sorted ") {
		return "", false
	}
	digits := object.HexLen(format)
	lo, hi := int64(len(head))+1, size // the line begins in [lo, hi)
	for lo < hi {
		mid := (lo + hi) / 2
		from := max(lo, mid-packedWindow/2)
		data := window(from, hi)
		// The line that contains mid, or, for the peeled value of a tag, the line before it.
		at := bytes.LastIndexByte(data[:min(int64(len(data)), mid-from)], '\n') + 1
		for at > 0 && at < len(data) && data[at] == '^' {
			at = bytes.LastIndexByte(data[:at-1], '\n') + 1
		}
		n := bytes.IndexByte(data[at:], '\n')
		if at == 0 && from != lo || n <= digits+1 || data[at+digits] != ' ' {
			return "", false
		}
		end := from + int64(at+n) + 1
		switch c := strings.Compare(string(data[at+digits+1:at+n]), name); {
		case c == 0:
			oid := object.OID(data[at : at+digits])
			return oid, oid.Valid(format)
		case c > 0:
			hi = from + int64(at)
		default:
			if rest := window(end, hi); len(rest) > 0 && rest[0] == '^' {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					return "", false
				}
				end += int64(i) + 1
			}
			lo = end
		}
	}
	return "", true
}
