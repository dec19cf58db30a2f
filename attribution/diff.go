// What one version of a file added to another, line by line.

package attribution

import (
	"slices"
	"strings"
)

// maxEdits bounds the search for the shortest difference.
const maxEdits = 1000

// splitLines returns the lines of a file without their line feeds. It also drops a carriage return before one: that
// depends only on the checkout.
func splitLines(data string) []string {
	if data == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// hunk is one place where two versions differ.
type hunk struct {
	from, gone, at, come int // lines of before from..from+gone became lines of after at..at+come
}

// difference returns the hunks between two versions, nil with ok false when they
// differ too much to align.
func difference(before, after []string) (hunks []hunk, ok bool) {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	if len(a) == 0 || len(b) == 0 {
		if len(a)+len(b) == 0 {
			return nil, true
		}
		return []hunk{{head, len(a), head, len(b)}}, true
	}
	keepA, keepB, ok := common(a, b)
	if !ok {
		return nil, false
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		h := hunk{from: head + i, at: head + j}
		for i < len(a) && !keepA[i] {
			i++
			h.gone++
		}
		for j < len(b) && !keepB[j] {
			j++
			h.come++
		}
		if h.gone+h.come > 0 {
			hunks = append(hunks, h)
		}
		for i < len(a) && j < len(b) && keepA[i] && keepB[j] {
			i++
			j++
		}
	}
	return hunks, true
}

// common marks a longest common subsequence in both (Myers' greedy algorithm).
func common(a, b []string) (inA, inB []bool, ok bool) {
	limit := min(len(a)+len(b), maxEdits)
	offset := limit + 1
	v := make([]int, 2*limit+3)
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[offset-d:offset+d+1]))
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && v[offset+k-1] < v[offset+k+1] {
				x = v[offset+k+1]
			} else {
				x = v[offset+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			v[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				inA, inB = make([]bool, len(a)), make([]bool, len(b))
				backtrack(trace, d, len(a), len(b), inA, inB)
				return inA, inB, true
			}
		}
	}
	return nil, nil, false
}

// backtrack walks the trace from the end and marks what stayed.
func backtrack(trace [][]int, d, x, y int, inA, inB []bool) {
	for ; d > 0; d-- {
		// trace[d] has the furthest x of step d-1 for diagonals -d..d.
		at := func(k int) int { return trace[d][k+d] }
		k := x - y
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		py := px - prev
		for x > px && y > py && x > 0 && y > 0 {
			x--
			y--
			inA[x], inB[y] = true, true
		}
		x, y = px, py
	}
	for x > 0 && y > 0 {
		x--
		y--
		inA[x], inB[y] = true, true
	}
}

// added marks the lines of after that a change from before added. Lines moved here from a file that the same change
// removed are not new. When the two cannot be aligned, only lines with new text count.
func added(before, after []string, moved map[string]bool) (marks []bool, hunks []hunk) {
	marks = make([]bool, len(after))
	hunks, ok := difference(before, after)
	if !ok {
		had := make(map[string]bool, len(before))
		for _, l := range before {
			had[l] = true
		}
		for i, l := range after {
			marks[i] = !had[l] && !moved[l]
		}
		return marks, nil
	}
	for _, h := range hunks {
		for i := h.at; i < h.at+h.come; i++ {
			marks[i] = !moved[after[i]]
		}
	}
	return marks, hunks
}

// patch returns the text of a change without positions and context: two changes with the same text do the same. ""
// for no change.
func patch(before, after []string, hunks []hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		b.WriteString("@\n")
		for _, l := range before[h.from : h.from+h.gone] {
			b.WriteString("-" + l + "\n")
		}
		for _, l := range after[h.at : h.at+h.come] {
			b.WriteString("+" + l + "\n")
		}
	}
	return b.String()
}

// telling counts the letters and digits of a text: a brace or an empty line does not show who wrote it.
func telling(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 {
			n++
		}
	}
	return n
}
