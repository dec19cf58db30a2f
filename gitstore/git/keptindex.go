// The index from before a commit of ours. git commit --only does not sync the new index, so a power cut may leave
// part of it, and then no git works.

package git

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// keptIndex is the suffix of the index kept beside a note.
const keptIndex = ".index"

// maxKeptIndex bounds the size of an index that is judged.
const maxKeptIndex = 256 << 20

func (r *Repository) keptIndexPath(n *LockNote) string {
	return filepath.Join(r.CommonDir, PrivateName, lockNotes, n.Name+keptIndex)
}

// keepIndex keeps the index under the note's name: as a hard link, because git never writes into an existing index.
// The note, which is written next, makes the name durable. A failure here is not fatal: after a power cut a person
// may then have to rebuild the index.
func (r *Repository) keepIndex(n *LockNote) {
	index := filepath.Join(r.GitDir, "index")
	if os.Link(index, r.keptIndexPath(n)) == nil {
		_ = SyncAll([]string{index}, nil)
	}
}

// IndexLost reports whether a power cut has truncated the index of the note's work tree, and the kept one is there.
func (r *Repository) IndexLost(n *LockNote) bool {
	before, err := ReadBounded(r.keptIndexPath(n), maxKeptIndex)
	if err != nil || !wholeIndex(before, nil, r.ObjectFormat) {
		return false
	}
	now, err := ReadBounded(filepath.Join(n.Commit.GitDir, "index"), maxKeptIndex)
	return (err == nil || Absent(err)) && !wholeIndex(now, before, r.ObjectFormat)
}

// MendIndex replaces a lost index with the one kept under a note of this work tree. wait says that it must be tried
// again.
func (r *Repository) MendIndex(n *LockNote) (mended, wait bool) {
	if !r.IndexLost(n) {
		return false, false
	}
	index := filepath.Join(r.GitDir, "index")
	lock := index + ".lock"
	if err := os.Link(r.keptIndexPath(n), lock); err != nil {
		return false, true
	}
	if err := os.Rename(lock, index); err != nil {
		_ = os.Remove(lock)
		return false, true
	}
	return true, durable.SyncDir(r.GitDir) != nil
}

// wholeIndex reports whether an index is complete, by the checksum at its end. With index.skipHash neither this
// index nor the one before has a checksum, and its beginning must suffice.
func wholeIndex(data, before []byte, format string) bool {
	size := object.HexLen(format) / 2
	if len(data) < 12+size || string(data[:4]) != "DIRC" {
		return false
	}
	content, sum := data[:len(data)-size], data[len(data)-size:]
	if none := make([]byte, size); bytes.Equal(sum, none) {
		return before == nil || bytes.HasSuffix(before, none)
	}
	h := object.NewHash(format)
	_, _ = h.Write(content)
	return bytes.Equal(sum, h.Sum(nil))
}
