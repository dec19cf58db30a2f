// Changes of a ledger between two versions.

package ledgermerge

import (
	"bytes"
	"iter"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Record is a line of a version.
type Record struct {
	Line int    // 1-based
	Text string // its digest: two records with the same digest are the same bytes
}

// Difference is how a later version of a ledger relates to an earlier one. A
// ledger that was only ever appended to has nothing but Added.
type Difference struct {
	Gone    []Record // records of the earlier version
	Changed []Record // records of the later version with the same identity and other bytes
	Added   []Record // records of the later version
	Moved   bool     // common records are in another order
	Bad     *Conflict
}

// Compare relates later to earlier. Bad is the first line of the later version that is not a record; the earlier
// one is accepted as far as it can be read. An error means that a source cannot be read.
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

// Texts yields the digests of all lines of a version, whatever they hold. With unmarked, a history row that a
// checkpoint has marked is also yielded in its earlier form (docs/spec/observation.md#checkpoint-commits): both
// were recorded.
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
