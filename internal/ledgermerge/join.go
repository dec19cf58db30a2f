// Merging two indexed versions: common records form the frame, and those of one side go between them by time.

package ledgermerge

import (
	"bytes"
	"strings"
)

type merge struct {
	base, ours, theirs *file
	conflicts          []Conflict
}

// pick is a record of the result and the version from which to copy it.
type pick struct {
	file *file
	row  *row
}

// maxConflicts bounds how many conflicts are reported: after these a person should look at the file.
const maxConflicts = 20

func (m *merge) conflict(c Conflict) {
	if len(m.conflicts) < maxConflicts {
		m.conflicts = append(m.conflicts, c)
	}
}

// join returns the records of the result in their order.
func (m *merge) join() []pick {
	for i := range m.base.rows {
		r := &m.base.rows[i]
		for _, f := range []*file{m.ours, m.theirs} {
			if _, ok := f.byID[r.id]; !ok {
				m.conflict(Conflict{
					Line: int(r.line),
					Side: Base,
					Why:  "the record is gone from " + string(f.side) + ", and a ledger only grows",
				})
			}
		}
	}
	out := make([]pick, 0, max(len(m.ours.rows), len(m.theirs.rows)))
	a, b := 0, 0
	for {
		// Everything up to the next record that both have.
		endA, endB := a, b
		for endA < len(m.ours.rows) && !m.theirs.has(m.ours.rows[endA].id) {
			endA++
		}
		for endB < len(m.theirs.rows) && !m.ours.has(m.theirs.rows[endB].id) {
			endB++
		}
		out = append(out, m.interleave(m.ours.rows[a:endA], m.theirs.rows[b:endB])...)
		if endA == len(m.ours.rows) || endB == len(m.theirs.rows) {
			if endA != len(m.ours.rows) || endB != len(m.theirs.rows) {
				m.disordered(endA, endB)
			}
			return out
		}
		if m.ours.rows[endA].id != m.theirs.rows[endB].id {
			m.disordered(endA, endB)
			return out
		}
		out = append(out, m.same(&m.ours.rows[endA], &m.theirs.rows[endB]))
		a, b = endA+1, endB+1
	}
}

func (f *file) has(id digest) bool { _, ok := f.byID[id]; return ok }

// disordered reports whether the sides hold the common records in another order.
func (m *merge) disordered(a, b int) {
	c := Conflict{Side: Ours, Why: "both sides hold the same records in another order"}
	if a < len(m.ours.rows) {
		c.Line = int(m.ours.rows[a].line)
	} else if b < len(m.theirs.rows) {
		c.Side, c.Line = Theirs, int(m.theirs.rows[b].line)
	}
	m.conflict(c)
}

// same chooses between two texts of one record: the protocol amends a few, such as the history row of a
// checkpointed turn, and then the amended text wins.
func (m *merge) same(a, b *row) pick {
	ours, theirs := pick{m.ours, a}, pick{m.theirs, b}
	if a.text == b.text {
		return ours
	}
	if i, ok := m.base.byID[a.id]; ok {
		switch m.base.rows[i].text {
		case a.text:
			return theirs
		case b.text:
			return ours
		}
	}
	m.conflict(Conflict{Line: int(a.line), Side: Ours, Why: "both sides changed the record, each in its own way"})
	return ours
}

// interleave merges two sequences without common records. Each keeps its order; between them a record's place is
// the latest time seen so far on its side, so that merging merges does not depend on which came first.
func (m *merge) interleave(a, b []row) []pick {
	out := make([]pick, 0, len(a)+len(b))
	var highA, highB *row
	if len(a) > 0 {
		highA = &a[0]
	}
	if len(b) > 0 {
		highB = &b[0]
	}
	for len(a) > 0 && len(b) > 0 {
		if compare(highA, highB) <= 0 {
			out = append(out, pick{m.ours, &a[0]})
			a, highA = step(a, highA)
		} else {
			out = append(out, pick{m.theirs, &b[0]})
			b, highB = step(b, highB)
		}
	}
	for i := range a {
		out = append(out, pick{m.ours, &a[i]})
	}
	for i := range b {
		out = append(out, pick{m.theirs, &b[i]})
	}
	return out
}

// step advances by one record; high is the greatest one seen.
func step(rows []row, high *row) ([]row, *row) {
	rows = rows[1:]
	if len(rows) > 0 && compare(&rows[0], high) > 0 {
		high = &rows[0]
	}
	return rows, high
}

// compare orders records by time, and at equal times by their bytes, so that the order does not depend on the side.
func compare(a, b *row) int {
	if c := strings.Compare(a.at, b.at); c != 0 {
		return c
	}
	return bytes.Compare(a.text[:], b.text[:])
}
