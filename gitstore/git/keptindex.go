// The index as it was before a commit of ours. git commit --only does not sync the next one, so a power cut may leave a
// part of it, and no git works with that.

package git

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// keptIndex ends the name of the index that is kept beside a note.
const keptIndex = ".index"

// maxKeptIndex bounds an index that is judged.
const maxKeptIndex = 256 << 20

func (r *Repository) keptIndexPath(n *LockNote) string {
	return filepath.Join(r.CommonDir, PrivateName, lockNotes, n.Name+keptIndex)
}

// keepIndex keeps the index under the note: another name of the same file, as git never writes into one that is there.
// The note, which is written next, makes the name durable. It is a help and no more: where it fails, a power cut may
// leave an index that a person has to rebuild.
func (r *Repository) keepIndex(n *LockNote) {
	index := filepath.Join(r.GitDir, "index")
	if os.Link(index, r.keptIndexPath(n)) == nil {
		_ = SyncAll([]string{index}, nil)
	}
}

// IndexLost reports that a power cut has left a part of the index of the note's work tree, and that the one before it is
// there.
func (r *Repository) IndexLost(n *LockNote) bool {
	before, err := ReadBounded(r.keptIndexPath(n), maxKeptIndex)
	if err != nil || !wholeIndex(before, nil, r.ObjectFormat) {
		return false
	}
	now, err := ReadBounded(filepath.Join(n.Commit.GitDir, "index"), maxKeptIndex)
	return (err == nil || Absent(err)) && !wholeIndex(now, before, r.ObjectFormat)
}

// MendIndex puts the index that was kept under a note of this work tree in the place of one that is lost. wait says that
// it has to be tried again.
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

// wholeIndex reports whether an index is as git wrote it, by the checksum at its end. With index.skipHash there is none
// in this one nor in the one before, and its beginning has to do.
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
