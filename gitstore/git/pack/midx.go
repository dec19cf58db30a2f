// The names of packs in a multi-pack-index.

package pack

import (
	"encoding/binary"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

const MidxName = "multi-pack-index"

// maxMidxNames bounds how much of the pack names is read, in bytes.
const maxMidxNames = 16 << 20

// MidxPacks returns the pack files that a multi-pack-index names; none when the file is missing or malformed, which
// git judges.
func MidxPacks(path string) []string {
	f, err := object.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	// "MIDX", version, hash, number of chunks, number of bases, number of packs; then for each chunk, and for the
	// end, its name and offset.
	head := make([]byte, 12)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:4]) != "MIDX" || head[4] < 1 || head[4] > 2 {
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
