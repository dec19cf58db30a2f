// What became of a ledger between two versions.

package ledgermerge

import (
	"bytes"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Record is a line of a version.
type Record struct {
	Line int    // 1-based
	Text string // its digest: two records with one are the same bytes
}

// Difference is how a later version of a ledger relates to an earlier one. A
// ledger that was only ever appended to has nothing but Added.
type Difference struct {
	Gone    []Record // of the earlier version
	Changed []Record // of the later version: the same record with other bytes
	Added   []Record // of the later version
	Moved   bool     // records of both are in another order
	Bad     *Conflict
}

// Compare relates later to earlier. Bad is the first line of the later version
// that is no record; the earlier one is taken as it is, as far as it can be
// read. The error is for sources that cannot be read.
func Compare(ledger string, earlier, later Source) (Difference, error) {
	var d Difference
	old, _, err := scan(ledger, Base, earlier)
	if err != nil {
		return d, err
	}
	now, bad, err := scan(ledger, Theirs, later)
	if err != nil {
		return d, err
	}
	d.Bad = bad
	last := -1
	for i := range old.rows {
		r := &old.rows[i]
		at, ok := now.byID[r.id]
		if !ok {
			d.Gone = append(d.Gone, Record{int(r.line), string(r.text[:])})
			continue
		}
		if at < last {
			d.Moved = true
		}
		last = max(last, at)
		if n := &now.rows[at]; n.text != r.text {
			d.Changed = append(d.Changed, Record{int(n.line), string(n.text[:])})
		}
	}
	for i := range now.rows {
		if r := &now.rows[i]; !old.has(r.id) {
			d.Added = append(d.Added, Record{int(r.line), string(r.text[:])})
		}
	}
	return d, nil
}

// Texts yields the digests of all lines of a version, whatever they hold. With
// unmarked, a history row that a checkpoint has marked is also yielded as it was
// before (docs/spec/observation.md#checkpoint-commits): both are what was recorded.
func Texts(data []byte, unmarked bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			d := digestOf(line)
			if !yield(string(d[:])) {
				return
			}
			if !unmarked || !bytes.Contains(line, []byte(`"checkpoint_sha":"`)) {
				continue
			}
			if o, err := ojson.DecodeObject(line); err == nil {
				o.Delete("checkpoint_sha")
				o.Delete("checkpointed_at")
				d = digestOf(ojson.Compact(o))
				if !yield(string(d[:])) {
					return
				}
			}
		}
	}
}
