// Changing a recorded ledger: appending to its tail, amending one line.

package gitstore

import (
	"bytes"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ledgerEdit collects changes of one ledger and writes the touched segments
// into a tree edit.
type ledgerEdit struct {
	r       *treeReader
	root    git.OID // recorded tree, "" when there is none
	ledger  wire.Ledger
	n       int            // segments
	last    git.OID        // recorded last segment
	changed map[int][]byte // new contents by number
	grown   int64          // change of the ledger's size

	// known returns the last segment if the caller has it at hand, else nil.
	known func(oid git.OID) []byte
}

func (r *treeReader) ledger(root git.OID, l wire.Ledger) (*ledgerEdit, error) {
	e := &ledgerEdit{r: r, root: root, ledger: l, changed: make(map[int][]byte)}
	if root == "" {
		return e, nil
	}
	var err error
	e.n, e.last, err = r.lastSlot(root, ledgerTreePath(l))
	return e, err
}

// tail returns the last segment.
func (e *ledgerEdit) tail() ([]byte, error) {
	if e.n == 0 {
		return nil, nil
	}
	if data, ok := e.changed[e.n-1]; ok {
		return data, nil
	}
	if e.known != nil {
		if data := e.known(e.last); data != nil {
			return data, nil
		}
	}
	return e.r.blob(e.last)
}

// append adds data after the last segment.
func (e *ledgerEdit) append(data []byte) error {
	tail, err := e.tail()
	if err != nil {
		return err
	}
	first := max(e.n-1, 0)
	for i, seg := range cutSegments(tail, data) {
		if first+i >= maxSlots {
			return git.Errorf(git.CodeUnreadable, nil, "%s has more segments than can be counted", e.ledger.Path())
		}
		e.changed[first+i] = seg
		e.n = first + i + 1
	}
	e.grown += int64(len(data))
	return nil
}

// segment returns segment i.
func (e *ledgerEdit) segment(i int) ([]byte, error) {
	if data, ok := e.changed[i]; ok {
		return data, nil
	}
	if i == e.n-1 {
		return e.tail()
	}
	hi, lo := slot(i)
	data, ok, err := e.r.file(e.root, ledgerTreePath(e.ledger)+"/"+hi+"/"+lo)
	if err == nil && !ok {
		err = malformed(e.root, "%s has no segment %d", e.ledger.Path(), i)
	}
	return data, err
}

// amend replaces the last line that equals old, reading from the end.
func (e *ledgerEdit) amend(old, line []byte) error {
	for i := e.n - 1; i >= 0; i-- {
		data, err := e.segment(i)
		if err != nil {
			return err
		}
		if at := findLine(data, old); at >= 0 {
			e.changed[i] = replaceLine(data, at, old, line)
			e.grown += int64(len(line) - len(old))
			return nil
		}
	}
	return git.Errorf(CodeLedgerTampered, nil, "%s does not hold the line to amend", e.ledger.Path()).WithHint("%s", repairHint)
}

// write puts the changed segments into t and returns the number of segments and
// the length of the last.
func (e *ledgerEdit) write(t *treeEdit) (n, tail int, err error) {
	for i, data := range e.changed {
		hi, lo := slot(i)
		if err := t.put(ledgerTreePath(e.ledger)+"/"+hi+"/"+lo, data); err != nil {
			return 0, 0, err
		}
	}
	last, err := e.tail()
	return e.n, len(last), err
}

// amendWorking applies amendments to the bytes of a working ledger.
func amendWorking(data []byte, amends []ledger.Amend) ([]byte, bool) {
	data = bytes.Clone(data)
	for _, a := range amends {
		at := findLine(data, a.Old)
		if at < 0 {
			return nil, false
		}
		data = replaceLine(data, at, a.Old, a.New)
	}
	return data, true
}

// readLedger returns the recorded bytes of a ledger; nil when it was absent.
func (r *treeReader) readLedger(root git.OID, l wire.Ledger) ([]byte, error) {
	segs, err := r.slots(root, ledgerTreePath(l), false)
	if err != nil || len(segs) == 0 {
		return nil, err
	}
	out := []byte{}
	for _, oid := range segs {
		seg, err := r.blob(oid)
		if err != nil {
			return nil, err
		}
		out = append(out, seg...)
	}
	return out, nil
}

// ledgerEnd reads the end of a ledger, n bytes or more, or all there is: the ledger of a run's first
// operation holds the rows of every run before it.
func (r *treeReader) ledgerEnd(root git.OID, l wire.Ledger, n int) ([]byte, error) {
	segs, err := r.slots(root, ledgerTreePath(l), false)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, oid := range slices.Backward(segs) {
		if len(out) >= n {
			break
		}
		seg, err := r.blob(oid)
		if err != nil {
			return nil, err
		}
		out = append(slices.Clone(seg), out...)
	}
	return out, nil
}

// pendingLedger continues a ledger whose segments are in the edit already.
func (e *treeEdit) pendingLedger(l wire.Ledger, m ledgerMark) (*ledgerEdit, error) {
	le := &ledgerEdit{r: e.r, ledger: l, n: m.Segments, changed: make(map[int][]byte)}
	data := make(map[git.OID][]byte, len(e.objects))
	for _, o := range e.objects {
		data[o.OID] = o.Data
	}
	for i := range m.Segments {
		hi, lo := slot(i)
		d, err := e.dir(ledgerTreePath(l)+"/"+hi, false)
		if err != nil {
			return nil, err
		}
		if d == nil || d.items[lo] == nil {
			return nil, malformed("", "%s has no segment %d", l.Path(), i)
		}
		le.changed[i] = data[d.items[lo].entry.OID]
	}
	return le, nil
}
