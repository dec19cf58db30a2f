// Merging two versions of a ledger.

package ledgermerge

import (
	"bufio"
	"fmt"
	"io"
)

// Source is one version of a ledger, with random access.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Conflict is a place where the two sides cannot be merged.
type Conflict struct {
	Record string // identity of the record, "" for the whole file
	Line   int    // 1-based line of the side that shows it, 0 when none
	Side   Side
	Why    string // a clause: the problem
}

func (c Conflict) Error() string {
	switch {
	case c.Line > 0:
		return fmt.Sprintf("line %d of %s: %s", c.Line, c.Side, c.Why)
	case c.Record != "":
		return fmt.Sprintf("record %s: %s", c.Record, c.Why)
	}
	return c.Why
}

// Side names a version of the ledger.
type Side string

// The three versions of a merge.
const (
	Base   Side = "base"
	Ours   Side = "ours"
	Theirs Side = "theirs"
)

// Merge merges ours and theirs, which grew from base, and writes the result. ledger is the name that determines how
// records are identified (see Identity). With conflicts it writes nothing. An error means that a source cannot be
// read or the writer failed.
func Merge(w io.Writer, ledger string, base, ours, theirs Source) ([]Conflict, error) {
	var conflicts []Conflict
	var files [3]*file
	for i, in := range []struct {
		side Side
		src  Source
	}{{Base, base}, {Ours, ours}, {Theirs, theirs}} {
		f, bad, err := scan(ledger, in.side, in.src)
		if err != nil {
			return nil, err
		}
		if bad != nil {
			conflicts = append(conflicts, *bad)
		}
		files[i] = f
	}
	if len(conflicts) > 0 {
		return conflicts, nil
	}
	m := merge{base: files[0], ours: files[1], theirs: files[2]}
	picks := m.join()
	if len(m.conflicts) > 0 {
		return m.conflicts, nil
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for _, p := range picks {
		if err := p.file.copy(out, p.row); err != nil {
			return nil, err
		}
	}
	return nil, out.Flush()
}
