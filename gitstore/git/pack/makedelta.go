// Making deltas between objects, for our packs (gitformat-pack(5)).

package pack

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	deltaBlock   = 16      // bytes that must match to be copied
	deltaCopyMax = 0xffff  // of one instruction
	deltaMax     = 1 << 20 // maximal size of an object that is compared
	deltaMin     = 4 * 16  // minimal size of an object worth it
	deltaPrime   = 0x9e3779b97f4a7c15
)

// makeDelta describes target as copies from base and insertions.
func makeDelta(base, target []byte) []byte {
	d := deltaWriter{
		out:    binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(len(target))),
		target: target,
	}
	head := commonPrefix(base, target)
	tail := commonSuffix(base[head:], target[head:])
	if head < deltaBlock {
		head = 0
	}
	if tail < deltaBlock {
		tail = 0
	}
	d.copy(0, head)
	d.done = head
	if mid := target[head : len(target)-tail]; len(mid) > 0 {
		d.between(base, head, len(target)-tail)
	}
	d.insert(len(target) - tail)
	d.copy(len(base)-tail, tail)
	return d.out
}

// deltaWriter writes delta instructions.
type deltaWriter struct {
	out    []byte
	target []byte
	done   int // how much of target is described
}

// between describes target[from:to], which matches base at neither end.
func (d *deltaWriter) between(base []byte, from, to int) {
	shift := 64 - max(8, bits.Len(uint(len(base)/deltaBlock))+1)
	table := make([]int32, 1<<(64-shift)) // of blocks of base: their position plus one
	slot := func(b []byte) uint64 {
		return ((binary.LittleEndian.Uint64(b)*deltaPrime ^ binary.LittleEndian.Uint64(b[8:])) * deltaPrime) >> shift
	}
	for at := 0; at+deltaBlock <= len(base); at += deltaBlock {
		if s := slot(base[at:]); table[s] == 0 { // keep the first of many equal blocks
			table[s] = int32(at + 1)
		}
	}
	for at := from; at+deltaBlock <= to; {
		in := int(table[slot(d.target[at:])]) - 1
		if in < 0 || !bytes.Equal(base[in:in+deltaBlock], d.target[at:at+deltaBlock]) {
			at++
			continue
		}
		back := commonSuffix(base[:in], d.target[d.done:at])
		n := deltaBlock + commonPrefix(base[in+deltaBlock:], d.target[at+deltaBlock:to])
		d.insert(at - back)
		d.copy(in-back, back+n)
		at += n
		d.done = at
	}
}

// insert copies target literally up to that position.
func (d *deltaWriter) insert(to int) {
	for d.done < to {
		n := min(to-d.done, 0x7f)
		d.out = append(append(d.out, byte(n)), d.target[d.done:d.done+n]...)
		d.done += n
	}
}

// copy takes n bytes of base.
func (d *deltaWriter) copy(at, n int) {
	for n > 0 {
		size := min(n, deltaCopyMax)
		op := len(d.out)
		d.out = append(d.out, 0x80)
		for i := range 4 {
			if b := byte(at >> (8 * i)); b != 0 {
				d.out[op] |= 1 << i
				d.out = append(d.out, b)
			}
		}
		for i := range 2 {
			if b := byte(size >> (8 * i)); b != 0 {
				d.out[op] |= 1 << (4 + i)
				d.out = append(d.out, b)
			}
		}
		at += size
		n -= size
	}
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
