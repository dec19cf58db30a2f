// The search of a pack index, which guesses where an id is.

package pack

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// indexOf returns an index of the ids, each with its position as offset.
func indexOf(ids [][]byte) []byte {
	b := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	for first := range 256 {
		n := 0
		for _, id := range ids {
			if int(id[0]) <= first {
				n++
			}
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, id := range ids {
		b = append(b, id...)
	}
	b = append(b, make([]byte, 4*len(ids))...)
	for i := range ids {
		b = binary.BigEndian.AppendUint32(b, uint32(i))
	}
	return append(b, make([]byte, 40)...)
}

// However the ids are distributed, crowded or far apart, find agrees with a linear search.
func TestFindGuesses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Few values of the bytes used for guessing make crowds and gaps.
		byteOf := rapid.SampledFrom([]byte{0, 1, 2, 0x7f, 0x80, 0xfe, 0xff})
		id := rapid.Custom(func(rt *rapid.T) []byte {
			raw := make([]byte, 20)
			for i := range 6 {
				raw[i] = byteOf.Draw(rt, "byte")
			}
			if rapid.Bool().Draw(rt, "anywhere") {
				binary.BigEndian.PutUint32(raw[1:], rapid.Uint32().Draw(rt, "where"))
			}
			return raw
		})
		ids := rapid.SliceOfN(id, 0, 300).Draw(rt, "ids")
		slices.SortFunc(ids, bytes.Compare)
		ids = slices.CompactFunc(ids, bytes.Equal)
		data := indexOf(ids)
		p := &Index{data: data, size: int64(len(data)), hlen: 20}
		if err := p.readHead(); err != nil {
			rt.Fatal(err)
		}
		for _, raw := range append(slices.Clone(ids), rapid.SliceOfN(id, 0, 50).Draw(rt, "others")...) {
			want := slices.IndexFunc(ids, func(have []byte) bool { return bytes.Equal(have, raw) })
			if off, ok := p.find(raw); ok != (want >= 0) || ok && off != int64(want) {
				rt.Fatalf("%x of %d ids: at %d, %v; want %d", raw, len(ids), off, ok, want)
			}
		}
	})
}
