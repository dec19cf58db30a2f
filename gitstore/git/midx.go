// A multi-pack-index that names packs which are gone. git does not look for their
// objects in the other packs it names, and says "bad object".

package git

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

const MidxName = "multi-pack-index"

// maxMidxNames bounds what is read of the names of packs, in bytes.
const maxMidxNames = 16 << 20

// DropStaleMidx removes the multi-pack-index when it names a pack that is not there.
// Who writes one lists the packs first, and some of those may be removed, by git repack
// or by folding, before it is there. It only makes looking up faster, and git removes
// it as well whenever it removes a pack it names.
func (r *Repository) DropStaleMidx() {
	dir := filepath.Join(r.ObjectsDir, "pack")
	for _, name := range MidxPacks(filepath.Join(dir, MidxName)) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.Base(name))); Absent(err) {
			_ = os.Remove(filepath.Join(dir, MidxName))
			return
		}
	}
}

// MidxPacks returns the pack files that a multi-pack-index names; none when there is no
// such file or it cannot be understood, which is git's to judge.
func MidxPacks(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	// "MIDX", version, hash, number of chunks, number of bases, number of packs; then
	// for each chunk, and for the end, its name and where it begins.
	head := make([]byte, 12)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:5]) != "MIDX\x01" {
		return nil
	}
	const row = 12
	table := make([]byte, (int(head[6])+1)*row)
	if _, err := f.ReadAt(table, int64(len(head))); err != nil {
		return nil
	}
	for ; len(table) >= 2*row; table = table[row:] {
		if string(table[:4]) != "PNAM" {
			continue
		}
		begin, end := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[row+4:])
		if end < begin || end-begin > maxMidxNames {
			return nil
		}
		names := make([]byte, end-begin)
		if _, err := f.ReadAt(names, int64(begin)); err != nil {
			return nil
		}
		var packs []string
		for name := range strings.SplitSeq(string(names), "\x00") {
			if stem, ok := strings.CutSuffix(name, ".idx"); ok {
				packs = append(packs, stem+".pack")
			}
		}
		return packs
	}
	return nil
}
