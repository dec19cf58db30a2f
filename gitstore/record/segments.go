// Ledgers as segments of bounded size, cut at line ends.

package record

import (
	"bytes"
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// SegmentLimit is the size up to which a segment is filled. A single longer line is a segment of its own, and a
// segment exceeds the limit only when a line in it is amended.
const SegmentLimit = 16 << 10

// cutSegments appends data to a ledger whose last segment is tail and returns the segments that replace it: the
// first takes tail's place. It never splits a line, not even one that an earlier append left incomplete.
func cutSegments(tail, data []byte) [][]byte {
	var out [][]byte
	cur := slices.Clip(tail)
	for len(data) > 0 {
		n := lineEnd(data)
		if len(cur) > 0 && len(cur)+n > SegmentLimit && cur[len(cur)-1] == '\n' {
			out = append(out, cur)
			cur = nil
		}
		// Take as many lines at once as fit, so that a long append copies each byte once.
		for n < len(data) && (data[n-1] == '\n') && len(cur)+n < SegmentLimit {
			m := lineEnd(data[n:])
			if len(cur)+n+m > SegmentLimit {
				break
			}
			n += m
		}
		cur = slices.Concat(cur, data[:n])
		data = data[n:]
	}
	return append(out, cur)
}

// guessSegment returns how many bytes of data the next segment has if the ledger was only ever appended to in whole
// lines. The guess must be checked by hashing: amended segments may be longer.
func guessSegment(data []byte) int {
	n := lineEnd(data)
	for n < len(data) {
		m := lineEnd(data[n:])
		if n+m > SegmentLimit {
			break
		}
		n += m
	}
	return n
}

// lineEnd returns the length of the first line of data with its line feed.
func lineEnd(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}

// Lines iterates the lines of data with their 1-based numbers, without line feeds.
func Lines(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for n := 1; len(data) > 0; n++ {
			end := lineEnd(data)
			if !yield(n, bytes.TrimSuffix(data[:end], []byte("\n"))) {
				return
			}
			data = data[end:]
		}
	}
}

// findLine returns the offset of the last line of data that equals line, or -1.
func findLine(data, line []byte) int {
	for end := len(data); end > 0; {
		i := bytes.LastIndex(data[:end], line)
		if i < 0 {
			return -1
		}
		after := i + len(line)
		if (i == 0 || data[i-1] == '\n') && (after == len(data) || data[after] == '\n') {
			return i
		}
		if len(line) == 0 {
			return -1
		}
		end = after - 1
	}
	return -1
}

// replaceLine returns data with the line old at offset i replaced.
func replaceLine(data []byte, i int, old, line []byte) []byte {
	out := make([]byte, 0, len(data)-len(old)+len(line))
	out = append(out, data[:i]...)
	out = append(out, line...)
	return append(out, data[i+len(old):]...)
}

// RowsOf iterates the rows of a ledger's bytes, skipping what is not a JSON object.
func RowsOf(data []byte) iter.Seq[run.Line] {
	return func(yield func(run.Line) bool) {
		for _, line := range Lines(data) {
			row, err := ojson.DecodeObject(line)
			if err != nil {
				continue
			}
			if !yield(run.Line{Raw: line, Row: row}) {
				return
			}
		}
	}
}
