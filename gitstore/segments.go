// Ledgers as segments of bounded size, cut at line ends.

package gitstore

import (
	"bytes"
	"iter"
)

// segmentLimit is the size a segment is filled up to. A single longer line is a
// segment of its own, and a segment grows past it only when a line in it is
// amended.
const segmentLimit = 16 << 10

// cutSegments appends data to a ledger whose last segment is tail and returns
// the segments that replace it: the first takes tail's place. A line is never
// divided, not even one that an earlier append left without its end.
func cutSegments(tail, data []byte) [][]byte {
	var out [][]byte
	cur := tail[:len(tail):len(tail)]
	for len(data) > 0 {
		n := lineEnd(data)
		if len(cur) > 0 && len(cur)+n > segmentLimit && cur[len(cur)-1] == '\n' {
			out = append(out, cur)
			cur = nil
		}
		// Lines are taken as many as fit at once, so that a long append copies each byte once.
		for n < len(data) && (data[n-1] == '\n') && len(cur)+n < segmentLimit {
			m := lineEnd(data[n:])
			if len(cur)+n+m > segmentLimit {
				break
			}
			n += m
		}
		cur = append(cur, data[:n]...)
		data = data[n:]
	}
	return append(out, cur)
}

// guessSegment returns how many bytes of data the next segment has if the ledger
// was only ever appended to in whole lines. It is a guess to be checked by
// hashing: amended segments may be longer.
func guessSegment(data []byte) int {
	n := lineEnd(data)
	for n < len(data) {
		m := lineEnd(data[n:])
		if n+m > segmentLimit {
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

// lines iterates the lines of data with their 1-based numbers, without line feeds.
func lines(data []byte) iter.Seq2[int, []byte] {
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
