// Decompression of what is in memory whole. compress/zlib takes its input byte by byte and makes
// tables of one size for every block; most objects of a run are some hundred bytes long.

package object

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"math/bits"
	"sync"
)

var (
	errShort   = errors.New("the compressed data does not end here")
	errDeflate = errors.New("malformed compressed data")
)

// Bits of a code that the first look at a table takes, and the sizes of tables. A code that is
// longer leads to a table of its own below: two codes at least share one.
const (
	litBits  = 10
	distBits = 8
	metaBits = 7
	maxCode  = 15

	litTable  = 1<<litBits + 288/2*(1<<(maxCode-litBits))
	distTable = 1<<distBits + 32/2*(1<<(maxCode-distBits))
)

// Entries of tables: bits of the code, what it is, extra bits, a value.
const (
	entryLiteral = 1 << 8
	entryLength  = 2 << 8 // or a distance
	entryEnd     = 3 << 8
	entryBelow   = 4 << 8
	entryKind    = 7 << 8
	extraShift   = 12
	valueShift   = 16
)

// inflater holds the tables of a block.
type inflater struct {
	lit  [litTable]uint32
	dist [distTable]uint32
	meta [1 << metaBits]uint32
	lens [288 + 32]uint8

	src  []byte
	at   int
	hold uint64
	have uint // bits in hold, those past the end of src too
	past uint // bits past the end of src
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// fixed are the tables of blocks without tables of their own, and what symbols are in any table.
type fixed struct {
	inflater
	entries symbols
}

// symbols are the entries of symbols: of lengths of codes, of literals and lengths, of distances.
type symbols [288][3]uint32

const (
	ofMeta = iota
	ofLit
	ofDist
)

// fixedTables are made when they are first needed.
var fixedTables = sync.OnceValue(func() *fixed {
	f := new(fixed)
	for i := range 288 {
		switch {
		case i < 144, i >= 280:
			f.lens[i] = 8
		case i < 256:
			f.lens[i] = 9
		default:
			f.lens[i] = 7
		}
	}
	for i := range f.entries {
		f.entries[i] = [3]uint32{literalEntry(i), litEntry(i), distEntry(i)}
	}
	buildTable(f.lit[:], f.lens[:288], litBits, &f.entries, ofLit)
	for i := range 32 {
		f.lens[i] = 5
	}
	buildTable(f.dist[:], f.lens[:32], distBits, &f.entries, ofDist)
	return f
})

// InflateBytes fills dst with what src begins with in compressed form, which must be exactly as
// long. ended is false where src may be cut off.
func InflateBytes(dst, src []byte) (ended bool, err error) {
	f := inflaters.Get().(*inflater)
	f.src, f.at, f.hold, f.have, f.past = src, 0, 0, 0, 0
	err = f.run(dst)
	if f.past > f.have { // bits were taken that are not there
		err = errShort
	}
	f.src = nil
	inflaters.Put(f)
	return !errors.Is(err, errShort), err
}

func (f *inflater) run(dst []byte) error {
	if len(f.src) < 2 {
		return errShort
	}
	if head := binary.BigEndian.Uint16(f.src); head%31 != 0 || head>>8&15 != 8 || head>>12 > 7 || head&0x20 != 0 {
		return errDeflate
	}
	f.at = 2
	n := 0
	for last := false; !last; {
		f.fill()
		last = f.take(1) == 1
		var err error
		switch f.take(2) {
		case 0:
			n, err = f.raw(dst, n)
		case 1:
			fixed := fixedTables()
			n, err = f.block(dst, n, &fixed.lit, 9, &fixed.dist, 5) // the longest codes there
		case 2:
			var lit, dist uint
			if lit, dist, err = f.tables(); err == nil {
				n, err = f.block(dst, n, &f.lit, lit, &f.dist, dist)
			}
		default:
			err = errDeflate
		}
		if err != nil {
			return err
		}
	}
	if f.past > f.have {
		return errShort
	}
	// What follows is not compressed; whole bytes of it may have been taken ahead.
	f.at -= int((f.have - f.past) / 8)
	if f.at+4 > len(f.src) {
		return errShort
	}
	if n != len(dst) || binary.BigEndian.Uint32(f.src[f.at:]) != adler32.Checksum(dst) {
		return errDeflate
	}
	return nil
}

// fill makes at least 48 bits available, a length and a distance with all that belongs to them.
func (f *inflater) fill() {
	if f.have >= 48 {
		return
	}
	if f.at+8 <= len(f.src) {
		f.hold |= binary.LittleEndian.Uint64(f.src[f.at:]) << f.have
		f.at += int((63 - f.have) / 8)
		f.have |= 56
		return
	}
	for f.have <= 56 {
		if f.at < len(f.src) {
			f.hold |= uint64(f.src[f.at]) << f.have
			f.at++
		} else {
			f.past += 8
		}
		f.have += 8
	}
}

func (f *inflater) take(n uint) uint {
	v := uint(f.hold) & (1<<n - 1)
	f.hold >>= n
	f.have -= n
	return v
}

// raw copies a block that is not compressed.
func (f *inflater) raw(dst []byte, n int) (int, error) {
	f.take(f.have % 8)
	if f.past > f.have {
		return n, errShort
	}
	f.at -= int((f.have - f.past) / 8)
	f.hold, f.have, f.past = 0, 0, 0
	if f.at+4 > len(f.src) {
		return n, errShort
	}
	size, not := binary.LittleEndian.Uint16(f.src[f.at:]), binary.LittleEndian.Uint16(f.src[f.at+2:])
	f.at += 4
	switch {
	case size != ^not, int(size) > len(dst)-n:
		return n, errDeflate
	case int(size) > len(f.src)-f.at:
		return n, errShort
	}
	copy(dst[n:], f.src[f.at:f.at+int(size)])
	f.at += int(size)
	return n + int(size), nil
}

// metaOrder is the order in which lengths of codes of lengths are told.
var metaOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// tables reads the tables of a block.
func (f *inflater) tables() (lit, dist uint, err error) {
	nlit, ndist, nmeta := int(f.take(5))+257, int(f.take(5))+1, int(f.take(4))+4
	if nlit > 286 || ndist > 30 {
		return 0, 0, errDeflate
	}
	var metaLens [19]uint8
	for _, i := range metaOrder[:nmeta] {
		f.fill()
		metaLens[i] = uint8(f.take(3))
	}
	entries := &fixedTables().entries
	meta := buildTable(f.meta[:], metaLens[:], metaBits, entries, ofMeta)
	if meta == 0 {
		return 0, 0, errDeflate
	}
	lens := f.lens[:nlit+ndist]
	for i := 0; i < len(lens); {
		f.fill()
		e := f.meta[f.hold&(1<<meta-1)]
		if e&entryKind == 0 {
			return 0, 0, errDeflate
		}
		f.take(uint(e & 63))
		v, n, what := uint8(e>>valueShift), 1, uint8(0)
		switch v {
		case 16:
			if i == 0 {
				return 0, 0, errDeflate
			}
			n, what = 3+int(f.take(2)), lens[i-1]
		case 17:
			n = 3 + int(f.take(3))
		case 18:
			n = 11 + int(f.take(7))
		default:
			what = v
		}
		if i+n > len(lens) {
			return 0, 0, errDeflate
		}
		for ; n > 0; n-- {
			lens[i] = what
			i++
		}
	}
	if lens[256] == 0 {
		return 0, 0, errDeflate
	}
	lit = buildTable(f.lit[:], lens[:nlit], litBits, entries, ofLit)
	dist = buildTable(f.dist[:], lens[nlit:], distBits, entries, ofDist)
	if lit == 0 || dist == 0 {
		return 0, 0, errDeflate
	}
	return lit, dist, nil
}

func literalEntry(symbol int) uint32 { return entryLiteral | uint32(symbol)<<valueShift }

var (
	lengthBase = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
)

func litEntry(symbol int) uint32 {
	switch {
	case symbol < 256:
		return literalEntry(symbol)
	case symbol == 256:
		return entryEnd
	case symbol-257 < len(lengthBase):
		i := symbol - 257
		return entryLength | uint32(lengthExtra[i])<<extraShift | uint32(lengthBase[i])<<valueShift
	}
	return 0
}

func distEntry(symbol int) uint32 {
	switch {
	case symbol < 4:
		return entryLength | uint32(symbol+1)<<valueShift
	case symbol < 30:
		extra := uint32(symbol/2 - 1)
		return entryLength | extra<<extraShift | ((2+uint32(symbol&1))<<extra+1)<<valueShift
	}
	return 0
}

// buildTable makes the table of codes of these lengths and returns how many bits the first look
// takes, at most root; 0 where they are no codes.
func buildTable(table []uint32, lens []uint8, root uint, entries *symbols, of int) uint {
	var count [maxCode + 1]int
	for _, n := range lens {
		count[n]++
	}
	count[0] = 0
	longest := uint(maxCode)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	if longest == 0 { // no distance is used
		table[0], table[1] = 0, 0
		return 1
	}
	left := 1
	var next [maxCode + 2]int
	for n := 1; n <= maxCode; n++ {
		if left = left<<1 - count[n]; left < 0 {
			return 0
		}
		next[n+1] = (next[n] + count[n]) << 1
	}
	if left > 0 {
		if longest != 1 {
			return 0
		}
		table[0], table[1] = 0, 0
	}
	root = min(root, longest)
	below := longest - root
	free := 1 << root
	clearBelow(table[:free], longest > root)
	for symbol, n := range lens {
		if n == 0 {
			continue
		}
		code := uint(bits.Reverse16(uint16(next[n]))) >> (16 - uint(n))
		next[n]++
		e := entries[symbol][of]
		if uint(n) <= root {
			for i := code; i < 1<<root; i += 1 << n {
				table[i] = e | uint32(n)
			}
			continue
		}
		first := &table[code&(1<<root-1)]
		if *first&entryKind != entryBelow {
			if free+1<<below > len(table) {
				return 0
			}
			*first = entryBelow | uint32(root) | uint32(below)<<extraShift | uint32(free)<<valueShift
			free += 1 << below
		}
		from := table[*first>>valueShift:][:1<<below]
		for i := code >> root; i < 1<<below; i += 1 << (uint(n) - root) {
			from[i] = e | uint32(uint(n)-root)
		}
	}
	return root
}

// clearBelow empties a table whose entries may lead to others.
func clearBelow(table []uint32, leads bool) {
	if leads {
		clear(table)
	}
}

// block decodes a block into dst from n on. The bits at hand are in variables of its own.
func (f *inflater) block(dst []byte, n int, lit *[litTable]uint32, litRoot uint, dist *[distTable]uint32,
	distRoot uint) (int, error) {
	litMask, distMask := uint64(1)<<litRoot-1, uint64(1)<<distRoot-1
	src, at, hold, have := f.src, f.at, f.hold, f.have
	defer func() { f.at, f.hold, f.have = at, hold, have }()
	for {
		if have < 48 {
			if at+8 <= len(src) {
				hold |= binary.LittleEndian.Uint64(src[at:]) << (have & 63)
				at += int((63 - have) / 8)
				have |= 56
			} else {
				f.at, f.hold, f.have = at, hold, have
				f.fill()
				at, hold, have = f.at, f.hold, f.have
			}
		}
		e := lit[hold&litMask]
		if e&entryKind == entryBelow {
			hold >>= e & 63
			have -= uint(e & 63)
			e = lit[uint64(e>>valueShift)+hold&(1<<(e>>extraShift&15)-1)]
		}
		hold >>= e & 63
		have -= uint(e & 63)
		switch e & entryKind {
		case entryLiteral:
			if n == len(dst) {
				return n, errDeflate
			}
			dst[n] = byte(e >> valueShift)
			n++
			continue
		case entryLength:
		case entryEnd:
			return n, nil
		default:
			return n, errDeflate
		}
		extra := e >> extraShift & 15
		length := int(e>>valueShift) + int(hold&(1<<extra-1))
		hold >>= extra
		have -= uint(extra)
		e = dist[hold&distMask]
		if e&entryKind == entryBelow {
			hold >>= e & 63
			have -= uint(e & 63)
			e = dist[uint64(e>>valueShift)+hold&(1<<(e>>extraShift&15)-1)]
		}
		hold >>= e & 63
		have -= uint(e & 63)
		if e&entryKind != entryLength {
			return n, errDeflate
		}
		extra = e >> extraShift & 15
		back := int(e>>valueShift) + int(hold&(1<<extra-1))
		hold >>= extra
		have -= uint(extra)
		if back > n || length > len(dst)-n {
			return n, errDeflate
		}
		if back >= length {
			copy(dst[n:n+length], dst[n-back:])
			n += length
			continue
		}
		for end := n + length; n < end; {
			n += copy(dst[n:end], dst[end-length-back:n])
		}
	}
}
