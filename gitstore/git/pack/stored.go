// Entries of small packs in their stored form, for building packs from others.

package pack

import (
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// MaxStored is the size from which a pack is not read whole, in bytes: it is left alone.
const MaxStored = 10 << 20

// AddIDs adds the ids that the index of a pack names.
func AddIDs(path string, hashLen int, ids map[string]bool) error {
	p, err := openIndex(nil, path, hashLen)
	if err != nil {
		return err
	}
	defer p.close()
	for i := range p.n {
		raw, _, _, err := p.entry(i)
		if err != nil {
			return err
		}
		ids[string(raw)] = true
	}
	return nil
}

// Stored is an entry of a pack in its stored form; base is the raw id of a delta's base, nil for a whole object.
type Stored struct{ Raw, Entry, base []byte }

// ReadStored reads a small pack whole, checking every entry against the index. It refuses packs with offset deltas:
// copying would change what the offset refers to.
func ReadStored(path string, hashLen int) ([]Stored, error) {
	p, err := openIndex(nil, path, hashLen)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := object.Open(path + ".pack")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxStored+1))
	if err != nil {
		return nil, err
	}
	end := len(data) - hashLen
	if end < 12 || len(data) > MaxStored || !strings.HasPrefix(string(data[:8]), "PACK\x00\x00\x00\x02") {
		return nil, errors.New("not a small pack")
	}
	type place struct {
		off int64
		crc uint32
		raw []byte
	}
	places := make([]place, p.n)
	for i := range places {
		raw, crc, off, err := p.entry(uint32(i))
		if err != nil {
			return nil, err
		}
		places[i] = place{off, crc, raw}
	}
	slices.SortFunc(places, func(a, b place) int { return int(a.off - b.off) })
	out := make([]Stored, 0, len(places))
	for i, pl := range places {
		next := int64(end)
		if i+1 < len(places) {
			next = places[i+1].off
		}
		if pl.off < 12 || next > int64(end) || pl.off >= next {
			return nil, errIndex
		}
		entry := data[pl.off:next]
		if crc32.ChecksumIEEE(entry) != pl.crc {
			return nil, errors.New("pack entry is damaged")
		}
		e, err := entryHeader(entry, 0)
		if err != nil {
			return nil, err
		}
		var base []byte
		if e.kind == "" {
			if entry[0]>>4&7 != refDelta || int64(len(entry)) < e.data+int64(hashLen) {
				return nil, errDelta
			}
			base = entry[e.data : e.data+int64(hashLen)]
		}
		out = append(out, Stored{pl.raw, entry, base})
	}
	return out, nil
}
