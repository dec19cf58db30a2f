// Showing a conflict to a person, and formatting records for reading.

package ledgermerge

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// WriteConflict writes both sides with git's conflict markers around the differing part, from the first line that
// differs to the last. Nothing of either side is left out. size is the length of a marker, 7 when it is not
// positive.
func WriteConflict(w io.Writer, ours, theirs []byte, size int, oursLabel, theirsLabel string) error {
	if size <= 0 {
		size = 7
	}
	head := commonLines(ours, theirs)
	a, b := ours[head:], theirs[head:]
	tail := commonTail(a, b)
	out := bufio.NewWriter(w)
	part := func(text []byte) {
		_, _ = out.Write(text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			_ = out.WriteByte('\n')
		}
	}
	marker := func(c byte, label string) {
		_, _ = out.WriteString(strings.TrimRight(strings.Repeat(string(c), size)+" "+label, " ") + "\n")
	}
	_, _ = out.Write(ours[:head])
	marker('<', oursLabel)
	part(a[:len(a)-tail])
	marker('=', "")
	part(b[:len(b)-tail])
	marker('>', theirsLabel)
	_, _ = out.Write(a[len(a)-tail:])
	return out.Flush()
}

// commonLines returns the length of the complete lines that both begin with.
func commonLines(a, b []byte) int {
	n := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			n = i + 1
		}
	}
	return n
}

// commonTail returns the length of the complete lines that both end with. The byte before it is a newline, or it is
// everything.
func commonTail(a, b []byte) int {
	n, tail := 0, 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
		if startsLine(a, n) && startsLine(b, n) {
			tail = n
		}
	}
	return tail
}

func startsLine(text []byte, n int) bool { return n == len(text) || text[len(text)-1-n] == '\n' }

// Readable writes each record of a ledger as a block of lines, one member per line, so that a diff shows what
// changed inside a record. A line that is not a record is written as it is.
func Readable(w io.Writer, ledger io.Reader) error {
	in := bufio.NewReaderSize(ledger, 256<<10)
	out := bufio.NewWriter(w)
	var long []byte
	for {
		line, err := readLine(in, &long)
		switch err {
		case nil, io.ErrUnexpectedEOF: // the next line meets the end again
		case io.EOF:
			return out.Flush()
		case bufio.ErrTooLong:
			if _, err := out.WriteString("(a line of more than 32 MiB, and whatever follows it)\n"); err != nil {
				return err
			}
			return out.Flush()
		default:
			return err
		}
		if o, decodeErr := ojson.DecodeObject(line); decodeErr == nil {
			_, err = out.Write(bytes.TrimRight(ojson.Pretty(o), "\n"))
		} else {
			_, err = out.Write(line)
		}
		if err == nil {
			err = out.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
}
