// Flags of the index, read from its file: nearly always there are none, and no git has
// to be asked (gitformat-index(5)).

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
	indexExtended     = 1 << 14 // in the flags: further flags follow
	indexSkipWorktree = 1 << 14 // in the further flags
	indexStat         = 40      // bytes of an entry before its object id
)

// indexFlagged reports whether an entry of the repository's index is assume-unchanged
// or skip-worktree. known is false where only git can tell: an index of another form,
// one that is split, one named by the environment.
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
	oid := 20
	if format == object.FormatSHA256 {
		oid = 32
	}
	if len(data) < 12+oid || string(data[:4]) != "DIRC" {
		return false, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return false, false
	}
	end := len(data) - oid // the checksum
	at := 12
	for range count {
		head := indexStat + oid + 2
		if at+head+2 > end {
			return false, false
		}
		flags := binary.BigEndian.Uint16(data[at+indexStat+oid:])
		if flags&indexAssumeValid != 0 {
			return true, true
		}
		if flags&indexExtended != 0 {
			if version == 2 {
				return false, false
			}
			if binary.BigEndian.Uint16(data[at+head:])&indexSkipWorktree != 0 {
				return true, true
			}
			head += 2
		}
		name := at + head
		if version == 4 { // how much of the name before is dropped, then what is added
			for name < end && data[name]&0x80 != 0 {
				name++
			}
			name++
		}
		if name >= end {
			return false, false
		}
		length := bytes.IndexByte(data[name:end], 0)
		if length < 0 {
			return false, false
		}
		if version == 4 {
			at = name + length + 1
		} else {
			at += (head + length + 8) &^ 7
		}
	}
	// Extensions: "link" says that entries are in another file.
	for at+8 <= end {
		if string(data[at:at+4]) == "link" {
			return false, false
		}
		size := int64(binary.BigEndian.Uint32(data[at+4:]))
		if size > int64(end-at-8) {
			return false, false
		}
		at += 8 + int(size)
	}
	return false, at == end
}
