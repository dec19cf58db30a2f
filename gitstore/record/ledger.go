// Changing a recorded ledger: appending to its tail, amending one line.

package record

import (
	"bytes"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LedgerEdit collects changes to one ledger and writes the touched segments into a tree edit.
type LedgerEdit struct {
	r       *Reader
	root    object.OID // recorded tree, "" when there is none
	ledger  wire.Ledger
	n       int            // segments
	last    object.OID     // recorded last segment
	changed map[int][]byte // new contents by number
	grown   int64          // growth of the ledger in bytes

	// known returns the last segment if the caller has it in memory, else nil.
	known func(oid object.OID) []byte
}

// EditLedger starts from a ledger of the tree root, or from none when root is "".
func (r *Reader) EditLedger(root object.OID, l wire.Ledger) (*LedgerEdit, error) {
	e := &LedgerEdit{r: r, root: root, ledger: l, changed: make(map[int][]byte)}
	if root == "" {
		return e, nil
	}
	var err error
	e.n, e.last, err = r.LastSlot(root, LedgerDir(l))
	return e, err
}

// tail returns the last segment.
func (e *LedgerEdit) tail() ([]byte, error) {
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
	return e.r.Blob(e.last)
}

// append adds data after the last segment.
func (e *LedgerEdit) append(data []byte) error {
	tail, err := e.tail()
	if err != nil {
		return err
	}
	first := max(e.n-1, 0)
	for i, seg := range cutSegments(tail, data) {
		if first+i >= MaxSlots {
			return fail.Errorf(fail.CodeUnreadable, nil, "%s has more segments than can be counted", e.ledger.Path())
		}
		e.changed[first+i] = seg
		e.n = first + i + 1
	}
	e.grown += int64(len(data))
	return nil
}

// segment returns segment i.
func (e *LedgerEdit) segment(i int) ([]byte, error) {
	if data, ok := e.changed[i]; ok {
		return data, nil
	}
	if i == e.n-1 {
		return e.tail()
	}
	hi, lo := Slot(i)
	data, ok, err := e.r.File(e.root, LedgerDir(e.ledger)+"/"+hi+"/"+lo)
	if err == nil && !ok {
		err = Malformed(e.root, "%s has no segment %d", e.ledger.Path(), i)
	}
	return data, err
}

// amend replaces the last line that equals old, reading from the end.
func (e *LedgerEdit) amend(old, line []byte) error {
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
	return fail.Errorf(CodeLedgerTampered, nil, "%s does not hold the line to amend", e.ledger.Path()).WithHint("%s",
		RepairHint)
}

// write puts the changed segments into t and returns the number of segments and
// the length of the last.
func (e *LedgerEdit) write(t *Edit) (n, tail int, err error) {
	for i, data := range e.changed {
		hi, lo := Slot(i)
		if err := t.Put(LedgerDir(e.ledger)+"/"+hi+"/"+lo, data); err != nil {
			return 0, 0, err
		}
	}
	last, err := e.tail()
	return e.n, len(last), err
}

// AmendWorking applies amendments to the bytes of a working ledger.
func AmendWorking(data []byte, amends []ledger.Amend) ([]byte, bool) {
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

// Ledger returns the recorded bytes of a ledger; nil when it was absent.
func (r *Reader) Ledger(root object.OID, l wire.Ledger) ([]byte, error) {
	segs, err := r.Slots(root, LedgerDir(l), false)
	if err != nil || len(segs) == 0 {
		return nil, err
	}
	out := []byte{}
	for _, oid := range segs {
		seg, err := r.Blob(oid)
		if err != nil {
			return nil, err
		}
		out = append(out, seg...)
	}
	return out, nil
}

// LedgerEnd reads the end of a ledger, at least n bytes, or all there is: the ledger of a run's first operation
// holds the rows of all earlier runs.
func (r *Reader) LedgerEnd(root object.OID, l wire.Ledger, n int) ([]byte, error) {
	segs, err := r.Slots(root, LedgerDir(l), false)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, oid := range slices.Backward(segs) {
		if len(out) >= n {
			break
		}
		seg, err := r.Blob(oid)
		if err != nil {
			return nil, err
		}
		out = append(slices.Clone(seg), out...)
	}
	return out, nil
}

// pendingLedger continues a ledger whose segments are in the edit already.
func (e *Edit) pendingLedger(l wire.Ledger, m LedgerMark) (*LedgerEdit, error) {
	le := &LedgerEdit{r: e.Reader, ledger: l, n: m.Segments, changed: make(map[int][]byte)}
	data := make(map[object.OID][]byte, len(e.Objects))
	for _, o := range e.Objects {
		data[o.OID] = o.Data
	}
	for i := range m.Segments {
		hi, lo := Slot(i)
		d, err := e.dir(LedgerDir(l)+"/"+hi, false)
		if err != nil {
			return nil, err
		}
		if d == nil || d.items[lo] == nil {
			return nil, Malformed("", "%s has no segment %d", l.Path(), i)
		}
		le.changed[i] = data[d.items[lo].entry.OID]
	}
	return le, nil
}

// LastAccepted returns the newest row of a turn that is not a reissue, with its line; nil for none.
func (e *LedgerEdit) LastAccepted(turn string) (line []byte, row *ojson.Object, err error) {
	for i := e.n - 1; i >= 0; i-- {
		data, err := e.segment(i)
		if err != nil {
			return nil, nil, err
		}
		var found []byte
		var last *ojson.Object
		for l := range bytes.Lines(data) {
			if l = bytes.TrimRight(l, "\r\n"); !bytes.Contains(l, []byte(turn)) {
				continue
			}
			o, err := run.DecodeLedgerLine(l)
			if err == nil && o.String("turn_id") == turn && o.String("status") != run.HistoryReissued {
				found, last = l, o
			}
		}
		if last != nil {
			return found, last, nil
		}
	}
	return nil, nil, nil
}

// LedgerMark is a ledger as an operation left it, and the working file's stat
// data at that moment.
type LedgerMark struct {
	Size     int64 // bytes; the file is absent when Segments is 0
	Segments int
	Tail     int // bytes of the last segment
	Stat     git.Stat
}
