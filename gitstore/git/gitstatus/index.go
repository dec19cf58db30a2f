// Reading the index from its file: usually no entry is flagged or new, and git need not be asked
// (gitformat-index(5)).

package gitstatus

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxIndexRead bounds an index that is read here, in bytes; git is asked about longer ones.
const maxIndexRead = 256 << 20

const (
	indexAssumeValid  = 1 << 15 // in the flags of an entry
	indexExtended     = 1 << 14 // in the flags: extended flags follow
	indexStage        = 3 << 12 // in the flags: stage of a conflict
	indexSkipWorktree = 1 << 14 // in the extended flags
	indexStat         = 40      // bytes of an entry before its object id
)

// indexEntry is the index entry of a path.
type indexEntry struct {
	stat       []byte // times, numbers and mode, of indexStat bytes
	oid        []byte
	name       []byte // valid until the next entry is read
	hides      bool   // assume-unchanged or skip-worktree: git does not look at the file
	inConflict bool
}

// mode returns the mode, as in a tree entry.
func (e *indexEntry) mode() uint32 { return binary.BigEndian.Uint32(e.stat[24:]) }

// seen returns the second in which the file got the contents, or the name, that the index knows.
func (e *indexEntry) seen() uint32 {
	return max(binary.BigEndian.Uint32(e.stat), binary.BigEndian.Uint32(e.stat[8:]))
}

// indexFlagged reports whether an entry of the repository's index is assume-unchanged or skip-worktree. known is
// false where only git can tell: an index in another format, a split one, one named by the environment.
func indexFlagged(r *git.Repository) (flagged, known bool) {
	if os.Getenv("GIT_INDEX_FILE") != "" {
		return false, false
	}
	data, err := git.ReadBounded(filepath.Join(r.GitDir, "index"), maxIndexRead)
	if os.IsNotExist(err) {
		return false, true
	}
	if err != nil {
		return false, false
	}
	return parseIndexFlags(data, r.ObjectFormat)
}

// parseIndexFlags is indexFlagged for the bytes of an index file.
func parseIndexFlags(data []byte, format string) (flagged, known bool) {
	_, known = readIndex(data, format, func(e *indexEntry) bool {
		flagged = flagged || e.hides
		return !flagged
	})
	return flagged, known || flagged
}

// readIndex passes the entries of an index file to each until it returns false. extensions are the names of the
// extensions after them. known is false where the index has another format, or holds only part of the entries.
func readIndex(data []byte, format string, each func(e *indexEntry) bool) (extensions []string, known bool) {
	oid := object.HexLen(format) / 2
	if len(data) < 12+oid || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	end := len(data) - oid // the checksum
	at := 12
	e := &indexEntry{}
	for range count {
		head := indexStat + oid + 2
		if at+head+2 > end {
			return nil, false
		}
		flags := binary.BigEndian.Uint16(data[at+indexStat+oid:])
		e.stat, e.oid = data[at:at+indexStat], data[at+indexStat:at+indexStat+oid]
		e.hides, e.inConflict = flags&indexAssumeValid != 0, flags&indexStage != 0
		if flags&indexExtended != 0 {
			if version == 2 {
				return nil, false
			}
			e.hides = e.hides || binary.BigEndian.Uint16(data[at+head:])&indexSkipWorktree != 0
			head += 2
		}
		name := at + head
		dropped := len(e.name)
		if version == 4 { // bytes to drop from the previous name, then the suffix to append
			var ok bool
			if dropped, name, ok = indexOffset(data[:end], name); !ok || dropped > len(e.name) {
				return nil, false
			}
		}
		if name >= end {
			return nil, false
		}
		length := bytes.IndexByte(data[name:end], 0)
		if length < 0 {
			return nil, false
		}
		e.name = append(e.name[:len(e.name)-dropped], data[name:name+length]...)
		if version == 4 {
			at = name + length + 1
		} else {
			at += (head + length + 8) &^ 7
		}
		if !each(e) {
			return nil, false
		}
	}
	// The extension "link" says that entries are in another file.
	for at+8 <= end {
		extension := string(data[at : at+4])
		size := int64(binary.BigEndian.Uint32(data[at+4:]))
		if extension == "link" || size > int64(end-at-8) {
			return nil, false
		}
		extensions = append(extensions, extension)
		at += 8 + int(size)
	}
	return extensions, at == end
}

// indexOffset reads a number of version 4, in the encoding that packs use for base offsets, and returns the
// position after it.
func indexOffset(data []byte, at int) (n, after int, ok bool) {
	for i := 0; at < len(data) && i < 4; i++ {
		b := data[at]
		at++
		n = n<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return n, at, true
		}
		n++
	}
	return 0, 0, false
}
